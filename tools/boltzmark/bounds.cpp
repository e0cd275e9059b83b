#include "bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/model/sides.hpp"

namespace boltzmark::cli {

Eigen::MatrixXf spread_cases(const Eigen::MatrixXf& cases, int count) {
  const Eigen::Index all = cases.cols(), few = std::min<Eigen::Index>(count, all);
  Eigen::MatrixXf some(cases.rows(), few);
  for (Eigen::Index k = 0; k < few; ++k) some.col(k) = cases.col(k * all / few);
  return some;
}

ModeSearch mode_search(std::uint64_t seed, const Eigen::MatrixXf& cases) {
  return {
      .climbs = {.cases = spread_cases(cases, kBoundCases), .key = make_key(seed, "lower bound")}};
}

LowerBound find_lower_bound(const LayeredTarget& target, std::uint64_t seed,
                            const Eigen::MatrixXf& cases, std::span<const Chains> visited,
                            const std::optional<Modes>& modes) {
  const TemperedModel& tempered = target.tempered_model();
  return lower_bound(
      tempered.model, tempered.base,
      {.search = mode_search(seed, cases), .modes = modes ? &*modes : nullptr, .visited = visited});
}

double lowest_by_cases(const Layered& model, const Eigen::VectorXd& log_f) {
  constexpr double kRounding = 1e-9;  // of sums of f's terms, relative
  const Unit unit = model.layer(0).unit;
  if (!unit.is_discrete() || log_f.size() == 0 || !log_f.allFinite()) return LowerBound::kNone;
  const double log_z = log_sum_exp(log_f) + model.size(0) * unit.log_weight();
  return log_z - kRounding * std::max(1.0, std::abs(log_z));
}

void set_lower_bound(const LowerBound& bound, JsonObject& object) {
  object.set("lower_bound", finite(bound.log_z))
      .set("lower_bound_error", finite(bound.error_bound));
}

void set_lower_bound_parts(const Layered* model, const LowerBound& bound, JsonObject& object) {
  if (model == nullptr || !std::isfinite(bound.log_z)) {
    object.set_null("lower_bound_of");
    return;
  }
  object.set("lower_bound_of", JsonObject()
                                   .set("side", side_name(*model, bound.parity))
                                   .set("states", bound.states)
                                   .set("all_states", bound.all_states)
                                   .set("modes", bound.modes)
                                   .set("listed", finite(bound.listed))
                                   .set("mean_field", finite(bound.mean_field)));
}

std::string describe_lower_bound(const Layered* model, const LowerBound& bound) {
  if (!std::isfinite(bound.log_z)) return {};
  const std::string value = fmt::format("{:.4f} nats, certain", bound.log_z);
  if (model == nullptr) return value;
  if (!(bound.listed >= bound.mean_field)) return value + ", by mean field";
  const std::string listed = fmt::format("{} states of the {} side", grouped(bound.states),
                                         side_name(*model, bound.parity));
  return value + (bound.all_states ? ", by all " + listed + ": log Z itself" : ", by " + listed);
}

}  // namespace boltzmark::cli
