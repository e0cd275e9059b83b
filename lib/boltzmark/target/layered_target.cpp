#include "boltzmark/target/layered_target.hpp"

#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/target/layered_population.hpp"

namespace boltzmark {

int larger_side(const Layered& model) {
  int units[2] = {0, 0};
  for (int l = 0; l < model.layers(); ++l) units[l % 2] += model.size(l);
  return units[1] >= units[0] ? 1 : 0;
}

LayeredTarget::LayeredTarget(Layered model, Base base, const Packing& packing, int summed_side)
    : LayeredTarget(std::make_shared<const TemperedModel>(std::move(model), std::move(base),
                                                          packing, summed_side)) {}

LayeredTarget::LayeredTarget(std::shared_ptr<const TemperedModel> model, Rule rule)
    : model_(std::move(model)), rule_(std::move(rule)) {
  if (model_ == nullptr) throw InvalidArgument("model = null (must be a tempered model)");
  for (int l = 0; l < model_->model.layers(); ++l) require_law(rule_, model_->model.layer(l).unit);
}

LayeredTarget::LayeredTarget(Layered model, Base base, Rule rule)
    : LayeredTarget(
          std::make_shared<const TemperedModel>(std::move(model), std::move(base), kPacking),
          std::move(rule)) {}

std::string LayeredTarget::joint_rule() const {
  return rule_ == Rule::gibbs() ? std::string() : rule_.name();
}

std::unique_ptr<Population> LayeredTarget::populate(int first_chain, int chains,
                                                    StreamKey key) const {
  return this->chains(first_chain, chains, key);
}

std::unique_ptr<LayeredPopulation> LayeredTarget::chains(int first_chain, int chains,
                                                         StreamKey key) const {
  return std::make_unique<LayeredPopulation>(model_, first_chain, chains, key, rule_);
}

}  // namespace boltzmark
