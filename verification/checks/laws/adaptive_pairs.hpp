#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// The kernel of adaptive simulated tempering on a small model while its weights g stand still, as
/// one Markov chain of pairs (x, k): x is swept at b_k, then k stepped given the new x. States are
/// indexed as in StateSpace; the last rung is b = 1.
///   pi(x, k) ~ f(x)^{b_k} / g_k                              [salakhutdinov2010, Eq. 10, Alg. 1]
struct AdaptivePairs {
  Eigen::VectorXd p = {};                    ///< the model's own law [states]
  Eigen::VectorXd log_f = {};                ///< -E(x) [states]
  Eigen::MatrixXd stationary = {};           ///< pi(x, k) [states x rungs]
  std::vector<Eigen::MatrixXd> sweeps = {};  ///< of each rung [states x states]
  std::vector<Eigen::MatrixXd> steps = {};   ///< of each rung: the law of the next [states x rungs]

  Eigen::Index states() const { return p.size(); }
  int rungs() const { return static_cast<int>(sweeps.size()); }
  int top() const { return rungs() - 1; }
};

/// Makes the double-precision law.  Shapes  log_g [rungs]
/// Throws  InvalidArgument if the model is not enumerable
AdaptivePairs exact_pairs(const Layered& model, const std::vector<float>& inverse_temperatures,
                          const Eigen::VectorXd& log_g, const Rule& rule = Rule::gibbs());

/// Recovers the law of the production code: sweeps by RecoveredSweep, steps by scripted draws from
/// AdaptiveChains.
AdaptivePairs recovered_pairs(const Layered& model, const std::vector<float>& inverse_temperatures,
                              const Eigen::VectorXd& log_g, const Rule& rule = Rule::gibbs());

/// Computes log Z_k = log sum_x f(x)^{b_k}, the weights at which rungs are visited evenly.
Eigen::VectorXd rung_log_z(const Layered& model, const std::vector<float>& inverse_temperatures);

/// The law of a pair (x, k) and of the state of a slow chain beside it: one matrix a rung.
/// Shapes  [slow states x states]
using JointLaw = std::vector<Eigen::MatrixXd>;

/// Makes p(x_slow) pi(x_fast, k).
JointLaw product_law(const AdaptivePairs& pairs);

/// Takes a joint law through a sweep of both chains, a rung step and the exchange, if there is one
/// then; `last` is not of this kind.  `at_lag` tells whether a lag ends.
JointLaw advance(const AdaptivePairs& pairs, const JointLaw& law, SwapRule rule, bool at_lag);

/// Takes a joint law through the production code's sweeps, rung step and exchange, recovered by
/// scripted draws of CoupledChains from every joint state.
JointLaw recovered_advance(const Layered& model, const std::vector<float>& inverse_temperatures,
                           const Eigen::VectorXd& log_g, const JointLaw& law, SwapRule rule,
                           bool at_lag);

/// Computes max |a - b|.
double largest_difference(const JointLaw& a, const JointLaw& b);

}  // namespace boltzmark
