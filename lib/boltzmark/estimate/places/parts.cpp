#include "boltzmark/estimate/places/parts.hpp"

#include <algorithm>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/transition/fixed_points.hpp"

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

double PhaseMasses::log_z() const { return log_sum_exp(log_masses); }

double PhaseMasses::std_error() const {
  return ((log_masses.array() - log_z()).exp() * errors.array()).matrix().norm();
}

double PhaseMasses::share(Eigen::Index part, double errors_off) const {
  const Eigen::ArrayXd masses = (log_masses.array() - log_z()).exp();
  Eigen::ArrayXd off = (masses * (1 - errors_off * errors.array())).max(0);
  off[part] = std::max(0.0, masses[part] * (1 + errors_off * errors[part]));
  return off[part] / off.sum();
}

}  // namespace boltzmark
