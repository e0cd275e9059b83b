#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>

namespace boltzmark {

/// Chains first .. first + count - 1 of a run.
struct ChainRange {
  int first = 0;
  int count = 0;
};

/// Processes that share the chains of a run: each makes a range of them, which may be empty, and has the
/// log weights of all.
struct SharedChains {
  int rank = 0;
  int ranks = 1;
  /// Gives every process the values of all chains, of which it has set its own range. All processes
  /// call it.
  /// failure  what went wrong with the own range; empty: nothing
  /// Throws   Error at every process if anything went wrong at one
  std::function<void(Eigen::VectorXd& values, const ChainRange& own, const std::string& failure)>
      exchange = {};

  /// Returns this process's chains of so many: whole blocks of kChainBlock, in the order of ranks.
  ChainRange range(int chains) const;
};

}  // namespace boltzmark
