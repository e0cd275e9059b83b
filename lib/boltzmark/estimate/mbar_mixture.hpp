#pragma once

#include <Eigen/Core>

#include "boltzmark/estimate/mixture_solver.hpp"

namespace boltzmark {

/// Sums over samples that are known by D alone, in chunks that stay in the cache. Chunks belong to
/// a fixed number of blocks whatever the threads, and blocks are added in their order.
/// With l_k(n) = b_k D_n + offset_k:
class SampleChunks {
 public:
  /// Keeps references.  Shapes  inverse_temperatures [rungs], log_ratio = D [any]
  SampleChunks(const Eigen::VectorXd& inverse_temperatures, const Eigen::MatrixXd& log_ratio);

  /// Sums log sum_k e^l_k, p_k and (if wanted) p_j p_k over samples, p = softmax(l).
  MixturePoint sum(const Eigen::VectorXd& offset, bool with_overlap) const;
  /// Computes log sum_k e^l_k of each sample.  Shapes  result [samples]
  Eigen::VectorXd log_sums(const Eigen::VectorXd& offset) const;
  /// Sums w_j w_k over samples, w_k = e^(l_k - log_mixture).  Shapes  log_mixture [samples]
  Eigen::MatrixXd weight_products(const Eigen::VectorXd& offset,
                                  const Eigen::VectorXd& log_mixture) const;
  /// Computes sum_k c_k w_k of each sample.  Shapes  c [rungs], result [samples]
  Eigen::VectorXd weighted_sums(const Eigen::VectorXd& offset, const Eigen::VectorXd& log_mixture,
                                const Eigen::VectorXd& c) const;

 private:
  // Calls body(block, first sample, l [rungs x samples of the chunk]) for every chunk.
  template <class Body>
  void for_chunks(const Eigen::VectorXd& offset, const Body& body) const;

  const Eigen::VectorXd& inverse_temperatures_;
  Eigen::Map<const Eigen::VectorXd> log_ratio_;
};

}  // namespace boltzmark
