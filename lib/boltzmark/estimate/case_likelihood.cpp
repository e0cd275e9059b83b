#include "boltzmark/estimate/case_likelihood.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

Layered hidden_layers_given(const Layered& model,
                            const Eigen::Ref<const Eigen::VectorXd>& visible) {
  if (model.is_rbm())
    throw InvalidArgument(
        "model (must have two hidden layers or more: an RBM's log f(v) is exact)");
  if (model.layer(0).unit.has_scale())
    throw InvalidArgument("model (must have no Gaussian visible layer)");
  if (visible.size() != model.size(0))
    throw InvalidArgument(
        fmt::format("visible = {} units (must be {})", visible.size(), model.size(0)));
  std::vector<Layer> layers;
  for (int l = 1; l < model.layers(); ++l) layers.push_back(model.layer(l));
  layers.front().bias += model.weights(0).transpose() * visible;
  return Layered(std::move(layers), {model.weights().begin() + 1, model.weights().end()});
}

Estimate estimate_log_f(std::string_view method, const Layered& model,
                        const Eigen::Ref<const Eigen::VectorXd>& visible,
                        const MethodSettings& settings) {
  const Layered hidden = hidden_layers_given(model, visible);
  const LayeredTarget target(hidden, Base::uniform(hidden));
  Estimate estimate = estimate_log_z(method, target, settings);
  constexpr int kFewStates = 1 << 10;  // for each case
  hold_to_bound(lower_bound(hidden, Base::uniform(hidden),
                            {.search = mode_search(hidden, settings.key.low),
                             .gibbs_sweeps = 5,
                             .most_states = kFewStates}),
                estimate);
  add_missing_tours(estimate);
  const double visible_term = model.bias(0).dot(visible);
  for (double* value : {&estimate.log_z, &estimate.lower, &estimate.upper}) *value += visible_term;
  estimate.log_z_rungs.resize(0);  // of a law of the hidden layers alone
  return estimate;
}

}  // namespace boltzmark
