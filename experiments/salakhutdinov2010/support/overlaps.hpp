#pragma once

#include <Eigen/Core>
#include <optional>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark::experiments {

/// Overlaps of the states that a sampler gives with one pattern, the first half of the visible units
/// on and the second off (of an image: its upper half), and how long they are correlated.
class Overlaps {
 public:
  /// Shapes  of so many records of a sampler's chains
  Overlaps(int records, int chains) : values_(Eigen::MatrixXd::Zero(records, chains)) {}

  /// Takes the next record, if there is one left.
  /// Throws  InvalidArgument if the sampler has other chains
  void see(const Sampler& sampler, const Layered& model);
  /// Takes it of visible states.  Shapes  visible [units x chains]
  void see(const Eigen::Ref<const Eigen::MatrixXf>& visible);

  /// Their autocorrelation time by Geyer's sequence, in records, infinite if none ever moves; and whether
  /// batch means support it: a coupled chain's swaps bring old states back, so that a sequence may be cut
  /// at their lag.
  struct Time {
    double tau = 0;
    bool supported = false;
  };
  Time time() const;

  void save(CheckpointWriter& out) const;
  void restore(CheckpointReader& in);

 private:
  Eigen::Index seen_ = 0;
  std::optional<Chains> states_;  ///< a sampler's, kept for their memory
  Eigen::MatrixXd values_;        ///< [records x chains]
};

}  // namespace boltzmark::experiments
