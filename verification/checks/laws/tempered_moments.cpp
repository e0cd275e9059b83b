#include "verification/checks/laws/tempered_moments.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "verification/checks/laws/asymptotic.hpp"

namespace boltzmark {
namespace {

void need_positive(int value, const char* name) {
  if (value < 1) throw InvalidArgument(fmt::format("{} = {} (must be at least 1)", name, value));
}

// w_k of every pair: q(b_k | x), or 1{j = k}.  Shapes  [size]
Eigen::VectorXd assigned(const TemperedChain& chain, Assignment assignment, int rung) {
  const Eigen::Index states = chain.space().states();
  const int rungs = chain.space().rungs();
  if (assignment == Assignment::soft)
    return over_pairs(chain.rung_given_state().col(rung).replicate(1, rungs));
  Eigen::MatrixXd indicator = Eigen::MatrixXd::Zero(states, rungs);
  indicator.col(rung).setOnes();
  return over_pairs(indicator);
}

// Shapes  [size x rungs]
Eigen::MatrixXd all_assigned(const TemperedChain& chain, Assignment assignment) {
  Eigen::MatrixXd result(chain.size(), chain.space().rungs());
  for (int k = 0; k < chain.space().rungs(); ++k) result.col(k) = assigned(chain, assignment, k);
  return result;
}

/// Sums the autocovariances of a stationary chain:  N Cov(mean f_i, mean f_j) of N steps,
///   C(0) + sum over 0 < t < N of (1 - t / N) (C(t) + C(t)'), C(t)_ij = Cov(f_i(x_0), f_j(x_t))
Eigen::MatrixXd covariance_of_means(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                                    const Eigen::Ref<const Eigen::VectorXd>& p,
                                    const Eigen::Ref<const Eigen::MatrixXd>& functions, int steps) {
  const Eigen::MatrixXd centred = functions.rowwise() - (p.transpose() * functions);
  const Eigen::MatrixXd weighted = p.asDiagonal() * centred;
  Eigen::MatrixXd later = centred, sum = weighted.transpose() * centred;
  for (int t = 1; t < steps; ++t) {
    later = matrix * later;
    const Eigen::MatrixXd lag = weighted.transpose() * later;
    sum += (1 - static_cast<double>(t) / steps) * (lag + lag.transpose());
  }
  return sum;
}

}  // namespace

Eigen::VectorXd ratio_influence(const TemperedChain& chain, Assignment assignment, int rung) {
  if (rung < 0 || rung >= chain.space().rungs())
    throw InvalidArgument(
        fmt::format("rung = {} (must be within 0..{})", rung, chain.space().rungs() - 1));
  const Eigen::VectorXd c = chain.rung_law();
  return assigned(chain, assignment, rung) / c[rung] - assigned(chain, assignment, 0) / c[0];
}

Eigen::VectorXd integral_influence(const TemperedChain& chain, Assignment assignment,
                                   const Eigen::VectorXd& quadrature) {
  const int rungs = chain.space().rungs();
  if (quadrature.size() != rungs)
    throw InvalidArgument(
        fmt::format("quadrature = {} values (must be {}, one a rung)", quadrature.size(), rungs));
  const Eigen::VectorXd c = chain.rung_law();
  const Eigen::MatrixXd p = chain.space().p();
  Eigen::VectorXd result = Eigen::VectorXd::Zero(chain.size());
  for (int k = 0; k < rungs; ++k) {
    const Eigen::VectorXd slope = chain.space().slopes().col(k);
    const Eigen::VectorXd centred = slope.array() - p.col(k).dot(slope);
    const Eigen::VectorXd weight = assigned(chain, assignment, k) * (quadrature[k] / c[k]);
    result += weight.cwiseProduct(over_pairs(centred.replicate(1, rungs)));
  }
  return result;
}

RungFrequencies rung_frequencies(const TemperedChain& chain, Assignment assignment, int sweeps,
                                 int chains) {
  need_positive(chains, "chains");
  need_positive(sweeps, "sweeps");
  const Eigen::MatrixXd one = covariance_of_means(chain.matrix(), chain.stationary(),
                                                  all_assigned(chain, assignment), sweeps);
  return {chain.rung_law(), one / (static_cast<double>(sweeps) * chains)};
}

RungFrequencies independent_rung_frequencies(const TemperedChain& chain, Assignment assignment,
                                             int samples) {
  need_positive(samples, "samples");
  const Eigen::MatrixXd weights = all_assigned(chain, assignment);
  const Eigen::VectorXd c = chain.rung_law();
  const Eigen::MatrixXd centred = weights.rowwise() - c.transpose();
  return {c, centred.transpose() * chain.stationary().asDiagonal() * centred / samples};
}

RungSums exact_rung_sums(const TemperedChain& chain) {
  const Eigen::Index states = chain.space().states();
  const Eigen::VectorXd q =
      chain.stationary().reshaped(states, chain.space().rungs()).rowwise().sum();
  const Eigen::MatrixXd weight = q.asDiagonal() * chain.rung_given_state();
  const Eigen::MatrixXd& slopes = chain.space().slopes();
  const auto halves = [](const Eigen::MatrixXd& values) {
    return (0.5 * values.colwise().sum().transpose()).replicate(1, 2).eval();
  };
  RungSums sums{.weight = halves(weight),
                .first = halves(weight.cwiseProduct(slopes)),
                .second = halves(weight.cwiseProduct(slopes.cwiseAbs2()))};
  const Eigen::VectorXd low = chain.rung_given_state().col(0);
  const Eigen::VectorXd high = chain.rung_given_state().rightCols<1>();
  sums.end_squares << q.dot(low.cwiseAbs2()), q.dot(high.cwiseAbs2()),
      q.dot(low.cwiseProduct(high));
  sums.samples = 1;
  return sums;
}

}  // namespace boltzmark
