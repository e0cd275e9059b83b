#pragma once

#include <vector>

namespace boltzmark {

/// The rungs of a ladder b_k = k/(K-1) at which sums of log(1 + e^{-b z}) are worked out, and the
/// polynomial in log b that gives the others.
///
/// For every z >= 0 the function is analytic in Re b > 0, that is for |Im log b| < pi/2, so that
/// one polynomial in log b serves all z and every rung but b = 0. Through some 6.5 log K of the
/// rungs, chosen as Leja points, it is off by at most 1e-10 a unit for K up to 5,000 (a test
/// measures it) and little more beyond: K = 100 takes 31 rungs of work, K = 1001 takes 45.
class RungNodes {
 public:
  /// A rung as weights of nodes()[1], nodes()[2], ...
  struct Interpolated {
    int rung;
    std::vector<double> weights;
  };

  /// Throws  InvalidArgument if rungs < 2
  explicit RungNodes(int rungs);

  int rungs() const { return rungs_; }
  const std::vector<int>& nodes() const { return nodes_; }  ///< ascending rung numbers, 0 first
  const std::vector<Interpolated>& interpolated() const { return interpolated_; }

 private:
  int rungs_;
  std::vector<int> nodes_;
  std::vector<Interpolated> interpolated_;
};

}  // namespace boltzmark
