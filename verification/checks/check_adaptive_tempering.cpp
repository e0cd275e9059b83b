// Checks of adaptive simulated tempering and its coupling: what they leave unchanged while the
// weights stand still, what the readings that do not hand over instead, and where a constant factor
// settles.                                                    [salakhutdinov2010, Alg. 1, Sec. 6.1, 8]

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/constant_factor.hpp"
#include "verification/checks/laws/coupling_laws.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

// A model of RBMs and DBMs, a ladder from LOW and weights.
struct AdaptiveCase {
  Layered model;
  std::vector<float> ladder;
  Eigen::VectorXd log_g;
  std::string detail;
};

AdaptiveCase draw_adaptive_case(Stream& stream, Layered model, int max_rungs, double error) {
  const int rungs = 2 + draw_below(stream, max_rungs - 1);
  const double lowest = stream.below(2) == 0 ? 0 : 0.9 * stream.uniform();
  std::vector<float> ladder = uniform_ladder(rungs, lowest);
  Eigen::VectorXd log_g = rung_log_z(model, ladder);
  for (double& value : log_g) value += error * stream.uniform(-1, 1);
  std::string detail = fmt::format("{}, {} rungs from {:.3g}", describe_case(model), rungs, lowest);
  return {std::move(model), std::move(ladder), std::move(log_g), std::move(detail)};
}

// At most 64 states, half of the models multivalued.
Layered draw_enumerable(Stream& stream) {
  return stream.below(2) == 0 ? draw_check_model(stream, 3) : draw_small_unit_model(stream, 3, 64);
}

// What the two kernels can be held to: no weights of +-100, between whose modes chains never move.
Layered draw_mixing(Stream& stream) { return draw_generic_model(stream, 2, 2); }

// The law of pairs after an iteration, less pi: max |pi P - pi|.
double pair_change(const AdaptivePairs& pairs) {
  Eigen::MatrixXd next = Eigen::MatrixXd::Zero(pairs.states(), pairs.rungs());
  for (int k = 0; k < pairs.rungs(); ++k) {
    const Eigen::VectorXd moved = pairs.sweeps[k].transpose() * pairs.stationary.col(k);
    next += moved.asDiagonal() * pairs.steps[k];
  }
  return largest_of(next - pairs.stationary);
}

CaseOutcome pair_case(Stream& stream) {
  const double error = stream.below(2) == 0 ? 50 : 5;
  const AdaptiveCase c = draw_adaptive_case(stream, draw_enumerable(stream), 5, error);
  return {pair_change(exact_pairs(c.model, c.ladder, c.log_g)), c.detail};
}

CaseOutcome production_pair_case(Stream& stream) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_enumerable(stream), 4, 5);
  return {pair_change(recovered_pairs(c.model, c.ladder, c.log_g)), c.detail};
}

// The pairs' own fixed point, by iteration from where it is not.
CaseOutcome kept_case(Stream& stream) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_mixing(stream), 4, 2);
  const AdaptivePairs pairs = exact_pairs(c.model, c.ladder, c.log_g);
  JointLaw law(static_cast<std::size_t>(pairs.rungs()), Eigen::MatrixXd::Zero(1, pairs.states()));
  law[0](0, 0) = 1;
  for (int i = 0; i < 20000; ++i) {
    JointLaw next(law.size(), Eigen::MatrixXd::Zero(1, pairs.states()));
    for (int from = 0; from < pairs.rungs(); ++from) {
      const Eigen::MatrixXd moved = law[from] * pairs.sweeps[from];
      for (int to = 0; to < pairs.rungs(); ++to)
        next[to] += moved * pairs.steps[from].col(to).asDiagonal();
    }
    // Two rungs that always swap places would make the chain periodic.
    for (std::size_t k = 0; k < law.size(); ++k) next[k] = (next[k] + law[k]) / 2;
    const double change = largest_difference(next, law);
    law = std::move(next);
    if (change < 1e-17) break;
  }
  const Eigen::VectorXd kept = law.back().transpose() / law.back().sum();
  return {largest_of(kept - pairs.p), c.detail};
}

CaseOutcome joint_case(Stream& stream, SwapRule rule, SwapRule rule_at_lag) {
  const double error = stream.below(2) == 0 ? 50 : 5;
  const AdaptiveCase c = draw_adaptive_case(stream, draw_enumerable(stream), 5, error);
  const AdaptivePairs pairs = exact_pairs(c.model, c.ladder, c.log_g);
  const JointLaw law = product_law(pairs);
  double worst = 0;
  for (const bool at_lag : {false, true})
    worst = worse(
        worst, largest_difference(advance(pairs, law, at_lag ? rule_at_lag : rule, at_lag), law));
  return {worst, c.detail};
}

// Every joint state is a pair of chains: models of up to 16 states, 32 of the deepest.
CaseOutcome production_joint_case(Stream& stream, SwapRule rule, SwapRule rule_at_lag) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_check_model(stream, 2), 3, 5);
  const JointLaw law = product_law(exact_pairs(c.model, c.ladder, c.log_g));
  const bool at_lag = stream.below(2) == 0;
  return {largest_difference(recovered_advance(c.model, c.ladder, c.log_g, law,
                                               at_lag ? rule_at_lag : rule, at_lag),
                             law),
          c.detail};
}

// The production exchange of `entry` hands over what the double law says.
CaseOutcome production_entry_case(Stream& stream) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_check_model(stream, 2), 3, 5);
  const AdaptivePairs pairs = exact_pairs(c.model, c.ladder, c.log_g);
  const JointLaw law = product_law(pairs);
  return {
      largest_difference(recovered_advance(c.model, c.ladder, c.log_g, law, SwapRule::entry, false),
                         advance(pairs, law, SwapRule::entry, false)),
      c.detail};
}

