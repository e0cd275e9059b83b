#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/decision_bound.hpp"
#include "verification/checks/laws/recovered_sweep.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

constexpr int kMaxSide = 3;

// Models are swept in each form that a packed one can have.
Packing draw_packing(Stream& stream) {
  constexpr std::uint64_t kMany = 1000;
  switch (stream.below(4)) {
    case 0:
      return {};
    case 1:
      return {.chains = 100};
    case 2:
      return {.chains = 1, .sweeps = kMany};
    default:
      return {.chains = 100, .sweeps = kMany};
  }
}

// The largest |recovered - law| over its bound, of every threshold of a random model; one model in
// three is tempered.
CaseOutcome production_law(const Layered& model, Stream& stream, const Rule& rule) {
  const float b = stream.below(3) == 0 ? static_cast<float>(stream.uniform()) : 1.0F;
  const Base base = Base::uniform(model);
  const Packing packing = draw_packing(stream);
  const RecoveredSweep recovered(model, base, rule, b, packing);
  const StateSpace& space = recovered.space();
  const std::string swept = fmt::format("{}, beta {:.3g}, packed for {} chains x {} sweeps",
                                        describe_case(model), b, packing.chains, packing.sweeps);
  CaseOutcome worst{0, swept};
  for (int unit = 0; unit < space.units(); ++unit) {
    for (std::size_t x = 0; x < space.states(); ++x) {
      const DecisionBound bound = decision_bound(model, base, rule, b, space, unit, x);
      if (!bound.sign_is_certain) continue;
      for (int k = 1; k < space.values(unit); ++k) {
        const double share =
            std::abs(recovered.tail(unit, x, k) - bound.tails[k - 1]) / bound.errors[k - 1];
        if (share <= worst.value || std::isnan(worst.value)) continue;
        worst = {share, fmt::format("{}: value {} of unit {} in state {}, input {:.6g}", swept, k,
                                    unit, x, bound.input)};
      }
    }
  }
  return worst;
}

// Half of the models have parameters that float32 must round.
CaseOutcome binary_law(Stream& stream, const Rule& rule) {
  const Layered model = stream.below(2) == 0 ? draw_check_model(stream, kMaxSide)
                                             : draw_generic_model(stream, kMaxSide, 3);
  return production_law(model, stream, rule);
}

CaseOutcome unit_law(Stream& stream, const Rule& rule) {
  return production_law(draw_unit_model(stream), stream, rule);
}

// Parameters are multiples of 2^-8: rounding of sums in the hundreds would pass the claim's 1e-6.
CaseOutcome production_stationarity(Stream& stream, const Rule& rule) {
  const Layered model = draw_check_model(stream, kMaxSide);
  const RecoveredSweep recovered(model, Base::uniform(model), rule, 1, draw_packing(stream));
  const Eigen::RowVectorXd p = recovered.space().p().transpose();
  const Eigen::RowVectorXd next = p * recovered.side_matrix(1) * recovered.side_matrix(0);
  return {largest_of(next - p), describe_case(model)};
}

// What reaches a state by the recovered updates of one unit, less its p, over the bounds of the
// thresholds on the way. Units one by one: side matrices of thousands of states are large.
CaseOutcome unit_stationarity(Stream& stream, const Rule& rule) {
  const Layered model = draw_unit_model(stream);
  const Base base = Base::uniform(model);
  const RecoveredSweep recovered(model, base, rule, 1, draw_packing(stream));
  const StateSpace& space = recovered.space();
  const Eigen::VectorXd p = space.p();
  double worst = 0;
  for (int unit = 0; unit < space.units(); ++unit)
    for (std::size_t x = 0; x < space.states(); ++x) {
      const int to = space.value_index(unit, x);
      double flow = 0, allowed = 1e-15;
      bool certain = true;
      for (int k = 0; k < space.values(unit); ++k) {
        const std::size_t y = space.moved(unit, x, k);
        const double mass = p[static_cast<Eigen::Index>(y)];
        const DecisionBound bound = decision_bound(model, base, rule, 1, space, unit, y);
        certain = certain && bound.sign_is_certain;
        flow += mass * recovered.probability(unit, y, to);
        if (to > 0) allowed += mass * bound.errors[to - 1];
        if (to + 1 < space.values(unit)) allowed += mass * bound.errors[to];
      }
      const double share = std::abs(flow - p[static_cast<Eigen::Index>(x)]) / allowed;
      if (certain) worst = worse(worst, share);
    }
  return {worst, describe_case(model)};
}

}  // namespace

std::vector<Check> production_checks(const Rule& rule) {
  return {
      bounded_check(
          "production-law", rule.name(),
          "the production sweep's law, recovered by scripted draws, is the double law up to 2^-32 "
          "and float32 rounding: share of that bound",
          1, [rule](Stream& s) { return binary_law(s, rule); }),
      bounded_check("production-stationarity", rule.name(),
                    "p is invariant under the recovered production sweep: max |pT - p|", 1e-6,
                    [rule](Stream& s) { return production_stationarity(s, rule); }),
      bounded_check("production-law (discrete units)", rule.name(),
                    "so it is for every threshold of X(s): share of that bound", 1,
                    [rule](Stream& s) { return unit_law(s, rule); }),
      bounded_check(
          "production-stationarity (discrete units)", rule.name(),
          "p is invariant under every recovered update of one unit: |pT_i - p| as a share of the "
          "bound",
          1, [rule](Stream& s) { return unit_stationarity(s, rule); }),
  };
}

std::vector<Check> production_checks() {
  std::vector<Check> all;
  for (const RuleInfo& info : registered_rules())
    for (Check& check : production_checks(parse_rule(info.name))) all.push_back(std::move(check));
  return all;
}

}  // namespace boltzmark
