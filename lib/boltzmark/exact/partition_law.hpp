#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/partition.hpp"

namespace boltzmark {

/// What a chain on a partition starts from, and where it ends.
struct PartitionStart {
  Eigen::VectorXd law;         ///< of its first state [states]; all weights are 1
  std::vector<int> ends = {};  ///< sets whose first visit ends the chain
};

/// Makes the law that is one state.  Throws  InvalidArgument if there is no such state
Eigen::VectorXd point_law(const Partition& partition, std::size_t state);

/// Computes the law of a chain's state after each update: of (state, visits of each set), the
/// weights being a function of the visits, propagated whole and summed over the visits. Chains that
/// have ended are missing from it.
/// Shapes  result [states x updates + 1], column t after t updates
/// Throws  InvalidArgument if the visits do not fix the weights, the rule's set is none of the
/// partition's, the law has not one number a state, updates < 0, or states x (updates + 1)^(sets - 1) exceeds 2^24
/// Accuracy  at most 1e-20 is lost of each composition of t = 0..updates into visits of the sets
/// Cost  a sweep of a vector over the states for each composition that holds more
Eigen::MatrixXd partition_law(const Partition& partition, const WeightRule& rule,
                              const PartitionStart& start, int updates);

/// Computes the share of updates 1..n that end in each set, from their laws.  Shapes  [sets]
Eigen::VectorXd occupancies(const Partition& partition,
                            const Eigen::Ref<const Eigen::MatrixXd>& laws);

}  // namespace boltzmark
