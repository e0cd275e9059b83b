#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"

namespace boltzmark {

/// Computes the log weight of a state from the inputs that it gives the other side.
/// Shapes  inputs [m], for Gaussian units without the bias; linear is constant + sum_i bias_i e_i
double log_weight(const Bipartite& sides, const Eigen::Ref<const Eigen::VectorXd>& inputs,
                  double linear);

/// Bounds the error of any state's log weight, in units of u = 2^-53 and but for 1 % of itself;
/// `more` roundings of every input and of the linear terms than their sums take count too.
double log_weight_roundings(const Bipartite& sides, double more = 0);

/// Walks the states of the enumerated side in order, the first unit fastest, keeping the inputs of
/// the other side. Inputs are sums in a fixed order, never updated by differences, so that they do
/// not drift and do not depend on where the walk began.
/// Cost  about two vector additions a state
class StateWalk {
 public:
  StateWalk(const Bipartite& sides, std::uint64_t first);

  /// Moves to the next state; wraps to 0 after the last.
  void next();

  double value(int i) const { return sides_.enumerated[i].value(digits_[i]); }
  /// Returns the inputs of the other side, [m] (for Gaussian units without the bias).
  auto inputs() const { return inputs_.col(0); }
  /// Returns constant + sum_i bias_i e_i.
  double linear() const { return linear_[0]; }
  /// Computes the log weight of the state.
  double log_weight() const;

 private:
  void rebuild(int top);
  const Bipartite& sides_;
  std::vector<int> digits_;
  Eigen::MatrixXd inputs_;      ///< column i: bias and the units i and above
  std::vector<double> linear_;  ///< likewise
};

/// The enumeration in logarithms, state by state: for any unit and any size of weight.
class PlainSum final : public ChunkedSum {
 public:
  explicit PlainSum(const Bipartite& sides);
  std::uint64_t chunks() const override;
  ScaledSum sum(std::uint64_t chunk) const override;
  double error_bound() const override;
  double seconds() const override;
  const char* name() const override { return "plain"; }

 private:
  const Bipartite& sides_;
  std::uint64_t chunk_states_;
};

}  // namespace boltzmark
