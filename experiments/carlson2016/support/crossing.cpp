#include "experiments/carlson2016/support/crossing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/quantiles.hpp"
#include "experiments/kit/published.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kFew = 1000;               // sweeps of RTS
constexpr double kClaimed = 10 * kFew;   // that AIS needs more of
constexpr double kSupposed = 40 * kFew;  // of the power's alternative
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A curve's points: sweeps and RMSE, or a limit of it.
using Curve = std::vector<std::pair<double, double>>;

/// The sweeps between which a curve comes down to a value; equal if interpolation tells them.
std::pair<double, double> crossings(const Curve& curve, double target) {
  if (curve.front().second <= target) return {0, curve.front().first};
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const auto [x, high] = curve[i - 1];
    const auto [next, low] = curve[i];
    if (low > target) continue;
    const double at = x * std::pow(next / x, std::log(high / target) / std::log(high / low));
    return {at, at};
  }
  // Above the target in the longest run too: the crossing lies beyond it.
  return {std::nextafter(curve.back().first, kInfinite), kInfinite};
}

bool enough(const ErrorCell& cell) { return cell.errors.size() >= kEnoughRepeats; }

struct Limits {
  double estimate = std::numeric_limits<double>::quiet_NaN(), lower = 0, upper = 0;
  int longest = 0;  ///< sweeps of AIS
  bool reached = false;
};

template <class Value>
Curve curve_of(const std::vector<std::pair<int, ErrorCell>>& cells, const Value& value) {
  Curve curve;
  for (const auto& [sweeps, cell] : cells) curve.emplace_back(sweeps, value(cell));
  return curve;
}

Limits limits_at(const Results& results, const Crossing& of, double truth) {
  const ErrorCell rts = error_cell(results, {of.model, "rates", "rts", kFew}, truth);
  std::vector<std::pair<int, ErrorCell>> ais;
  for (const int sweeps : of.sweeps) {
    ErrorCell cell = error_cell(results, {of.model, "rates", "ais", sweeps}, truth);
    if (enough(cell)) ais.emplace_back(sweeps, std::move(cell));
  }
  if (!enough(rts) || ais.size() < 2) return {};
  const auto found = crossings(curve_of(ais, [](const ErrorCell& c) { return c.rmse; }), rts.rmse);
  const auto low = crossings(curve_of(ais, [](const ErrorCell& c) { return c.lower; }), rts.upper);
  const auto high = crossings(curve_of(ais, [](const ErrorCell& c) { return c.upper; }), rts.lower);
  const bool reached = std::isfinite(found.second);
  return {.estimate = reached ? found.second : found.first,
          .lower = low.first,
          .upper = high.second,
          .longest = ais.back().first,
          .reached = reached};
}

// How often the intervals of two RMSEs from n repeats each lie apart in this order.
double power_of(const Crossing& of) {
  if (of.sweeps.empty() || of.sweeps.back() < kClaimed || of.repeats < 2) return 0;
  const auto at = *std::find_if(of.sweeps.begin(), of.sweeps.end(),
                                [](int sweeps) { return sweeps >= kClaimed; });
  const double apart =
      chi_squared_quantile(of.repeats, 0.975) / chi_squared_quantile(of.repeats, 0.025);
  return cdf(complement(boost::math::fisher_f(of.repeats, of.repeats), apart * at / kSupposed));
}

// The RMSEs of both at the sweeps of RTS, ours and as published: what a crossing starts from.
std::string starting_points(const Results& results, const Crossing& of) {
  std::string text = fmt::format("RMSE at {} sweeps", kFew);
  for (const auto& [method, name] : {std::pair{"rts", "RTS"}, std::pair{"ais", "AIS"}})
    text +=
        fmt::format("{} {} {:.2f}, published {:.2f}", name == std::string("RTS") ? ":" : ";", name,
                    error_cell(results, {of.model, "rates", method, kFew}, of.truth.log_z).rmse,
                    find_published("carlson2016_fig3_fig4", of.published, name).y.front());
  return text;
}

}  // namespace

void add_crossing(const Results& results, const Crossing& of, Summary& summary) {
  Limits limits = limits_at(results, of, of.truth.log_z);
  if (std::isnan(limits.estimate)) return;
  for (const double shift : {-of.truth.half_width, of.truth.half_width}) {
    const Limits shifted = limits_at(results, of, of.truth.log_z + shift);
    limits.lower = std::min(limits.lower, shifted.lower);
    limits.upper = std::max(limits.upper, shifted.upper);
  }
  const ErrorCell rts = error_cell(results, {of.model, "rates", "rts", kFew}, of.truth.log_z);
  summary.add(Measure{
      .claim = "C32",
      .part = of.title,
      .estimate = limits.estimate,
      .lower = limits.lower,
      .upper = limits.upper,
      .n = static_cast<std::int64_t>(rts.errors.size()),
      .power = power_of(of),
      .power_against = "a crossing at 40,000 sweeps",
      .decidable = of.truth.refused == 0 && 3 * of.truth.std_error <= rts.rmse,
      .note = fmt::format(
          "{}; AIS was run up to {} sweeps{}{}", starting_points(results, of), limits.longest,
          limits.reached ? "" : ", where its RMSE is still larger: the estimate is a lower limit",
          limits.longest < kClaimed
              ? "; runs below 10,000 sweeps can refute the claim, not confirm it"
              : ""),
      .likely_reason = of.reason});
}

}  // namespace boltzmark::experiments
