#include "experiments/bruegge2013/support/classes.hpp"

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark::experiments {

std::vector<ClassChanges> follow_classes(const Layered& model, const Rule& rule,
                                         const Eigen::MatrixXf& start, int steps,
                                         bool until_all_changed, const TrialContext& context) {
  const PackedModel packed(model, {.chains = static_cast<int>(start.cols()),
                                   .sweeps = static_cast<std::uint64_t>(steps)});
  const PhiloxDraws draws(context.key);
  const Eigen::MatrixXf modes = artificial_modes(model.size(0));
  Chains chains(model, static_cast<int>(start.cols()));
  chains.set_layer(0, start);
  half_sweep(packed, chains, draws, {.rule = Rule::gibbs()}, 1);
  ClassTracker tracker(static_cast<std::size_t>(start.cols()));
  tracker.observe(nearest_modes(start, modes));
  for (int step = 1; step <= steps; ++step) {
    sweep(packed, chains, draws, {.rule = rule, .first_sweep = static_cast<std::uint64_t>(step)});
    tracker.observe(nearest_modes(chains.get_layer(0), modes));
    if (until_all_changed && tracker.all_changed()) break;
    if (step % 256 == 0) context.progress(static_cast<double>(step) / steps);
  }
  return tracker.changes();
}

std::vector<double> subtract(const std::vector<double>& first, const std::vector<double>& second) {
  if (first.size() != second.size()) throw InvalidArgument("pairs (must have two values each)");
  std::vector<double> differences;
  for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(first[i] - second[i]);
  return differences;
}

std::string operator_title(const std::string& rule) { return rule == "gibbs" ? "G" : "T"; }

}  // namespace boltzmark::experiments
