#include "boltzmark/diagnose/chain_autocovariance.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/diagnose/autocorrelation.hpp"

namespace boltzmark::detail {
namespace {

constexpr Eigen::Index least_chains = 5;  // below, the jackknife's own error is too large to help
constexpr double normal_quantile = 1.959963984540054;  // 97.5 %

}  // namespace

void check_series(const Eigen::Ref<const Eigen::MatrixXd>& chains, Eigen::Index least) {
  if (chains.rows() < least || chains.cols() == 0)
    throw InvalidArgument(fmt::format("chains = {} x {} (must hold at least {} steps and a chain)",
                                      chains.rows(), chains.cols(), least));
  if (!chains.allFinite()) throw InvalidArgument("chains = not finite (must be finite)");
  if (chains.maxCoeff() == chains.minCoeff())
    throw InvalidArgument(fmt::format("chains = {} throughout (must vary)", chains(0, 0)));
}

Eigen::MatrixXd chain_autocovariances(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                                      Eigen::Index max_lag) {
  double sum = 0;
  for (Eigen::Index chain = 0; chain < chains.cols(); ++chain)
    for (Eigen::Index step = 0; step < chains.rows(); ++step) sum += chains(step, chain);
  const double mean = sum / static_cast<double>(chains.size());
  Eigen::MatrixXd result(max_lag + 1, chains.cols());
  for (Eigen::Index chain = 0; chain < chains.cols(); ++chain)
    result.col(chain) = autocovariance(chains.col(chain), max_lag, mean);
  return result;
}

Eigen::VectorXd average(const Eigen::Ref<const Eigen::MatrixXd>& columns) {
  Eigen::VectorXd total = Eigen::VectorXd::Zero(columns.rows());
  for (Eigen::Index c = 0; c < columns.cols(); ++c) total += columns.col(c);
  return total / static_cast<double>(columns.cols());
}

void set_interval(TimeEstimate& estimate, double relative_error,
                  const Eigen::Ref<const Eigen::MatrixXd>& autocovariances,
                  const std::function<double(const Eigen::VectorXd&)>& statistic) {
  double half_width = normal_quantile * relative_error;  // of log tau
  const Eigen::Index chains = autocovariances.cols();
  if (chains >= least_chains) {
    const double count = static_cast<double>(chains);
    const Eigen::VectorXd mean = average(autocovariances);
    Eigen::VectorXd without(chains);
    for (Eigen::Index c = 0; c < chains; ++c)
      without[c] = statistic((mean * count - autocovariances.col(c)) / (count - 1));
    const double spread = (without.array() - without.mean()).matrix().squaredNorm();
    const double between = std::sqrt((count - 1) / count * spread) / estimate.tau;
    half_width = std::max(half_width, students_t_quantile(count - 1, 0.975) * between);
    relative_error = std::max(relative_error, between);
  }
  estimate.std_error = relative_error * estimate.tau;
  estimate.lower = estimate.tau * std::exp(-half_width);
  estimate.upper = estimate.tau * std::exp(half_width);
}

}  // namespace boltzmark::detail
