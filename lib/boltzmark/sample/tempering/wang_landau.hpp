#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/sample/chains/adaptive_options.hpp"

namespace boltzmark {

/// Raises the adaptive weight of one rung, and keeps all relative to the last rung's.
///   log g_k <- log g_k + increase                              [salakhutdinov2010, Eq. 5, Alg. 1.5]
void raise_weight(std::span<double> log_g, int rung, double increase);

/// The adaptive weights g of chains on a ladder, all 1 at first, that grow where chains are.
///   own     log g_k += log(1 + gamma_t) where the chain is
///   shared  log g_k += log(1 + gamma_t) n_k / chains, n_k of which are on rung k
class AdaptiveWeights {
 public:
  /// Throws  InvalidArgument if the factor's size is not positive and finite
  AdaptiveWeights(int rungs, int chains, const AdaptingFactor& factor, WeightSharing sharing);

  /// Returns log g of a chain, relative to its last rung's.  Shapes  [rungs]
  std::span<const double> log_g(int chain) const;
  /// Raises the weights where the chains are now.  Shapes  rungs [chains]
  void update(std::span<const int> rungs);

  /// Goes on from other weights of every chain.
  /// Throws  InvalidArgument unless there is a finite one for each rung
  void set(const Eigen::VectorXd& log_g);

  void save(CheckpointWriter& out) const;
  void restore(CheckpointReader& in);

 private:
  Eigen::Index set_of(int chain) const { return log_g_.cols() == 1 ? 0 : chain; }

  AdaptingFactor factor_;
  Eigen::MatrixXd log_g_;  ///< [rungs x chains, or 1 where shared]
  std::uint64_t updates_ = 0;
};

}  // namespace boltzmark
