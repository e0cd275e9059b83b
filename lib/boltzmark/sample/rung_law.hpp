#pragma once

#include <Eigen/Core>

#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

/// Computes q(b_k | x) of single stored states.                              [carlson2016, Eq. 7]
class RungLaw {
 public:
  /// Keeps a reference to the store.
  /// Throws  InvalidArgument as SampleStore::check, if rungs were not drawn by simulated tempering,
  /// or if collapsed states are asked for and the store has none
  RungLaw(const SampleStore& store, States states);
  /// Writes the law of the sample at a place of store.log_ratio.data().  Shapes  out [rungs]
  void operator()(Eigen::Index place, Eigen::VectorXd& out) const;

 private:
  const SampleStore& store_;
  States states_;
  Eigen::VectorXd inverse_temperatures_;
  Eigen::VectorXd log_weight_;
};

/// Sums q(b_k | x) of the stored states by rung.  Throws  as RungLaw
RungSums sum_soft(const SampleStore& store, States states);

}  // namespace boltzmark
