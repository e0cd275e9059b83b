#include "boltzmark/estimate/held/case_likelihood.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

Layered hidden_layers_given(const Layered& model,
                            const Eigen::Ref<const Eigen::VectorXd>& visible) {
  if (model.is_rbm())
    throw InvalidArgument(
        "model (must have two hidden layers or more: an RBM's log f(v) is exact)");
  if (model.layer(0).unit.has_scale() || model.layer(1).unit.has_scale())
    throw InvalidArgument("model (must have no Gaussian layer of the lowest two)");
  if (visible.size() != model.size(0))
    throw InvalidArgument(
        fmt::format("visible = {} units (must be {})", visible.size(), model.size(0)));
  require_within(model.layer(0).unit, visible.cast<float>());
  std::vector<Layer> layers;
  for (int l = 1; l < model.layers(); ++l) layers.push_back(model.layer(l));
  layers.front().bias += model.weights(0).transpose() * visible;
  return Layered(std::move(layers), {model.weights().begin() + 1, model.weights().end()});
}

Estimate estimate_log_f(std::string_view method, const Layered& model,
                        const Eigen::Ref<const Eigen::VectorXd>& visible,
                        const MethodSettings& settings, int together) {
  const Layered hidden = hidden_layers_given(model, visible);
  const LayeredTarget target(hidden, Base::uniform(hidden));
  const ModeSearch search = mode_search(hidden, settings.key.low);
  const FoundStates found =
      find_before(target, search, settings.key.low, {.base = Base::uniform(hidden)},
                  find_method(method), settings);
  MethodRuns runs(target, settings);
  Estimate estimate = runs.estimate(method);
  hold_to_found(target, search, visited_states(runs.top_states()), found, estimate, {}, together);
  const double visible_term = model.bias(0).dot(visible);
  for (double* value : {&estimate.log_z, &estimate.lower, &estimate.upper}) *value += visible_term;
  if (visible_term != 0)  // warnings were written before
    for (std::string& warning : estimate.warnings)
      warning = fmt::format("of log f(v) less a'v = {:.4f}: {}", visible_term, warning);
  estimate.log_z_rungs.resize(0);  // of a law of the hidden layers alone
  return estimate;
}

}  // namespace boltzmark
