#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/exact/check_cases.hpp"
#include "boltzmark/exact/recovered_sweep.hpp"

namespace boltzmark {
namespace {

constexpr int kMaxSide = 3;

// The largest |recovered - law| over its bound, of every decision of a random model; one model in
// three is tempered. Half of the models have parameters that float32 must round.
CaseOutcome production_law(Stream& stream, const Rule& rule) {
  const Layered model = stream.below(2) == 0 ? draw_check_model(stream, kMaxSide)
                                             : draw_generic_model(stream, kMaxSide, 3);
  const float b = stream.below(3) == 0 ? static_cast<float>(stream.uniform()) : 1.0F;
  const Base base = Base::uniform(model);
  const RecoveredSweep recovered(model, base, rule, b);
  const StateSpace& space = recovered.space();
  CaseOutcome worst{0, describe_case(model)};
  for (int unit = 0; unit < space.units(); ++unit) {
    for (std::size_t x = 0; x < space.states(); ++x) {
      const DecisionBound bound = decision_bound(model, base, rule, b, space, unit, x);
      if (!bound.sign_is_certain) continue;
      const double law = on_probability(rule, bound.input, space.on(unit, x));
      const double share = std::abs(recovered.on_probability(unit, x) - law) / bound.probability;
      if (share <= worst.value) continue;
      worst = {share, fmt::format("{}, beta {:.3g}: unit {} in state {}, input {:.6g}",
                                  describe_case(model), b, unit, x, bound.input)};
    }
  }
  return worst;
}

// Parameters are multiples of 2^-8: rounding of sums in the hundreds would pass the claim's 1e-6.
CaseOutcome production_stationarity(Stream& stream, const Rule& rule) {
  const Layered model = draw_check_model(stream, kMaxSide);
  const RecoveredSweep recovered(model, Base::uniform(model), rule);
  const Eigen::RowVectorXd p = recovered.space().p().transpose();
  const Eigen::RowVectorXd next = p * recovered.side_matrix(1) * recovered.side_matrix(0);
  return {(next - p).cwiseAbs().maxCoeff(), describe_case(model)};
}

}  // namespace

std::vector<Check> production_checks() {
  std::vector<Check> checks;
  for (const RuleInfo& info : registered_rules()) {
    const Rule rule = parse_rule(info.name);
    checks.push_back(bounded_check(
        {.name = "production-law",
         .subject = info.name,
         .statement = "the production sweep's law, recovered by scripted draws, is the double law "
                      "up to 2^-32 and float32 rounding: share of that bound",
         .claim = "",
         .bound = 1},
        [rule](Stream& s) { return production_law(s, rule); }));
    checks.push_back(bounded_check(
        {.name = "production-stationarity",
         .subject = info.name,
         .statement = "p is invariant under the recovered production sweep: max |pT - p|",
         .claim = info.name == "flip" ? "B02" : "",
         .bound = 1e-6},
        [rule](Stream& s) { return production_stationarity(s, rule); }));
  }
  return checks;
}

}  // namespace boltzmark
