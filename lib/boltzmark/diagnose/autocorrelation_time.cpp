#include "boltzmark/diagnose/autocorrelation_time.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <functional>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"

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

// Splits the series into blocks of B > max_lag. With A_j the transform of block j padded to 2B, the
// transform of blocks j and j+1 joined is A_j(m) + (-1)^m A_{j+1}(m), so that
// sum_j conj(A_j) (A_j + (-1)^m A_{j+1}) transforms back to the lagged sums up to lag B.
Eigen::VectorXd lagged_sums_by_transform(const Eigen::Ref<const Eigen::VectorXd>& series,
                                         Eigen::Index max_lag, double mean) {
  const Eigen::Index block =
      std::bit_ceil(static_cast<std::size_t>(std::max<Eigen::Index>(max_lag + 1, 2048)));
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

/// Estimates each chain's autocovariances about the mean of all samples.
/// Shapes  chains [steps x chains]; result [max_lag + 1, chains]
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

/// Averages the columns, in order.
Eigen::VectorXd average(const Eigen::Ref<const Eigen::MatrixXd>& columns) {
  Eigen::VectorXd total = Eigen::VectorXd::Zero(columns.rows());
  for (Eigen::Index c = 0; c < columns.cols(); ++c) total += columns.col(c);
  return total / static_cast<double>(columns.cols());
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
  return average(chain_autocovariances(chains, max_lag));
}

Eigen::VectorXd autocorrelation(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                                Eigen::Index max_lag) {
  check(chains, max_lag);
  if (chains.maxCoeff() == chains.minCoeff())
    throw InvalidArgument(fmt::format("chains = {} throughout (must vary)", chains(0, 0)));
  const Eigen::VectorXd covariance = autocovariance(chains, max_lag);
  return covariance / covariance[0];
}

namespace {

constexpr double least_batches = 20;
constexpr double batch_per_tau = 20;
constexpr double first_batch_per_tau = 25;   // so that noise in tau seldom asks for longer batches
constexpr double tolerated_discrepancy = 2;  // standard errors
constexpr Eigen::Index least_chains = 5;  // below, the jackknife's own error is too large to help
constexpr double half_of_95 = 1.959963984540054;  // standard errors

/// Throws InvalidArgument if there are fewer steps than `least`, no chain, a value is not finite,
/// or all values are equal.
void check_series(const Eigen::Ref<const Eigen::MatrixXd>& chains, Eigen::Index least) {
  if (chains.rows() < least || chains.cols() == 0)
    throw InvalidArgument(fmt::format("chains = {} x {} (must hold at least {} steps and a chain)",
                                      chains.rows(), chains.cols(), least));
  if (!chains.allFinite()) throw InvalidArgument("chains = not finite (must be finite)");
  if (chains.maxCoeff() == chains.minCoeff())
    throw InvalidArgument(fmt::format("chains = {} throughout (must vary)", chains(0, 0)));
}

/// Sets the standard error and the 95 % interval, symmetric in log tau, from a relative standard
/// error and, with 5 chains or more, from the leave-one-chain-out jackknife of `statistic` (a
/// function of the average autocovariances) with Student's t, unless one of them alone moves; the wider of the two
/// counts.
void set_interval(TimeEstimate& estimate, double relative_error,
                  const Eigen::Ref<const Eigen::MatrixXd>& autocovariances,
                  const std::function<double(const Eigen::VectorXd&)>& statistic) {
  double half_width = half_of_95 * relative_error;  // of log tau
  const Eigen::Index chains = autocovariances.cols();
  const Eigen::VectorXd mean = average(autocovariances);
  // Without a chain that alone moves there is no variance, and no tau.
  const bool vary =
      autocovariances.row(0).maxCoeff() < (1 - 1e-12) * mean[0] * static_cast<double>(chains);
  if (chains >= least_chains && vary) {
    const double count = static_cast<double>(chains);
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

double sum_to(const Eigen::VectorXd& gamma, Eigen::Index window) {
  double total = gamma[0];
  for (Eigen::Index lag = 1; lag <= window; ++lag) total += 2 * gamma[lag];
  return total / gamma[0];
}

// The variance of the values about their mean, n-1 below.
double sample_variance(const Eigen::Ref<const Eigen::MatrixXd>& values) {
  const double count = static_cast<double>(values.size());
  double mean = 0;
  for (Eigen::Index c = 0; c < values.cols(); ++c)
    for (Eigen::Index r = 0; r < values.rows(); ++r) mean += values(r, c) / count;
  double sum = 0;
  for (Eigen::Index c = 0; c < values.cols(); ++c)
    for (Eigen::Index r = 0; r < values.rows(); ++r)
      sum += (values(r, c) - mean) * (values(r, c) - mean);
  return sum / (count - 1);
}

// At least 25 tau, and so long that the bias -tau/(2b) stays below 0.18 standard errors
// sqrt(2b/n):  (b / tau)^3 >= 4 n / tau.
Eigen::Index batch_size_for(double tau, double samples) {
  const double in_tau = std::max(first_batch_per_tau, std::cbrt(4 * samples / tau));
  return static_cast<Eigen::Index>(std::ceil(std::max(1.0, tau) * in_tau));
}

// Batches of at least 20 of their own tau; false where the chains are too short for them.
bool fill_batch_means(BatchTime& result, const Eigen::Ref<const Eigen::MatrixXd>& chains,
                      double tau) {
  Eigen::Index size = batch_size_for(tau, static_cast<double>(chains.size()));
  const auto batches = [&] { return chains.rows() / size * chains.cols(); };
  while (static_cast<double>(batches()) >= least_batches) {
    const BatchTime found = batch_means_time(chains, size);
    if (batch_per_tau * found.tau <= static_cast<double>(size)) {
      result = found;
      return true;
    }
    size = static_cast<Eigen::Index>(std::ceil(1.01 * batch_per_tau * found.tau));
  }
  return false;
}

// Levinson-Durbin: the step from order p-1 to p.
ArModel extend(const ArModel& model, const Eigen::VectorXd& gamma) {
  const Eigen::Index p = model.coefficients.size() + 1;
  double unexplained = gamma[p];
  for (Eigen::Index i = 0; i < p - 1; ++i) unexplained -= model.coefficients[i] * gamma[p - 1 - i];
  const double partial = unexplained / model.residual_variance;
  ArModel next;
  next.coefficients.resize(p);
  for (Eigen::Index i = 0; i < p - 1; ++i)
    next.coefficients[i] = model.coefficients[i] - partial * model.coefficients[p - 2 - i];
  next.coefficients[p - 1] = partial;
  next.residual_variance = model.residual_variance * (1 - partial * partial);
  return next;
}

// The order of least AIC among 0..max_order; the first on a tie; 0 becomes 1.
Eigen::Index choose_order(const Eigen::VectorXd& gamma, Eigen::Index max_order, double samples) {
  ArModel model{Eigen::VectorXd(), gamma[0]};
  double least = samples * std::log(gamma[0]);
  Eigen::Index order = 0;
  for (Eigen::Index p = 1; p <= max_order; ++p) {
    model = extend(model, gamma);
    if (!(model.residual_variance > 0)) break;  // perfectly predictable to rounding
    const double aic = samples * std::log(model.residual_variance) + 2.0 * static_cast<double>(p);
    if (aic < least) {
      least = aic;
      order = p;
    }
  }
  return std::max<Eigen::Index>(order, 1);
}

Eigen::MatrixXd toeplitz(const Eigen::VectorXd& gamma, Eigen::Index size) {
  Eigen::MatrixXd matrix(size, size);
  for (Eigen::Index i = 0; i < size; ++i)
    for (Eigen::Index j = 0; j < size; ++j) matrix(i, j) = gamma[std::abs(i - j)];
  return matrix;
}

// The gradient of tau by the coefficients, rho depending on them through
// rho_k = sum_i pi_i rho_|k-i|, k = 1..p: differentiate these and solve for d rho / d pi.
Eigen::VectorXd time_gradient(const Eigen::VectorXd& pi, const Eigen::VectorXd& rho) {
  const Eigen::Index p = pi.size();
  Eigen::MatrixXd system = Eigen::MatrixXd::Identity(p, p);
  for (Eigen::Index k = 1; k <= p; ++k)
    for (Eigen::Index l = 1; l <= p; ++l) {
      if (k > l) system(k - 1, l - 1) -= pi[k - l - 1];
      if (k + l <= p) system(k - 1, l - 1) -= pi[k + l - 1];
    }
  const Eigen::MatrixXd rho_by_pi = system.partialPivLu().solve(toeplitz(rho, p));
  const Eigen::VectorXd lagged = rho.segment(1, p);
  const double gap = 1 - pi.sum();
  const double numerator = 1 - pi.dot(lagged);
  return -(lagged + rho_by_pi.transpose() * pi) / (gap * gap) +
         Eigen::VectorXd::Constant(p, 2 * numerator / (gap * gap * gap));
}

}  // namespace

InitialSum initial_sequence_sum(const Eigen::VectorXd& gamma) {
  if (gamma.size() < 2 || !(gamma[0] > 0))
    throw InvalidArgument(
        fmt::format("autocovariances = {} lags (must hold 2, the first positive)", gamma.size()));
  InitialSum result;
  double total = gamma[0] + gamma[1];
  for (Eigen::Index lag = 2; lag + 1 < gamma.size(); lag += 2) {
    const double pair = gamma[lag] + gamma[lag + 1];
    if (pair <= 0) {
      result.truncated = true;
      break;
    }
    total += pair;
    result.window = lag + 1;
  }
  result.tau = 2 * total / gamma[0] - 1;
  return result;
}

SequenceTime geyer_time(const Eigen::Ref<const Eigen::MatrixXd>& chains) {
  check_series(chains, 4);
  const Eigen::Index last_lag = chains.rows() - 1;
  Eigen::MatrixXd each;
  InitialSum sum;
  for (Eigen::Index max_lag = 2047; !sum.truncated; max_lag = 8 * max_lag + 7) {
    each = chain_autocovariances(chains, std::min(max_lag, last_lag));
    sum = initial_sequence_sum(average(each));
    if (max_lag >= last_lag) break;
  }
  SequenceTime result;
  result.window = sum.window;
  const double relative_error =
      std::sqrt(static_cast<double>(4 * sum.window + 2) / static_cast<double>(chains.size()));
  result.tau = sum.tau > 0 ? sum.tau : relative_error;
  set_interval(result, relative_error, each.topRows(sum.window + 1),
               [&](const Eigen::VectorXd& covariance) { return sum_to(covariance, sum.window); });
  return result;
}

BatchTime batch_means_time(const Eigen::Ref<const Eigen::MatrixXd>& chains,
                           Eigen::Index batch_size) {
  check_series(chains, 2);
  const Eigen::Index per_chain = batch_size >= 1 ? chains.rows() / batch_size : 0;
  if (per_chain * chains.cols() < 2)
    throw InvalidArgument(
        fmt::format("batch_size = {} (must be positive and leave 2 batches of {} steps)",
                    batch_size, chains.rows()));
  Eigen::MatrixXd means(per_chain, chains.cols());
  for (Eigen::Index chain = 0; chain < chains.cols(); ++chain)
    for (Eigen::Index batch = 0; batch < per_chain; ++batch) {
      double sum = 0;
      for (Eigen::Index step = 0; step < batch_size; ++step)
        sum += chains(batch * batch_size + step, chain);
      means(batch, chain) = sum / static_cast<double>(batch_size);
    }
  BatchTime result;
  result.batch_size = batch_size;
  result.batches = means.size();
  result.tau = static_cast<double>(batch_size) * sample_variance(means) / sample_variance(chains);
  const double freedom = static_cast<double>(result.batches - 1);
  result.std_error = result.tau * std::sqrt(2 / freedom);
  result.lower = result.tau * freedom / chi_squared_quantile(freedom, 0.975);
  result.upper = result.tau * freedom / chi_squared_quantile(freedom, 0.025);
  return result;
}

JudgedTime judge_autocorrelation_time(const Eigen::Ref<const Eigen::MatrixXd>& chains) {
  JudgedTime result;
  if (chains.size() > 0 && chains.allFinite() && chains.maxCoeff() == chains.minCoeff())
    return result;
  result.geyer = geyer_time(chains);
  result.ar = ar_act(chains);
  if (!fill_batch_means(result.batch_means, chains, result.geyer.tau)) {
    result.status = TimeStatus::too_short;
    return result;
  }
  const double geyer_error = result.geyer.std_error / result.geyer.tau;
  const double batch_error = result.batch_means.std_error / result.batch_means.tau;
  result.discrepancy = std::abs(std::log(result.geyer.tau / result.batch_means.tau)) /
                       std::hypot(geyer_error, batch_error);
  result.supported = result.discrepancy <= tolerated_discrepancy;  // not of means that are constant
  result.status = result.ar.order_at_maximum ? TimeStatus::ar_order_at_maximum
                  : !result.supported        ? TimeStatus::disagreement
                                             : TimeStatus::agreed;
  return result;
}

std::string describe(TimeStatus status) {
  // In the order of the enumeration.
  constexpr const char* kTexts[] = {"agreed", "autoregressive order at its maximum",
                                    "Geyer and batch means disagree", "chains too short",
                                    "series constant"};
  return kTexts[static_cast<int>(status)];
}

ArModel fit_yule_walker(const Eigen::VectorXd& autocovariances, Eigen::Index order) {
  if (order < 0 || order >= autocovariances.size())
    throw InvalidArgument(
        fmt::format("order = {} (must be in 0..{})", order, autocovariances.size() - 1));
  if (!(autocovariances[0] > 0))
    throw InvalidArgument(fmt::format("variance = {} (must be positive)", autocovariances[0]));
  ArModel model{Eigen::VectorXd(), autocovariances[0]};
  for (Eigen::Index p = 1; p <= order; ++p) model = extend(model, autocovariances);
  return model;
}

double ar_time(const Eigen::VectorXd& coefficients, const Eigen::VectorXd& autocovariances) {
  if (autocovariances.size() <= coefficients.size())
    throw InvalidArgument(fmt::format("number of autocovariances = {} (must be above {})",
                                      autocovariances.size(), coefficients.size()));
  double explained = 0, sum = 0;
  for (Eigen::Index i = 0; i < coefficients.size(); ++i) {
    explained += coefficients[i] * autocovariances[i + 1] / autocovariances[0];
    sum += coefficients[i];
  }
  return (1 - explained) / ((1 - sum) * (1 - sum));
}

ArTime ar_act(const Eigen::Ref<const Eigen::MatrixXd>& chains) {
  check_series(chains, 3);
  const double samples = static_cast<double>(chains.size());
  const auto max_order =
      std::min(chains.rows() - 2, static_cast<Eigen::Index>(10 * std::log10(samples)));
  const Eigen::MatrixXd each = chain_autocovariances(chains, max_order);
  const Eigen::VectorXd gamma = average(each);
  const Eigen::Index order = choose_order(gamma, max_order, samples);
  const ArModel model = fit_yule_walker(gamma, order);

  ArTime result;
  result.order = static_cast<int>(order);
  result.max_order = static_cast<int>(max_order);
  result.order_at_maximum = order == max_order;
  result.coefficients = model.coefficients;
  result.innovation_variance =
      model.residual_variance * samples / (samples - static_cast<double>(order) - 1);
  result.tau = ar_time(model.coefficients, gamma);
  const Eigen::VectorXd gradient = time_gradient(model.coefficients, gamma / gamma[0]);
  const double variance = result.innovation_variance / samples *
                          gradient.dot(toeplitz(gamma, order).partialPivLu().solve(gradient));
  set_interval(result, std::sqrt(std::max(variance, 0.0)) / result.tau, each,
               [order](const Eigen::VectorXd& covariance) {
                 return ar_time(fit_yule_walker(covariance, order).coefficients, covariance);
               });
  return result;
}

}  // namespace boltzmark
