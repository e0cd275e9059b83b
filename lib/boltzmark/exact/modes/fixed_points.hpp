#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Distinct states of the layers of one parity, in the order in which they were added.
class SideStates {
 public:
  /// Throws  InvalidArgument if a layer of that parity is not discrete
  SideStates(const Layered& model, int parity);

  int parity() const { return parity_; }
  int size() const { return static_cast<int>(states_.size()); }
  /// Adds a chain's state unless it is there already; returns its number.
  int add(const Chains& chains, int chain);
  /// Adds those of all chains.
  void add(const Chains& chains);
  /// Lists the index of every unit's value, the lowest layer first.  Shapes  [units of the side]
  std::span<const char16_t> operator[](int state) const { return *states_[state]; }

 private:
  int parity_;
  std::u16string scratch_;
  std::unordered_map<std::u16string, int> numbers_;
  std::vector<const std::u16string*> states_;
};

/// States that a climb does not leave, or where it was after max_sweeps.
struct FixedPoints {
  int parity = 1;           ///< of the side whose states they are, the one with fewer
  Chains states;            ///< distinct on that side; the other at its means given it
  std::vector<int> basins;  ///< climbs that ended in each
  /// Those of the other side's marginal law, distinct on that side, this one at its likeliest values; none
  /// where that is not discrete.
  std::optional<Chains> others = std::nullopt;

  int count() const { return states.chains(); }
};

/// Returns every unit's value, the lowest layer first.  Shapes  [units x chains]
Eigen::MatrixXf all_values(const Chains& chains);

/// Chooses so many different points, each as far as can be from those before, the first one first.
///                                                                                  [Gonzalez 1985]
/// Shapes  points [coordinates x points]; returns their numbers, fewer where all others are equal
std::vector<int> farthest_first(const Eigen::Ref<const Eigen::MatrixXf>& points, int most);

/// Finds fixed points of climbs on log f(x), x the side with fewer states, the other side summed out.
///   A climb first goes up log f of the joint state, every unit of a side at once to the value that
///   is likeliest given the other side, until no unit moves. Then it goes up log f(x): log f is
///   convex in x, a sum of linear terms and log partitions, so the vertex x' that maximises its
///   tangent, the likeliest values given the other side's means, has log f(x') >= log f(x)
///                                                                     [Yuille and Rangarajan 2003]
/// From where the joint climbs end the other side's marginal law is climbed as well.
/// Shapes      search.cases [visible x cases]
/// Randomness  search.key: the starts, and which value a unit of input 0 takes, sweep by sweep
/// Invariant   the same states in the same order for any number of threads
/// Throws      InvalidArgument if neither side is discrete, a layer is Gaussian, or the cases are no
///   visible states
/// Cost        about starts (annealing_sweeps + 20) + 20 further_starts sweeps of one chain, at most
///   2 max_sweeps a start
FixedPoints find_fixed_points(const Layered& model, const Base& base,
                              const FixedPointSearch& search);

}  // namespace boltzmark
