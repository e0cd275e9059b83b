#include "boltzmark/target/layered_target.hpp"

#include <fmt/format.h>

#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

LayeredPopulation::LayeredPopulation(std::shared_ptr<const TemperedModel> model, int first_chain,
                                     int chains, StreamKey key, Rule rule)
    : chains_(std::move(model), first_chain, chains), draws_(key), rule_(std::move(rule)) {}

// At b = 0 a Gibbs sweep draws every unit from p1, whatever the others are.
void LayeredPopulation::draw_base() {
  const std::vector<float> zeros(static_cast<std::size_t>(chains()), 0.0F);
  chains_.sweep(zeros, draws_, sweeps_++);
}

void LayeredPopulation::move(std::span<const float> inverse_temperatures) {
  chains_.sweep(inverse_temperatures, draws_, sweeps_++, rule_);
}

void LayeredPopulation::log_increment(float from, float to, std::span<double> out) {
  chains_.log_increment(static_cast<double>(from), static_cast<double>(to), out);
}

void LayeredPopulation::observe(const Eigen::Ref<const Eigen::MatrixXf>& states) {
  if (chains_.model().summed == 0)
    throw InvalidArgument(
        "summed side = even layers (must be the odd ones: the visible units are observed)");
  if (chains_.states().layers() > 2)
    throw InvalidArgument(fmt::format(
        "model = {} layers (must be an RBM for cases to be observed: the other even layers of a deep "
        "model cannot be drawn given its visible units)",
        chains_.states().layers()));
  require_states(chains_.states().unit(0), states);
  chains_.set_layer(0, states);
}

void LayeredPopulation::copy_chain(int chain, const Population& from, int source) {
  chains_.copy_chain(chain, dynamic_cast<const LayeredPopulation&>(from).chains_, source);
}

LayeredTarget::LayeredTarget(Layered model, Base base, const Packing& packing, int summed_side)
    : LayeredTarget(std::make_shared<const TemperedModel>(std::move(model), std::move(base),
                                                          packing, summed_side)) {}

LayeredTarget::LayeredTarget(std::shared_ptr<const TemperedModel> model, Rule rule)
    : model_(require_model(model)), rule_(std::move(rule)) {
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
