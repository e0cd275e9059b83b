// Checks of single-unit operators and sweeps: detailed balance, invariance, the counter-example,
// and what bruegge2013 says of the operator against Gibbs and Breuleux.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "boltzmark/exact/spectrum/connectivity.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

CaseOutcome detailed_balance(Stream& stream, const Rule& rule, DrawModel draw) {
  const Layered model = draw(stream);
  const StateSpace space(model);
  const Eigen::VectorXd p = space.p();
  double worst = 0;
  for (int unit = 0; unit < space.units(); ++unit) {
    const int n = space.values(unit);
    Eigen::MatrixXd flow(n, n);
    std::vector<double> next(static_cast<std::size_t>(n));
    for (std::size_t x = 0; x < space.states(); ++x) {
      if (space.value_index(unit, x) != 0) continue;
      for (int k = 0; k < n; ++k) {
        next_law(rule, space.place(unit).kind, space.input(unit, x), k, next);
        const double mass = p[static_cast<Eigen::Index>(space.moved(unit, x, k))];
        for (int m = 0; m < n; ++m) flow(k, m) = mass * next[m];
      }
      worst = worse(worst, largest_of(flow - flow.transpose()));
    }
  }
  return {worst, describe_case(model)};
}

CaseOutcome invariance(Stream& stream, const Rule& rule, DrawModel draw) {
  const Layered model = draw(stream);
  const StateSpace space(model);
  const SweepOperator kernel(space, rule);
  const Eigen::VectorXd p = space.p();
  double worst = 0;
  for (int half = 0; half < 3; ++half) {
    StateBlock pushed = p;
    half < 2 ? kernel.push_half(pushed, half) : kernel.push(pushed);
    worst = worse(worst, largest_of(pushed.col(0) - p));
  }
  return {worst, describe_case(model)};
}

// 1 if the counter-example were ergodic although every unit is tied; 0 as it should be.
CaseOutcome counter_example(Stream& stream, const Rule& rule) {
  const auto side = [&stream] { return 1 + static_cast<Eigen::Index>(stream.below(4)); };
  const Eigen::Index visible = side(), hidden = side();
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(visible, hidden),
                                     Eigen::VectorXd::Zero(visible), Eigen::VectorXd::Zero(hidden));
  const Connectivity found = connectivity(StateSpace(model), rule);
  return {found.aperiodic ? 1.0 : 0.0,
          fmt::format("{}x{}, zero weights and biases: {} components, the first of period {}",
                      visible, hidden, found.components, found.period)};
}

CaseOutcome gibbs_independent(Stream& stream) {
  const Layered model = draw_independent_model(stream);
  return {spectrum(model, Rule::gibbs()).slem, describe_case(model)};
}

CaseOutcome flip_independent(Stream& stream) {
  const Layered model = draw_independent_model(stream);
  double expected = 0;
  for (int l = 0; l < model.layers(); ++l)
    for (const double b : model.bias(l))
      if (b != 0) expected = std::max(expected, std::exp(-std::abs(b)));  // (1 - p*) / p*
  const double slem = spectrum(model, Rule::flip()).slem;
  return {std::abs(slem - expected),
          fmt::format("{}: SLEM(T) {:.12f}, max (1-p*)/p* {:.12f}; Gibbs, at 0, is better only "
                      "where a unit is not tied",
                      describe_case(model), slem, expected)};
}

// Counts the single-unit moves that T makes less often than G, or not more often without a tie.
// Inputs are held to |x| <= 30, where doubles still tell the two laws apart: T - G is at least
// e^-2|x| / 2 of a number whose spacing is 2^-53 of it or of 1.
CaseOutcome moves_as_often(Stream& stream, const Rule& rule) {
  const Layered model = draw_check_model(stream);
  const StateSpace space(model);
  int violations = 0;
  double least = 1;
  for (int parity = 0; parity < 2; ++parity) {
    const Eigen::MatrixXd inputs = space.inputs(parity);
    for (Eigen::Index i = 0; i < inputs.size(); ++i) {
      const double x = std::clamp(inputs.data()[i], -30.0, 30.0);
      for (const bool on : {false, true}) {
        const double more = flip_probability(rule, x, on) - flip_probability(Rule::gibbs(), x, on);
        least = std::min(least, more);
        if (!(more > 0 || (x == 0 && more == 0))) ++violations;
      }
    }
  }
  return {static_cast<double>(violations),
          fmt::format("{}: least T - G {:.3g}", describe_case(model), least)};
}

// Counts the steps of a grid over |x| at which the activation functions do not draw closer.
CaseOutcome activations_meet(Stream& stream, const Rule& rule) {
  const double step = stream.uniform(0.05, 0.25);  // the grid's own spacing is the random case
  int violations = 0;
  double last = 0;
  for (const double sign : {-1.0, 1.0}) {
    for (const bool on : {false, true}) {
      double previous = 2;
      for (double x = step; x <= 30; x += step) {
        // |sigma' - sigma| is the same for staying and for flipping; near 1 only the latter is
        // resolved.
        const double difference = std::abs(flip_probability(rule, sign * x, on) -
                                           flip_probability(Rule::gibbs(), sign * x, on));
        if (!(difference < previous)) ++violations;
        previous = difference;
      }
      last = worse(last, previous);
    }
  }
  // sigma(30) leaves 9.4e-14.
  if (!(last <= 2e-13)) ++violations;
  return {static_cast<double>(violations),
          fmt::format("steps of {:.3f} up to |x| = 30, where {:.2g} is left", step, last)};
}

