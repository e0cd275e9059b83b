#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"

namespace boltzmark {

/// The exact long-run behaviour of the average of a function along a stationary chain.
struct AsymptoticVariance {
  double mean = 0;        ///< E f
  double variance = 0;    ///< Var f under p
  double asymptotic = 0;  ///< lim N Var(mean of N)
  double time = 0;        ///< tau = asymptotic / variance; 0 if the function is constant
};

/// Solves for the asymptotic variance of an average.
///   v = <f0, (2 Z - I) f0>_p,  Z = (I - T + 1 p')^{-1},  f0 = f - E f
///                                                      [bruegge2013, Sec. 4.3; Kemeny and Snell]
/// Shapes  matrix [states x states], p and f [states]
/// Throws  InvalidArgument if shapes differ, Error if the chain has more than one recurrent class
AsymptoticVariance asymptotic_variance(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                                       const Eigen::Ref<const Eigen::VectorXd>& p,
                                       const Eigen::Ref<const Eigen::VectorXd>& f);

/// Solves for the covariances of several functions' averages:  lim N Cov(mean f_i, mean f_j).
/// Shapes  functions [states x functions], result [functions x functions]
/// Throws  as asymptotic_variance
Eigen::MatrixXd asymptotic_covariance(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                                      const Eigen::Ref<const Eigen::VectorXd>& p,
                                      const Eigen::Ref<const Eigen::MatrixXd>& functions);

/// Computes asymptotic_variance in the well-conditioned symmetrised coordinates of a model's
/// kernel.
AsymptoticVariance asymptotic_variance(const StateSpace& space, const Rule& rule, Scan scan,
                                       const Eigen::Ref<const Eigen::VectorXd>& f);

/// Computes tau from the eigenvalues, an independent route to the above.
///   tau = sum_i a_i (1 + lambda_i) / (1 - lambda_i),  a_i the share of f's variance that left and
///   right eigenvectors i carry
/// Throws  Error if the kernel has no complete set of eigenvectors to working precision
double spectral_autocorrelation_time(const StateSpace& space, const Rule& rule, Scan scan,
                                     const Eigen::Ref<const Eigen::VectorXd>& f);

/// Computes the energy of every state, the function of the paper's autocorrelations.  Units  nats
Eigen::VectorXd state_energies(const StateSpace& space);

}  // namespace boltzmark
