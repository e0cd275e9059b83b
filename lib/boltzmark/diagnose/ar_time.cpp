#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "boltzmark/diagnose/chain_autocovariance.hpp"

namespace boltzmark {
namespace {

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
  detail::check_series(chains, 3);
  const double samples = static_cast<double>(chains.size());
  const auto max_order =
      std::min(chains.rows() - 2, static_cast<Eigen::Index>(10 * std::log10(samples)));
  const Eigen::MatrixXd each = detail::chain_autocovariances(chains, max_order);
  const Eigen::VectorXd gamma = detail::average(each);
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
  detail::set_interval(result, std::sqrt(std::max(variance, 0.0)) / result.tau, each,
                       [order](const Eigen::VectorXd& covariance) {
                         return ar_time(fit_yule_walker(covariance, order).coefficients,
                                        covariance);
                       });
  return result;
}

}  // namespace boltzmark
