#include "bounds.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/sides.hpp"

namespace boltzmark::cli {

// A weight is a sum of so many terms at most, each a few times, whose sizes add up to the magnitude.
double lowest_by_cases(const Layered& model, const Cases& cases, const Eigen::VectorXd& log_f) {
  constexpr double u = std::numeric_limits<double>::epsilon() / 2;
  if (!model.layer(0).unit.is_bernoulli() || !cases.is_binary() || !log_f.allFinite())
    return LowerBound::kNone;
  const double size = magnitude(list_side(model, 0)), terms = model.units() + 64.0;
  if (!(size < kUnresolved)) return LowerBound::kNone;
  return log_sum_exp(log_f) - 8 * u * (terms * (size + terms) + static_cast<double>(log_f.size()));
}

void set_lower_bound(const Layered* model, const LowerBound& bound, JsonObject& object) {
  object.set("lower_bound", finite(bound.log_z))
      .set("lower_bound_error", finite(bound.error_bound));
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

std::string certain_text(double lowest) {
  return fmt::format("{:.4f} nats, certain", std::floor(lowest * 1e4) / 1e4);
}

std::string describe_lower_bound(const Layered* model, const LowerBound& bound) {
  if (!std::isfinite(bound.log_z)) return {};
  const std::string value = certain_text(bound.lowest());
  if (model == nullptr) return value;
  if (!(bound.listed >= bound.mean_field)) return value + ", by mean field";
  const std::string listed = fmt::format("{} states of the {} side", grouped(bound.states),
                                         side_name(*model, bound.parity));
  return value + (bound.all_states ? ", by all " + listed + ": log Z itself" : ", by " + listed);
}

}  // namespace boltzmark::cli
