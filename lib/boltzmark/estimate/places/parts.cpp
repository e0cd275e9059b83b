#include "boltzmark/estimate/places/parts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"

namespace boltzmark {

std::vector<int> Parts::parts_of(const Chains& states) const {
  return parts_of(all_values(states).cast<double>());
}

std::vector<int> Parts::parts_of(const Eigen::Ref<const Eigen::MatrixXd>& values) const {
  std::vector<int> parts(static_cast<std::size_t>(values.cols()));
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    const Eigen::VectorXd scaled = scales.cwiseProduct(values.col(c));
    Eigen::Index nearest = 0;
    (centres.colwise() - scaled).colwise().squaredNorm().minCoeff(&nearest);
    parts[static_cast<std::size_t>(c)] = static_cast<int>(nearest);
  }
  return parts;
}

double least_log_mass(const Eigen::Ref<const Eigen::VectorXd>& log_weights) {
  constexpr int kFewest = 3;
  constexpr double kErrors = 2, kLevel = 0.025, kNone = -std::numeric_limits<double>::infinity();
  double count = 0, sum = 0;
  for (const double x : log_weights)
    if (x > kNone) {
      ++count;
      sum += x;
    }
  if (count < kFewest) return kNone;
  const double mean = sum / count;
  double squares = 0;
  for (const double x : log_weights)
    if (x > kNone) squares += (x - mean) * (x - mean);
  const double all = static_cast<double>(log_weights.size());
  return mean - kErrors * std::sqrt(squares / (count - 1) / count) +
         std::log(beta_quantile(count, all - count + 1, kLevel));
}

double PhaseMasses::log_z() const { return log_sum_exp(log_masses); }

double PhaseMasses::std_error() const {
  return ((log_masses.array() - log_z()).exp() * errors.array()).matrix().norm();
}

Eigen::ArrayXd PhaseMasses::lowest(double errors_off, double log_scale) const {
  const Eigen::ArrayXd lower =
      (log_masses.array() - log_scale).exp() * (1 - errors_off * errors.array()).max(0);
  if (log_least.size() == 0) return lower;
  return lower.max((log_least.array() - log_scale).exp());
}

double PhaseMasses::share(Eigen::Index part, double errors_off) const {
  const double off = std::abs(errors_off);
  const Eigen::ArrayXd low = lowest(off, log_z());
  const Eigen::ArrayXd high = (log_masses.array() - log_z()).exp() * (1 + off * errors.array());
  Eigen::ArrayXd masses = errors_off > 0 ? low : high;
  masses[part] = errors_off > 0 ? high[part] : low[part];
  return masses[part] / masses.sum();
}

}  // namespace boltzmark