std::size_t count_zeros(const Eigen::MatrixXd& matrix) {
  return static_cast<std::size_t>((matrix.array() == 0).count());
}

// How many zeros the whole-matrix transform falls short of being outdone: 0 if A' of the Gibbs
// sweep has one zero entry and T has more.
CaseOutcome breuleux_zeros(Stream& stream, const Rule& rule) {
  const Layered model = draw_generic_model(stream, 3, 2);
  const StateSpace space(model);
  const std::size_t whole = count_zeros(breuleux_transform(sweep_matrix(space, Rule::gibbs())));
  const std::size_t base = count_zeros(sweep_matrix(space, rule));
  return {whole == 1 && base > whole ? 0.0 : 1.0,
          fmt::format("{}: A' has {} zero entries, T {}", describe_case(model), whole, base)};
}

Check balance_check(const Rule& rule) {
  return bounded_check(
      "detailed-balance", rule.name(),
      "each single-unit operator is in detailed balance with p: max |p_x T_i(x,y) - p_y T_i(y,x)|",
      1e-12, [rule](Stream& s) { return detailed_balance(s, rule, draw_binary_model); });
}

Check unit_balance_check(const Rule& rule) {
  return bounded_check("detailed-balance (discrete units)", rule.name(),
                       "so it is with multivalued units, under Metropolised Gibbs too", 1e-12,
                       [rule](Stream& s) { return detailed_balance(s, rule, draw_unit_model); });
}

Check invariance_check(const Rule& rule) {
  return bounded_check("invariance", rule.name(),
                       "p is invariant under T_h, T_v and T = T_h T_v: max |pT - p|", 1e-12,
                       [rule](Stream& s) { return invariance(s, rule, draw_binary_model); });
}

Check unit_invariance_check(const Rule& rule) {
  return bounded_check("invariance (discrete units)", rule.name(),
                       "the sweep leaves P_s invariant with multivalued units: max |pT - p|", 1e-12,
                       [rule](Stream& s) { return invariance(s, rule, draw_unit_model); });
}

}  // namespace

Check counter_example_check(const Rule& rule) {
  return bounded_check(
      "counter-example", rule.name(),
      "without the tie rule the sweep is not ergodic at ties (expected): ergodic models found", 0,
      [rule](Stream& s) { return counter_example(s, rule); });
}

Check changes_as_often_check(const Rule& rule) {
  return bounded_check(
      "changes-as-often", rule.name(),
      "every unit changes at least as often as under Gibbs, more often unless tied: violations", 0,
      [rule](Stream& s) { return moves_as_often(s, rule); });
}

Check activation_check(const Rule& rule) {
  return bounded_check(
      "activation-difference", rule.name(),
      "|sigma(x) - sigma'(x)| decreases strictly in |x| to 0 in either state: violations", 0,
      [rule](Stream& s) { return activations_meet(s, rule); });
}

Check whole_matrix_check(const Rule& rule) {
  return bounded_check(
      "whole-matrix-transform", rule.name(),
      "Breuleux's A' of the whole matrix has 1 zero entry, T has more: models where not", 0,
      [rule](Stream& s) { return breuleux_zeros(s, rule); });
}

std::vector<Check> balance_checks(const Rule& rule) {
  return {balance_check(rule), unit_balance_check(rule)};
}

std::vector<Check> kernel_checks(const Rule& rule) {
  return {invariance_check(rule), unit_invariance_check(rule)};
}

std::vector<Check> kernel_checks() {
  std::vector<Check> checks;
  std::vector<Rule> all = ergodic_rules();
  all.push_back(Rule::metropolis());
  for (const auto make :
       {balance_check, invariance_check, unit_balance_check, unit_invariance_check})
    std::transform(all.begin(), all.end(), std::back_inserter(checks), make);
  checks.push_back(counter_example_check(Rule::metropolis()));
  checks.push_back(bounded_check("independent-units", "gibbs",
                                 "with zero weights G converges in one step: SLEM(G)", 1e-12,
                                 gibbs_independent));
  checks.push_back(bounded_check(
      "independent-units", "flip",
      "with zero weights T oscillates by max (1-p*)/p* over the units without a tie: |SLEM(T) - "
      "that|",
      1e-12, flip_independent));
  for (const Rule& rule : {Rule::flip(), Rule::blended(0.5)})
    checks.push_back(changes_as_often_check(rule));
  checks.push_back(activation_check(Rule::flip()));
  checks.push_back(whole_matrix_check(Rule::flip()));
  return checks;
}

}  // namespace boltzmark
