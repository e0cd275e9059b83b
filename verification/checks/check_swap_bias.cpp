// Checks of what is not so: two readings of CAST's swap and a constant factor keep states that do
// not follow p. And what a rejected rung step does to the next.
//                                                       [salakhutdinov2010, Sec. 5, 6.1 and 8]

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/constant_factor.hpp"
#include "verification/checks/laws/coupling_laws.hpp"
#include "verification/checks/subjects.hpp"

namespace boltzmark {
namespace {

constexpr double kNoDistance = 1e-3;  // in total variation; rounding makes 1e-13

// Moderate weights, and g off log Z by up to 2 nats a rung.
AdaptivePairs draw_pairs(Stream& stream, std::string& detail) {
  const Layered model = draw_generic_model(stream, 2, 2);
  const int rungs = 2 + draw_below(stream, 4);
  const double lowest = 0.9 * stream.uniform();
  const std::vector<float> ladder = uniform_ladder(rungs, lowest);
  Eigen::VectorXd log_g = rung_log_z(model, ladder);
  for (double& value : log_g) value += stream.uniform(-2, 2);
  detail = fmt::format("{}, {} rungs from {:.3g}", describe_case(model), rungs, lowest);
  return exact_pairs(model, ladder, log_g);
}

CaseOutcome handed_over_distance(Stream& stream, const PairLaw& law) {
  std::string detail;
  const AdaptivePairs pairs = draw_pairs(stream, detail);
  return {total_variation(law(pairs), pairs.p), detail};
}

CaseOutcome constant_factor_distance(Stream& stream) {
  const Layered model = draw_generic_model(stream, 2, 2);
  return {constant_factor_law(model, 0.5F, 10).distance,
          fmt::format("{}, rungs at 0.5 and 1, factor 10", describe_case(model))};
}

// At any weights and energy: the acceptance of the same step after g has grown where it was refused.
CaseOutcome growth_of_acceptance(Stream& stream) {
  const std::array<float, 3> ladder = {0.25F, 0.5F, 1};
  std::array<double, 3> log_g{};
  for (double& value : log_g) value = stream.uniform(-3, 3);
  const int from = draw_below(stream, 3);
  const int to = proposed_rung(3, from, stream());
  const double gamma = std::exp(stream.uniform(-5, 3));
  // So that both probabilities are below 1.
  const double room = stream.uniform(1, 30) + std::log1p(gamma);
  const double at_zero = std::log(proposal_probability(3, to, from)) -
                         std::log(proposal_probability(3, from, to)) + log_g[from] - log_g[to];
  const double log_f = (-room - at_zero) / (ladder[to] - ladder[from]);
  const double before = rung_step_probability(ladder, log_g, log_f, from, to);
  raise_weight(log_g, from, std::log1p(gamma));
  const double after = rung_step_probability(ladder, log_g, log_f, from, to);
  return {std::abs(after / before / (1 + gamma) - 1),
          fmt::format("rung {} to {}, gamma {:.3g}, from {:.3g}", from, to, gamma, before)};
}

}  // namespace

std::vector<Check> handed_over_checks(const PairLaw& arrival, const PairLaw& last_top) {
  return {
      exceeding_check(
          "handed-over-distance", "cast entry",
          "states exchanged on arrival at b = 1 do not follow p: TV, above the bound on some model",
          kNoDistance, [arrival](Stream& s) { return handed_over_distance(s, arrival); }),
      exceeding_check("handed-over-distance", "cast last",
                      "nor do the last states at b = 1 at a lag: TV, above the bound on some model",
                      kNoDistance,
                      [last_top](Stream& s) { return handed_over_distance(s, last_top); })};
}

std::vector<Check> swap_bias_checks() {
  std::vector<Check> checks = handed_over_checks(arrival_law, last_top_law);
  const std::vector<Check> others = {
      exceeding_check(
          "constant-factor-distance", "adaptive-tempering",
          "nor do states at b = 1 with a constant factor of 10: TV, above the bound on some model",
          0.01, constant_factor_distance),
      bounded_check(
          "growing-acceptance", "adaptive-tempering",
          "after a refused rung step the weight of the present rung grows, and the step is 1 + "
          "gamma times as likely: relative difference",
          1e-12, growth_of_acceptance),
  };
  checks.insert(checks.end(), others.begin(), others.end());
  return checks;
}

}  // namespace boltzmark
