#pragma once

#include <array>
#include <vector>

namespace boltzmark {

/// The rungs of a ladder b_k = k/(K-1) at which sums of log(1 + e^{-b z}) are worked out, and the
/// polynomials that give the other rungs.
///
/// For every z >= 0 the function is analytic in Re b > 0, so that on each [h/5, h] one polynomial
/// serves all z: through kNodes of the rungs, chosen as Leja points, it is off by at most 1e-10 a
/// unit (a test measures it). K = 100 takes 44 rungs of work, K = 1001 takes 80.
class RungNodes {
 public:
  static constexpr int kNodes = 24;
  /// A rung as weights of the nodes first_node, ..., first_node + kNodes - 1.
  struct Interpolated {
    int rung;
    int first_node;
    std::array<double, kNodes> weights;
  };

  /// Throws  InvalidArgument if rungs < 2
  explicit RungNodes(int rungs);

  int rungs() const { return rungs_; }
  const std::vector<int>& nodes() const { return nodes_; }  ///< ascending rung numbers, 0 first
  const std::vector<Interpolated>& interpolated() const { return interpolated_; }

 private:
  void add_piece(int first, int last);

  int rungs_;
  std::vector<int> nodes_;
  std::vector<Interpolated> interpolated_;
};

}  // namespace boltzmark
