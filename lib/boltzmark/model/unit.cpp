#include "boltzmark/model/unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/core/numeric.hpp"

namespace boltzmark {
namespace {

/// Up to this |x| the two terms of coth x - 1/x, and of X(s) likewise, cancel too much.
constexpr double kCancels = 2;

/// Computes the Langevin function L(y) = coth y - 1/y for |y| <= 3 by Lambert's continued fraction
/// y / (3 + y^2 / (5 + ...)): all its terms are positive, and stopping at 33 leaves a relative
/// error below 1e-17.
double langevin(double y) {
  double tail = 0;
  for (int odd = 33; odd >= 5; odd -= 2) tail = y * y / (odd + tail);
  return y / (3.0 + tail);
}

/// Computes coth x - 1/x; beyond kCancels as 1 less what it lacks of 1.
double mean_continuous(double x) {
  const double size = std::abs(x);
  if (size <= kCancels) return langevin(x);
  return std::copysign(1.0 - (1.0 / size - 2.0 / std::expm1(2.0 * size)), x);
}

/// Computes (s+1)/s coth((s+1) x/s) - coth(x/s)/s for s >= 2. Up to kCancels the poles of the two
/// terms cancel in L(x + x/s) + (L(x + x/s) - L(x/s)) / s; beyond, 1 is taken out of both.
double mean_multivalued(double steps, double x) {
  const double size = std::abs(x), inner = size / steps, outer = size + inner;
  if (size <= kCancels) {
    const double mean = langevin(outer);
    return std::copysign(mean + (mean - langevin(inner)) / steps, x);
  }
  const double near = 2.0 / (steps * std::expm1(2.0 * inner));
  const double far = 2.0 * (steps + 1.0) / (steps * std::expm1(2.0 * outer));
  return std::copysign(1.0 - (near - far), x);
}

/// Computes sinh(y) / y - 1 for |y| <= 3 by its series, all of whose terms are positive.
double sinhc_less_1(double y) {
  const double square = y * y;
  double sum = 0;
  for (int k = 14; k >= 1; --k) sum = (1.0 + sum) * square / (2.0 * k * (2.0 * k + 1.0));
  return sum;
}

/// Up to this |x| ln phi is taken from the series of sinh.
constexpr double kSeries = 1.5;

/// Computes log phi_s(x) = log( 2/(s+1) sinh((s+1) x/s) / sinh(x/s) )       [yokoyama2019, Eq. 6]
/// Up to kSeries as log 2 + log1p of what the quotient of both sinh(y) / y exceeds 1 by; beyond
/// with e^|x| taken out.
double log_phi(double steps, double x) {
  const double t = std::abs(x) / steps;
  if (std::abs(x) <= kSeries) {
    const double outer = sinhc_less_1((steps + 1.0) * t), inner = sinhc_less_1(t);
    return std::numbers::ln2 + std::log1p((outer - inner) / (1.0 + inner));
  }
  const double ratio = std::expm1(-2.0 * (steps + 1.0) * t) / std::expm1(-2.0 * t);
  return std::abs(x) + std::log(2.0 / (steps + 1.0) * ratio);
}

/// Computes log phi_inf(x) = log( 2 sinh(x) / x )                           [yokoyama2019, Eq. 7]
double log_phi_continuous(double x) {
  const double size = std::abs(x);
  if (size <= kSeries) return std::numbers::ln2 + std::log1p(sinhc_less_1(size));
  return size + std::log(-std::expm1(-2.0 * size) / size);
}

/// Returns the state 2k - s of X(s) that is nearest to s times a number.
double nearest_state(int steps, double scaled) {
  return 2 * std::round((scaled + steps) / 2) - steps;
}

[[noreturn]] void refuse_gaussian() {
  throw InvalidArgument("unit = Gaussian (must be Bernoulli, multivalued or continuous)");
}

}  // namespace

Unit Unit::multivalued(std::int32_t steps) {
  if (steps < 1 || steps > max_steps) {
    throw InvalidArgument(fmt::format("steps = {} (must be 1..{})", steps, max_steps));
  }
  return Unit(steps);
}

Unit Unit::from_code(std::int32_t code) {
  if (code < -2 || code > max_steps) {
    throw InvalidArgument(fmt::format(
        "unit code = {} (must be 0, 1..{}, -1 or -2: Bernoulli, X(s), continuous, Gaussian)", code,
        max_steps));
  }
  return Unit(code);
}

Unit Unit::parse(std::string_view text) {
  if (text == "bernoulli") return bernoulli();
  if (text == "continuous") return continuous();
  if (text == "gaussian") return gaussian();
  const auto steps = parse_number<std::int32_t>(text);
  if (!steps || *steps < 1 || *steps > max_steps)
    throw InvalidArgument(
        fmt::format("units = {} (must be bernoulli, continuous, gaussian, or the s of X(s), 1..{})",
                    text, max_steps));
  return Unit(*steps);
}

double Unit::log_weight() const {
  if (!is_discrete()) throw InvalidArgument("unit = " + name() + " (must be discrete)");
  return is_bernoulli() ? 0.0 : std::log(2.0 / (code_ + 1.0));
}

bool Unit::holds(double x, double tolerance) const {
  if (!(x >= lowest() && x <= highest())) return false;
  if (code_ <= 0) return !is_discrete() || x == lowest() || x == highest();
  const double scaled = x * code_;
  return std::abs(scaled - nearest_state(code_, scaled)) <= tolerance * code_;
}

int Unit::index(float state) const {
  return static_cast<int>(
      std::lround(code_ == 0 ? state : (state + static_cast<float>(code_)) / 2));
}

float Unit::stored(float value) const {
  if (code_ <= 0) return value;
  const double scaled = static_cast<double>(value) * code_, nearest = nearest_state(code_, scaled);
  return static_cast<float>(std::abs(scaled - nearest) <= code_ * 0x1p-23 ? nearest : scaled);
}

std::string Unit::name() const {
  if (is_bernoulli()) return "Bernoulli";
  if (has_scale()) return "Gaussian";
  return is_discrete() ? fmt::format("X({})", code_) : "continuous";
}

double log_partition(Unit unit, double input) {
  if (unit.has_scale()) refuse_gaussian();
  if (unit.is_bernoulli()) return softplus(input);
  return unit.is_discrete() ? log_phi(unit.code(), input) : log_phi_continuous(input);
}

double mean_value(Unit unit, double input) {
  if (unit.has_scale()) refuse_gaussian();
  if (unit.is_bernoulli()) return sigmoid(input);
  if (!unit.is_discrete()) return mean_continuous(input);
  return unit.code() == 1 ? std::tanh(input) : mean_multivalued(unit.code(), input);
}

// How far from the likelier end: so many steps of a discrete unit, each as likely as the step before it times
// e^{-|input| spacing}.
double value_at(Unit unit, double input, double uniform) {
  if (!unit.is_discrete())
    return ValueRange{unit.lowest(), unit.highest()}.value_at(input, uniform);
  const double step = -std::abs(input) * unit.spacing(), all = unit.values();
  const double steps =
      step < 0 ? std::log1p(uniform * std::expm1(all * step)) / step : uniform * all;
  const int away = std::min(unit.steps(), static_cast<int>(steps));
  return unit.value(input > 0 ? unit.steps() - away : away);
}

double ValueRange::log_integral(double input) const {
  const double half = width() / 2;
  return input * (low + half) + std::log(half) + log_partition(Unit::continuous(), input * half);
}

// From the likelier end, by the exponential law that ends at the other one.
double ValueRange::value_at(double input, double uniform) const {
  const double rate = std::abs(input), all = width();
  const double away =
      rate > 0 ? -std::log1p(uniform * std::expm1(-rate * all)) / rate : uniform * all;
  return input > 0 ? high - std::min(away, all) : low + std::min(away, all);
}

}  // namespace boltzmark
