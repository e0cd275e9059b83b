#include "boltzmark/diagnose/autocorrelation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr Eigen::Index direct_lags = 64;  // below, direct sums beat the transforms

void check(const Eigen::Ref<const Eigen::MatrixXd>& chains, Eigen::Index max_lag) {
  if (chains.size() == 0)
    throw InvalidArgument(fmt::format("chains = {} x {} (must hold at least one step and chain)",
                                      chains.rows(), chains.cols()));
  if (max_lag < 0 || max_lag >= chains.rows())
    throw InvalidArgument(
        fmt::format("max_lag = {} (must be in 0..{})", max_lag, chains.rows() - 1));
  if (!chains.allFinite()) throw InvalidArgument("chains = not finite (must be finite)");
}

// Plain loops here and below: Eigen's sums change their last bits with the data's alignment.
double sum_of(const Eigen::Ref<const Eigen::MatrixXd>& chains) {
  double sum = 0;
  for (Eigen::Index chain = 0; chain < chains.cols(); ++chain)
    for (Eigen::Index step = 0; step < chains.rows(); ++step) sum += chains(step, chain);
  return sum;
}

Eigen::VectorXd lagged_sums_directly(const Eigen::Ref<const Eigen::VectorXd>& series,
                                     Eigen::Index max_lag, double mean) {
  Eigen::VectorXd sums(max_lag + 1);
  for (Eigen::Index lag = 0; lag <= max_lag; ++lag) {
    double sum = 0;
    for (Eigen::Index t = 0; t + lag < series.size(); ++t)
      sum += (series[t] - mean) * (series[t + lag] - mean);
    sums[lag] = sum;
  }
  return sums;
}

Eigen::Index power_of_two_above(Eigen::Index value) {
  Eigen::Index power = 1;
  while (power < value) power *= 2;
  return power;
}

// Splits the series into blocks of B > max_lag. With A_j the transform of block j padded to 2B, the
// transform of blocks j and j+1 joined is A_j(m) + (-1)^m A_{j+1}(m), so that
// sum_j conj(A_j) (A_j + (-1)^m A_{j+1}) transforms back to the lagged sums up to lag B.
Eigen::VectorXd lagged_sums_by_transform(const Eigen::Ref<const Eigen::VectorXd>& series,
                                         Eigen::Index max_lag, double mean) {
  const Eigen::Index block = power_of_two_above(std::max<Eigen::Index>(max_lag + 1, 2048));
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
  std::vector<double> padded(2 * block);
  std::vector<std::complex<double>> present, next, spectrum(block + 1);
  const auto transform = [&](Eigen::Index first, std::vector<std::complex<double>>& out) {
    std::fill(padded.begin(), padded.end(), 0.0);
    const Eigen::Index count = std::clamp<Eigen::Index>(series.size() - first, 0, block);
    for (Eigen::Index t = 0; t < count; ++t) padded[t] = series[first + t] - mean;
    fft.fwd(out, padded);
  };
  transform(0, present);
  for (Eigen::Index first = 0; first < series.size(); first += block) {
    transform(first + block, next);
    for (Eigen::Index m = 0; m <= block; ++m)
      spectrum[m] +=
          std::conj(present[m]) * (m % 2 == 0 ? present[m] + next[m] : present[m] - next[m]);
    present.swap(next);
  }
  fft.inv(padded, spectrum);
  return Eigen::Map<Eigen::VectorXd>(padded.data(), max_lag + 1);
}

}  // namespace

Eigen::VectorXd autocovariance(const Eigen::Ref<const Eigen::VectorXd>& series,
                               Eigen::Index max_lag, double mean) {
  check(series, max_lag);
  const auto sums = max_lag < direct_lags ? lagged_sums_directly(series, max_lag, mean)
                                          : lagged_sums_by_transform(series, max_lag, mean);
  return sums / static_cast<double>(series.size());
}

Eigen::VectorXd autocovariance(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                               Eigen::Index max_lag) {
  check(chains, max_lag);
  const double mean = sum_of(chains) / static_cast<double>(chains.size());
  Eigen::VectorXd total = Eigen::VectorXd::Zero(max_lag + 1);
  for (Eigen::Index chain = 0; chain < chains.cols(); ++chain)
    total += autocovariance(chains.col(chain), max_lag, mean);
  return total / static_cast<double>(chains.cols());
}

Eigen::VectorXd autocorrelation(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                                Eigen::Index max_lag) {
  check(chains, max_lag);
  if (chains.maxCoeff() == chains.minCoeff())
    throw InvalidArgument(fmt::format("chains = {} throughout (must vary)", chains(0, 0)));
  const Eigen::VectorXd covariance = autocovariance(chains, max_lag);
  return covariance / covariance[0];
}

}  // namespace boltzmark
