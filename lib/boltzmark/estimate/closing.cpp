#include "boltzmark/estimate/closing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "boltzmark/core/quantiles.hpp"

namespace boltzmark {
namespace {

constexpr double kFarOff = 10;      // standard errors
constexpr double kNoChance = 5;     // that an estimate is off by
constexpr double kRounding = 1e-9;  // of sums of D, relative
constexpr double kNoNumber = 10;    // nats of error, a factor of 20,000 either way

void forget_infinities(Estimate& estimate) {
  for (double* number : {&estimate.log_z, &estimate.std_error, &estimate.lower, &estimate.upper})
    if (!std::isfinite(*number)) *number = Estimate::kNone;
}

// A method's own reason, if it has one, is the better one and is first already.
void refuse_without_number(Estimate& estimate) {
  if (estimate.status != Status::ok && !estimate.warnings.empty()) {
    estimate.status = std::max(estimate.status, Status::not_converged);
    return;
  }
  estimate.refuse(Status::not_converged,
                  "log Z is not finite: D is too large for this method or its ladder");
  std::rotate(estimate.warnings.begin(), estimate.warnings.end() - 1, estimate.warnings.end());
}

bool has_error(const Estimate& estimate) {
  return std::isfinite(estimate.std_error) && std::isfinite(estimate.lower) &&
         std::isfinite(estimate.upper) && std::isfinite(estimate.effective_samples);
}

// Of a method of one's own: no built-in one tells such numbers.
bool is_impossible(const Estimate& estimate) {
  return !(estimate.std_error >= 0 && estimate.lower <= estimate.log_z &&
           estimate.log_z <= estimate.upper && estimate.effective_samples >= 0);
}

bool is_beyond(const Estimate& estimate, const RatioRange& range) {
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  if (!std::isfinite(largest)) return false;
  const double rounding = kRounding * (1 + largest);
  const double slack = kFarOff * estimate.std_error + rounding;
  return estimate.std_error > largest + 1 || estimate.log_z < range.low - slack ||
         estimate.log_z > range.high + slack;
}

// Why an estimate with a number is none; empty: it may be one.
std::string fault_of(const Estimate& estimate, const RatioRange& range) {
  if (!has_error(estimate))
    return "the error of log Z is not finite: D is too large for this method or its ladder";
  if (is_impossible(estimate))
    return fmt::format(
        "std_error = {:.6g}, limits {:.6g} .. {:.6g} of log Z {:.6g}, {:.6g} effective samples (must "
        "be limits around log Z, and an error and samples that are not negative)",
        estimate.std_error, estimate.lower, estimate.upper, estimate.log_z,
        estimate.effective_samples);
  if (estimate.std_error > kNoNumber)
    return fmt::format(
        "the error of log Z is {:.3g} nats (more than {:.0f}): run more sweeps, or use more rungs",
        estimate.std_error, kNoNumber);
  if (is_beyond(estimate, range))
    return fmt::format(
        "log Z and its error do not fit the sampled D, which are within {:.6g} .. {:.6g}: use more "
        "rungs",
        range.low, range.high);
  return {};
}

// What a limit is farther off where it is to hold for so many estimates, by how far it is for one.
double room_of(double limit, int together) {
  constexpr double kTail = 0.025;
  const double wider =
      together > 1 ? normal_quantile(kTail / together) / normal_quantile(kTail) - 1 : 0;
  return wider > 0 ? wider * limit : 0;
}

}  // namespace

Estimate closed(Estimate estimate, const RatioRange& range) {
  forget_infinities(estimate);
  if (!std::isfinite(estimate.log_z)) {
    refuse_without_number(estimate);
  } else if (estimate.status == Status::ok) {
    if (std::string fault = fault_of(estimate, range); !fault.empty())
      estimate.refuse(Status::not_converged, std::move(fault));
  }
  return estimate;
}

void refuse_below(Estimate& estimate, double lowest, int together) {
  constexpr double kNats = 0.5, kRoundingOfBoth = 1e-11;
  const double room = room_of(estimate.upper - estimate.log_z, together);
  const double rounding = kRoundingOfBoth * (1 + std::abs(lowest));
  const bool above_limit = estimate.upper + room + rounding < lowest;
  const bool far = estimate.log_z + std::max(kNoChance * estimate.std_error, kNats) < lowest;
  if (!above_limit && !far) return;
  const double missed = -std::expm1(estimate.log_z - lowest);
  // What longer tours may hold is added to the limit later, and printed with it.
  const char* limit = estimate.missing > 0
                          ? "above the upper limit without what longer tours may hold"
                          : "above the upper limit";
  estimate.refuse(
      Status::below_bound,
      fmt::format(
          "log Z is certainly at least {:.8g}, {}: {}; run more sweeps, or use a base that is "
          "closer to the model",
          lowest, above_limit ? limit : "more than five standard errors above",
          far ? fmt::format("the chains missed {:.3g} % of the mass or more", 100 * missed)
              : "one right estimate in forty is so by chance, or the chains missed some of "
                "the mass"));
}

void refuse_above(Estimate& estimate, double highest, int together) {
  constexpr double kNats = 0.001;  // that matter to nobody, and single precision may be off by
  const double error = std::hypot(estimate.std_error, estimate.steps),
               most = highest + std::max(kNats, kRounding * std::abs(highest));
  if (!(estimate.lower - room_of(estimate.log_z - estimate.lower, together) > most)) return;
  estimate.refuse(
      Status::not_converged,
      fmt::format("log Z is certainly at most {:.8g}, by all states, below the lower limit: {}",
                  highest,
                  estimate.log_z - kNoChance * error > most
                      ? "the error is false"
                      : "one right estimate in forty is so by chance, or the error is false"));
}

}  // namespace boltzmark
