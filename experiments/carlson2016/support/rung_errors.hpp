#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {

/// The errors of one method from every pool with some number of rungs, pool by pool.
std::vector<std::vector<double>> rung_errors(const Results& results, const std::string& model,
                                             int rungs, const std::string& method);

/// Tells whether the chains of every such pool mixed; exact pools have.
bool rung_pools_mixed(const Results& results, const std::string& model, int rungs);

/// Mean squares of the errors of one method at several numbers of rungs, from which RMSEs are made
/// for any choice of bootstrap rows. A row is a pool where there are at least 5, and otherwise an
/// estimate.
class RungErrors {
 public:
  /// Only numbers of rungs of at least `least` whose pools mixed; of each pool the first `most`
  /// estimates, or all.
  RungErrors(const Results& results, const std::string& model, const std::string& method, int least,
             int most = 0);

  std::size_t rows() const { return rows_; }
  const std::vector<int>& rungs() const { return rungs_; }
  bool has(int rungs) const;

  double rmse(int rungs, std::span<const std::size_t> rows) const;
  /// The largest RMSE over the smallest.
  double spread(std::span<const std::size_t> rows) const;

 private:
  double rmse_of(std::size_t point, std::span<const std::size_t> rows) const;

  std::vector<int> rungs_;
  std::vector<std::vector<double>> squares_;
  std::size_t rows_ = 0;
};

}  // namespace boltzmark::experiments
