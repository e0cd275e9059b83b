#pragma once

#include <string>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// The errors of one method from every pool with some number of rungs, in nats.
/// Shapes  [pools][estimates of a pool]
std::vector<std::vector<double>> rung_errors(const Results& results, const std::string& model,
                                             int rungs, const std::string& method);

/// Lists the numbers of rungs, of at least `least`, of which there are estimates by a method.
std::vector<int> rungs_estimated(const Results& results, const std::string& model,
                                 const std::string& method, int least);

/// The pools of chains at one number of rungs, and how many runs were refused for their mixing.
struct PoolCount {
  int all = 0, refused = 0;
  std::int64_t fewest_trips = 0, most_trips = 0;  ///< round trips of a run between b = 0 and 1
};
/// Counts them; exact pools are none of chains, and none is refused.
PoolCount count_pools(const Results& results, const std::string& model, int rungs);

/// Mean squares of the errors of one method at several numbers of rungs, from which RMSEs are made
/// for any choice of bootstrap rows. A row is a pool of chains: its estimates share its error. Of
/// independent draws there is one large pool, and a row is an estimate.
class RungErrors {
 public:
  /// Of each pool the first `most` estimates, or all.
  /// Throws  InvalidArgument if a number of rungs has no estimate, or its pools not equally many
  RungErrors(const Results& results, const std::string& model, const std::string& method,
             std::vector<int> rungs, int most = 0);

  const std::vector<int>& rungs() const { return rungs_; }
  /// The rows of each number of rungs: strata, since pools are independent.  Shapes  [rungs()]
  std::vector<std::size_t> rows() const;
  bool has(int rungs) const;

  /// The RMSE at one number of rungs, in nats, of the rows drawn of every stratum.
  double rmse(int rungs, const Strata& rows) const;
  /// The largest RMSE over the smallest.
  double spread(const Strata& rows) const;
  /// The RMSE at each number of rungs, in nats, with its 95 % interval by bootstrap_strata; without
  /// one where there is a single row.  Shapes  [rungs()]
  std::vector<WithInterval> estimates() const;

 private:
  double rmse_of(std::size_t point, const std::vector<std::size_t>& rows) const;

  std::vector<int> rungs_;
  std::vector<std::vector<double>> squares_;  ///< nats squared [rungs][rows]
};

}  // namespace boltzmark::experiments
