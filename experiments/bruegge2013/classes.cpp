#include "experiments/bruegge2013/classes.hpp"

#include <algorithm>

#include "boltzmark/diagnose/power.hpp"
#include "boltzmark/diagnose/wilcoxon.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark::experiments {

std::vector<ClassChanges> follow_classes(const Layered& model, const Rule& rule,
                                         const Eigen::MatrixXf& start, int steps,
                                         bool until_all_changed, const TrialContext& context) {
  const PackedModel packed(model);
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

void add_paired(const std::string& claim, const std::string& part, const std::vector<double>& first,
                const std::vector<double>& second, Alternative direction, const std::string& note,
                Summary& summary) {
  const std::size_t n = std::min(first.size(), second.size());
  if (n < 2) return;
  std::vector<double> differences;
  for (std::size_t i = 0; i < n; ++i) differences.push_back(first[i] - second[i]);
  const SignedRank test = signed_rank_test(differences);
  summary.add(Measure{.claim = claim,
                      .part = part,
                      .estimate = test.shift.estimate,
                      .lower = test.shift.lower,
                      .upper = test.shift.upper,
                      .p_value = test.p(direction),
                      .n = static_cast<std::int64_t>(n),
                      .power = mean_difference_power(n, 1, 0.05, Alternative::greater),
                      .power_against = "a shift of one standard deviation over RBMs",
                      .note = note,
                      .likely_reason =
                          "the length and rate of the paper's training are not stated, and "
                          "with them how far apart the RBMs keep the modes"});
}

std::string operator_title(const std::string& rule) { return rule == "gibbs" ? "G" : "T"; }

}  // namespace boltzmark::experiments
