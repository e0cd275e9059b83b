#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/fixed_points.hpp"

namespace boltzmark {

/// A state of the enumerated side of a view, and what its log weight is made of.
struct ListedState {
  std::u16string indices;  ///< of every unit's value [n]
  Eigen::VectorXd inputs;  ///< of the other side [m]
  double linear = 0;       ///< constant + sum_i bias_i e_i
  double log_weight = 0;
};

/// Computes all that of a state from its indices.
ListedState weigh(const Bipartite& sides, std::u16string indices);
/// Does so after a step of one unit's value from a state that is known.
/// Cost  a logarithm and an exponential a unit of the other side
double log_weight_beside(const Bipartite& sides, const ListedState& state, int unit, int index,
                         Eigen::VectorXd& scratch);
/// Goes from a state to neighbours of higher weight, unit after unit, one unit's value by one step,
/// until there is none or so many rounds over all units were made.
ListedState climb(const Bipartite& sides, ListedState state, int max_rounds);

/// Goes from a state to its neighbour of highest weight, one unit's value by one step, until there is none that is
/// higher or so many steps were made. Where units that hold a pattern together are among others that hold none, the
/// first to go are those whose going gains most, the others.
/// Cost  for each step as log_weight_beside for every unit, twice where it has more than two values
ListedState climb_steepest(const Bipartite& sides, ListedState state, int most_steps);

/// Different states of the enumerated side of a view, their log weights, and the log of the sum of
/// these: a lower bound of log Z.
/// States are told apart by 64 bits of hash. Of two that share them the second is left out, so that
/// none ever counts twice.
class StateList {
 public:
  /// The view must outlive it.  Throws  InvalidArgument if the view is not resolved (kUnresolved)
  explicit StateList(const Bipartite& sides);

  /// Adds states unless they are there already.
  void add(const SideStates& states);
  void add(const ListedState& state);
  /// Takes the likeliest state whose neighbours are not there yet and adds them, those in which one
  /// unit's value is one step away, until there are most_states, none is left to take, or 2^28 log partitions were computed.
  /// Invariant  the same states in the same order for any number of threads
  void grow(std::size_t most_states);

  std::size_t states() const { return listed_.size(); }
  /// Tells whether a state, or another of its hash, is there.  Shapes  [units of the side]
  bool contains(std::span<const char16_t> indices) const {
    return listed_.contains(hash_of(indices));
  }
  /// Returns the indices of the likeliest state.
  std::u16string likeliest() const;
  /// Returns the log of the sum of all weights.  Units  nats
  double log_sum() const { return sum_.log(); }
  /// Bounds the error of log_sum.
  double error_bound() const;
  /// Tells whether no state can be missing but one of equal hash: all neighbours are there.
  bool is_closed() const { return growing_.empty(); }

 private:
  using Indices = std::u16string;  // of every unit's value
  /// A state as the step that leads to it from one of origins_.
  struct Candidate {
    double log_weight = 0;
    std::uint64_t hash = 0;
    std::size_t origin = 0;
    int unit = -1;  ///< none: the origin itself
    char16_t index = 0;
  };

  std::uint64_t hash_of(std::span<const char16_t> state) const;
  Indices state_of(const Candidate& candidate) const;
  std::vector<Candidate> neighbours(std::size_t origin) const;
  void add(const Candidate& candidate);

  const Bipartite& sides_;
  ScaledSum sum_;
  std::unordered_set<std::uint64_t> listed_;
  std::vector<Indices> origins_;
  std::vector<Candidate> candidates_;
  std::priority_queue<std::pair<double, std::size_t>> growing_;  // log weight, candidate
};

}  // namespace boltzmark
