#include "verification/checks/known/gaussian_mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"

namespace boltzmark {
namespace {

constexpr double kMostPoints = 0x1p23;  // on either side of 0, of the sum that is log Z

double log_cosh(double x) { return std::abs(x) + softplus(-2 * std::abs(x)) - M_LN2; }

void check(const GaussianMixtureOptions& options) {
  if (options.dimension < 1)
    throw InvalidArgument(fmt::format("dimension = {} (must be at least 1)", options.dimension));
  if (!(options.separation >= 0) || !std::isfinite(options.separation))
    throw InvalidArgument(
        fmt::format("separation = {} (must be 0 or more and finite)", options.separation));
  for (const double variance : {options.variance, options.base_variance})
    if (!(variance > 0) || !std::isfinite(variance))
      throw InvalidArgument(fmt::format("variance = {} (must be positive and finite)", variance));
}

}  // namespace

GaussianMixture::GaussianMixture(const GaussianMixtureOptions& options) : options_(options) {
  check(options);
  tilt_ = 0.5 * options.separation / options.variance;
  log_base_peak_ = -0.5 * options.dimension * std::log(2 * M_PI * options.base_variance);
  for (const double b : {0.0, 1.0}) grid(b);  // the widest law is at either end
}

void GaussianMixture::draw_base(Stream& stream, PointOut x) const {
  for (double& value : x) value = std::sqrt(options_.base_variance) * stream.normal();
}

double GaussianMixture::log_f(const PointRef& x) const {
  const double mean = 0.5 * options_.separation;
  return -0.5 * (x.squaredNorm() + mean * mean) / options_.variance + log_cosh(tilt_ * x[0]);
}

double GaussianMixture::log_base(const PointRef& x) const {
  return log_base_peak_ - 0.5 * x.squaredNorm() / options_.base_variance;
}

void GaussianMixture::gradient(const PointRef& x, double b, PointOut out) const {
  out = -precision(b) * x;
  out[0] += b * tilt_ * std::tanh(tilt_ * x[0]);
}

double GaussianMixture::precision(double b) const {
  return b / options_.variance + (1 - b) / options_.base_variance;
}

double GaussianMixture::log_z(double b) const {
  if (!(b >= 0 && b <= 1)) throw InvalidArgument(fmt::format("b = {} (must be in [0, 1])", b));
  const double mean = 0.5 * options_.separation;
  const Grid points = grid(b);
  LogSum sum;
  for (auto i = -points.half; i <= points.half; ++i) {
    const double x = static_cast<double>(i) * points.step;
    sum.add(b * log_cosh(tilt_ * x) - 0.5 * precision(b) * x * x);
  }
  const double other_axes = 0.5 * (options_.dimension - 1) * std::log(2 * M_PI / precision(b));
  return sum.log() + std::log(points.step) + other_axes -
         0.5 * b * mean * mean / options_.variance + (1 - b) * log_base_peak_;
}

GaussianMixture::Grid GaussianMixture::grid(double b) const {
  const double mean = 0.5 * options_.separation, width = 1 / std::sqrt(precision(b));
  // cosh(tilt x)^b branches at i pi / (2 tilt). Half-way there |cosh| >= cos(pi / 4), so steps of
  // an eighth of that distance leave e^{-8 pi}; a Gaussian's steps of width / 3 leave e^{-18 pi^2}.
  const double strip = 0.5 * M_PI / std::max(tilt_, 1e-300);
  const double step = std::min(strip / 8, width / 3);
  // The integrand is below Gaussians centred within |x| <= mean: beyond 9 widths e^{-40} is left.
  const double half = std::ceil((mean + 9 * width) / step);
  if (!(half <= kMostPoints))
    throw InvalidArgument(fmt::format(
        "separation, variance, base_variance = {}, {}, {} (must be less far apart: log Z would be "
        "a sum of {:.2g} terms)",
        options_.separation, options_.variance, options_.base_variance, 2 * half));
  return {step, static_cast<std::int64_t>(half)};
}

}  // namespace boltzmark