CaseOutcome arrival_case(Stream& stream) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_enumerable(stream), 5, 3);
  const AdaptivePairs pairs = exact_pairs(c.model, c.ladder, c.log_g);
  const Eigen::VectorXd arrivals = arrival_law(pairs);
  return {largest_of(arrivals - predicted_arrival_law(pairs)),
          fmt::format("{}, {:.3f} in total variation from p", c.detail,
                      total_variation(arrivals, pairs.p))};
}

CaseOutcome last_top_case(Stream& stream) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_mixing(stream), 5, 2);
  const AdaptivePairs pairs = exact_pairs(c.model, c.ladder, c.log_g);
  const Eigen::VectorXd last = last_top_law(pairs);
  return {largest_of(last - predicted_last_top_law(pairs)),
          fmt::format("{}, {:.3f} in total variation from p", c.detail,
                      total_variation(last, pairs.p))};
}

// With long lags the law of the last state at b = 1 no longer depends on where it started.
CaseOutcome last_kernel_case(Stream& stream) {
  const AdaptiveCase c = draw_adaptive_case(stream, draw_mixing(stream), 3, 1);
  const AdaptivePairs pairs = exact_pairs(c.model, c.ladder, c.log_g);
  const Eigen::MatrixXd kernel = last_top_kernel(pairs, 1);
  // One sweep: y where the step leaves b = 1, else the state that was reached.
  const Eigen::VectorXd stay = pairs.steps[pairs.top()].col(pairs.top());
  Eigen::MatrixXd expected = pairs.sweeps[pairs.top()] * stay.asDiagonal();
  const Eigen::VectorXd moved = expected.rowwise().sum();
  expected.diagonal().array() += 1 - moved.array();
  return {largest_of(kernel - expected), c.detail};
}

// Ladders {1, 0.5}: their distances at the factors 0.1 and 0.03 tell whether it falls in proportion.
CaseOutcome constant_factor_case(Stream& stream) {
  const Layered model = draw_mixing(stream);
  const ConstantFactorLaw coarse = constant_factor_law(model, 0.5F, 0.1);
  const ConstantFactorLaw fine = constant_factor_law(model, 0.5F, 0.03);
  const double edges = std::max(coarse.edge_mass, fine.edge_mass);
  const double ratio = fine.distance / coarse.distance;
  return {edges < 1e-12 ? std::abs(ratio - 0.35) : std::numeric_limits<double>::infinity(),
          fmt::format("{}, TV {:.4f} at 0.1, {:.4f} at 0.03, edge mass {:.1g}",
                      describe_case(model), coarse.distance, fine.distance, edges)};
}

Check joint_check(SwapRule rule, SwapRule rule_at_lag) {
  return bounded_check(
      "joint-invariance", fmt::format("cast {}", name(rule)),
      "at any fixed weights sweeps, rung step and exchange leave p(x_slow) pi(x_fast, k) "
      "unchanged: largest difference",
      1e-12, [rule, rule_at_lag](Stream& s) { return joint_case(s, rule, rule_at_lag); });
}

Check production_joint_check(SwapRule rule, SwapRule rule_at_lag) {
  return bounded_check(
      "production-joint-invariance", fmt::format("cast {}", name(rule)),
      "so do the production code's, recovered by scripted draws: largest difference", 1e-6,
      [rule, rule_at_lag](Stream& s) { return production_joint_case(s, rule, rule_at_lag); });
}

}  // namespace

std::vector<Check> swap_checks(SwapRule rule, SwapRule rule_at_lag) {
  return {joint_check(rule, rule_at_lag), production_joint_check(rule, rule_at_lag)};
}

std::vector<Check> adaptive_tempering_checks() {
  return {
      bounded_check(
          "pair-invariance", "adaptive-tempering",
          "at any fixed weights, however wrong, Algorithm 1 leaves w_k e^(-b_k E) unchanged: max "
          "|pi P - pi|",
          1e-12, pair_case),
      bounded_check(
          "production-pair-invariance", "adaptive-tempering",
          "so do the production sweep and rung step, recovered by scripted draws: max |pi P - pi|",
          1e-6, production_pair_case),
      bounded_check(
          "kept-states", "adaptive-tempering",
          "states kept at b = 1 follow p in the law that its chain converges to: max |P(x) - p(x)|",
          1e-12, kept_case),
      joint_check(SwapRule::each, SwapRule::each),
      production_joint_check(SwapRule::each, SwapRule::each),
      joint_check(SwapRule::lag, SwapRule::lag),
      production_joint_check(SwapRule::lag, SwapRule::lag),
      bounded_check(
          "handed-over-law", "cast entry",
          "on arrival at b = 1 the law is p(x) a(x) / sum, a(x) the probability of leaving b = 1 "
          "from x: largest difference from the kernel's own",
          1e-12, arrival_case),
      bounded_check(
          "production-exchange", "cast entry",
          "the production exchange on arrival, recovered by scripted draws, is that of the double "
          "law: largest difference",
          1e-6, production_entry_case),
      bounded_check(
          "handed-over-law", "cast last",
          "the law of the last state at b = 1 is pi(x, 1) E_x[return time to b = 1]: largest "
          "difference from the kernel's own",
          1e-12, last_top_case),
      bounded_check(
          "handed-over-kernel", "cast last",
          "after one sweep the last state at b = 1 is where the chain started if it left, else "
          "where it is: largest difference",
          1e-12, last_kernel_case),
      bounded_check(
          "constant-factor", "adaptive-tempering",
          "with a constant factor states at b = 1 are not of p, and TV falls in proportion to "
          "gamma: TV(.03)/TV(.1) in 0.25..0.45, less its middle",
          0.1, constant_factor_case),
  };
}

}  // namespace boltzmark
