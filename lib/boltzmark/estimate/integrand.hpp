#pragma once

#include <Eigen/Core>

#include "boltzmark/estimate/quadrature.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/target/ladder.hpp"

namespace boltzmark {

/// The integral of E[D | b] by one rule, and how it depends on the moments of each rung.
struct Integral {
  Eigen::VectorXd log_z_rungs;  ///< to each rung, first 0
  Eigen::VectorXd by_mean;      ///< N / (sum_n w_kn) d log Z / d E_k
  Eigen::VectorXd by_variance;  ///< N / (sum_n w_kn) d log Z / d V_k
};

/// The mean E_k and the variance V_k of D at every rung, from sums over samples.
/// A rung without samples takes both from its visited neighbours, linearly in b.
class Integrand {
 public:
  /// Keeps references.
  /// Throws  InvalidArgument if shapes disagree, sums of D are not kept, or no rung was visited
  Integrand(const RungSums& sums, const Ladder& ladder);

  const Eigen::VectorXd& counts() const { return counts_; }  ///< sum_n w_kn [rungs]
  Integral integrate(Quadrature quadrature) const;

  /// Computes the influence of a sample with D = log_ratio on an integral.
  ///   sum_k w_k (a_k (D - E_k) + v_k ((D - E_k)^2 - V_k)),  a, v = by_mean, by_variance
  /// Shapes  weights [rungs]
  double influence(const Integral& integral, const Eigen::VectorXd& weights,
                   double log_ratio) const;
  /// Sums the influences of each group of samples.  Shapes  result [groups]
  Eigen::VectorXd group_influences(const Integral& integral) const;
  /// Computes the mean square of influences if each sample were given to one rung, by_mean alone.
  double hard_mean_square(const Integral& integral) const;

 private:
  // Moments of a rung are `share` those of rung `below` and 1 - share those of rung `above`.
  struct Source {
    Eigen::Index below = 0, above = 0;
    double share = 1;
  };
  Source source(Eigen::Index rung) const;

  const RungSums& sums_;
  const Ladder& ladder_;
  Eigen::VectorXd counts_, mean_, variance_;
};

}  // namespace boltzmark
