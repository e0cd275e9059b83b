#include "verification/checks/check_unit_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "verification/checks/check_slopes.hpp"
#include "verification/checks/laws/tail_draws.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

/// log phi_s as its sum over the values, in long double with the largest exponent taken out.
long double log_phi_by_sum(int s, long double x) {
  long double sum = 0;
  for (int k = 0; k <= s; ++k) sum += std::exp(x * (2 * k - s) / s - std::abs(x));
  return std::abs(x) + std::log(2 * sum / (s + 1));
}

double draw_input(Stream& stream) {
  const double size = std::exp(stream.uniform(std::log(1e-8), std::log(700.0)));
  return stream.below(2) == 0 ? size : -size;
}

/// The mean over the values, v and -v taken together so that nothing cancels.
long double mean_by_sum(int s, long double x) {
  const long double size = std::abs(x);
  long double sum = 0, weighted = 0;
  for (int k = 0; k <= s; ++k) {
    const long double value = static_cast<long double>(2 * k - s) / s;
    const long double weight = std::exp(size * (value - 1));
    sum += weight;
    if (value > 0) weighted -= value * weight * std::expm1(-2 * size * value);
  }
  return std::copysign(weighted / sum, x);
}

/// The largest |F(x) - u| of continuous units that a half sweep draws, over what roundings of float32
/// may do: the distance t from the likelier end is off by some 20 u t, 1 - t by u, and F by the
/// density times that.
double drawn_error(const std::vector<float>& inputs, const HalfSweep& move, const Draws& draws) {
  constexpr int kChains = 48;
  const auto units = static_cast<Eigen::Index>(inputs.size());
  const Layered model(
      {{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}},
       {.unit = Unit::continuous(),
        .bias = Eigen::Map<const Eigen::VectorXf>(inputs.data(), units).cast<double>(),
        .sigma0 = {}}},
      {Eigen::MatrixXd::Zero(1, units)});
  Chains chains(model, kChains);
  move(PackedModel(model), chains, draws, {}, 1);
  const std::uint32_t padded = (static_cast<std::uint32_t>(units) + 3) / 4 * 4;
  std::vector<std::uint32_t> script(std::size_t{padded} * kChains);
  draws.fill(script.data(), {.layer = 1, .units = padded, .chains = kChains});
  double worst = 0;
  for (int i = 0; i < units; ++i)
    for (int c = 0; c < kChains; ++c) {
      const auto input = static_cast<double>(inputs[i]),
                 x = static_cast<double>(chains.get(1, i, c));
      const double u = 1 - (script[i * kChains + c] + 0.5) * 0x1p-32;
      const double rate = std::abs(input), t = input > 0 ? 1 - x : 1 + x;
      const double density =
          rate < 1e-6 ? 0.5 : -rate * std::exp(-rate * t) / std::expm1(-2 * rate);
      const double allowed = 1.5 * density * (20 * t + 1) * 0x1p-24 + 1e-15;
      worst = worse(worst, std::abs(continuous_cdf(input, x) - u) / allowed);
    }
  return worst;
}

}  // namespace

double continuous_cdf(double input, double x) {
  const double rate = std::abs(input);
  if (rate == 0) return (x + 1) / 2;
  const double below = std::expm1(-rate * (x + 1)) / std::expm1(-2 * rate);
  return input < 0 ? below : std::exp(rate * (x - 1)) * below;
}

double continuous_quantile(double input, double probability) {
  if (input > 0) return -continuous_quantile(-input, 1 - probability);
  const double rate = -input;
  if (rate == 0) return 2 * probability - 1;
  const double t = -std::log1p(probability * std::expm1(-2 * rate)) / rate;
  return std::min(t - 1, 1.0);
}

CaseOutcome phi_is_the_sum(Stream& stream) {
  const int s = draw_size(stream, 64);
  const Unit unit = Unit::multivalued(s);
  const double x = draw_input(stream), value = log_partition(unit, x);
  const double ulp = std::nextafter(value, 1e300) - value;
  double worst = static_cast<double>(std::abs(value - log_phi_by_sum(s, x))) / ulp;
  for (const Unit any : {unit, Unit::continuous()}) {
    if (log_partition(any, -x) != log_partition(any, x)) worst = 1e300;  // even
    if (log_partition(any, 0) != std::numbers::ln2) worst = 1e300;       // phi(0) = 2
  }
  return {worst, fmt::format("s = {}, x = {:.6g}", s, x)};
}

CaseOutcome phi_becomes_continuous(Stream& stream) {
  const double x = stream.uniform(-5, 5);
  const double far = log_partition(Unit::multivalued(Unit::max_steps), x);
  return {std::abs(far - log_partition(Unit::continuous(), x)), fmt::format("x = {:.6g}", x)};
}

// Five-point difference: h^4 / 30 of the fifth derivative, below 1, and roundings of 30 eps / h.
CaseOutcome psi_is_the_slope(Stream& stream) {
  const Unit unit = draw_unit(stream);
  const double x = stream.uniform(-30, 30), h = 2e-3;
  const auto f = [&](double at) { return log_partition(unit, at); };
  const double slope = (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
  double worst = std::abs(slope - mean_value(unit, x));
  if (unit.is_discrete())
    worst = worse(worst,
                  std::abs(static_cast<double>(mean_by_sum(unit.code(), x)) - mean_value(unit, x)));
  return {worst, fmt::format("{}, x = {:.6g}", unit.name(), x)};
}

CaseOutcome inverse_transform(Stream& stream, const HalfSweep& move) {
  double worst = 0;
  const double size = std::exp(stream.uniform(std::log(1e-300), std::log(700.0)));
  for (const double input : {0.0, size, -size, 700.0, -700.0})
    for (int i = 0; i <= 64; ++i) {
      const double u = i / 64.0;
      const double x = continuous_quantile(input, u);
      worst = worse(worst, std::abs(x) <= 1 ? std::abs(continuous_cdf(input, x) - u) : 1e300);
    }
  const float single = size < 1e-30 ? 0 : static_cast<float>(size);  // sizes of normal numbers
  const TailDraws draws(StreamKey{stream(), stream()});
  const double drawn = drawn_error({0, single, -single, 700, -700}, move, draws);
  worst = worse(worst, 1e-12 * drawn);
  return {worst, fmt::format("inputs 0, +-{:.3g}, +-700", size)};
}

}  // namespace boltzmark
