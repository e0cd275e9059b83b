#include <fmt/format.h>

#include <Eigen/LU>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/target/step_sizes.hpp"

namespace boltzmark {
namespace {

constexpr double kPriorPrecision = 0.01;
constexpr double kPriorSlope = 4;
constexpr int kMaxIterations = 2000;

}  // namespace

double AcceptanceCurve::operator()(double step) const {
  return sigmoid(-slope * (std::log(step) - log_half));
}

double AcceptanceCurve::log_step(double acceptance) const {
  return log_half - std::log(acceptance / (1 - acceptance)) / slope;
}

AcceptanceCurve fit_acceptance(std::span<const double> log_steps,
                               std::span<const double> acceptance) {
  const auto n = static_cast<Eigen::Index>(log_steps.size());
  if (n == 0 || acceptance.size() != log_steps.size())
    throw InvalidArgument(
        fmt::format("acceptance = {} values (must be {}, and at least 1)", acceptance.size(), n));
  const Eigen::Map<const Eigen::ArrayXd> x(log_steps.data(), n), y(acceptance.data(), n);
  const double centre = x.mean();
  // logit = intercept - slope (x - centre). The Hessian of the log-likelihood is never below
  // -X'X / 4, so steps with that matrix climb to the maximum without a line search.
  Eigen::Matrix2d bound;
  bound << 0.25 * static_cast<double>(n), 0, 0, 0.25 * (x - centre).square().sum();
  bound.diagonal().array() += kPriorPrecision;
  Eigen::Vector2d at(0, kPriorSlope);
  for (int i = 0; i < kMaxIterations; ++i) {
    const Eigen::ArrayXd residual =
        y - (at[0] - at[1] * (x - centre)).unaryExpr([](double logit) { return sigmoid(logit); });
    const Eigen::Vector2d slope(
        residual.sum() - kPriorPrecision * at[0],
        -(residual * (x - centre)).sum() - kPriorPrecision * (at[1] - kPriorSlope));
    const Eigen::Vector2d step = slope.cwiseQuotient(bound.diagonal());
    at += step;
    if (step.cwiseAbs().maxCoeff() < 1e-10) break;
  }
  return {.log_half = centre + at[0] / at[1], .slope = at[1]};
}

}  // namespace boltzmark
