#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <vector>

#include "boltzmark/exact/rows.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Most states of a model whose states are enumerated one by one: 24 binary units.
inline constexpr std::size_t kMaxStates = std::size_t{1} << 24;
/// The same where several ranks share them: 32 binary units, if they have the memory.
inline constexpr std::size_t kMaxSharedStates = std::size_t{1} << 32;
/// Most states of a dense transition matrix (128 MiB).
inline constexpr std::size_t kMaxDenseStates = 4096;

/// Every state of a small discrete model: its index, its probability and the inputs of its units.
/// Units are counted through the layers, visible layer first; a state's index has the index of each
/// unit's value as a digit, unit 0 the lowest (bit u is unit u of a binary model). Of several ranks
/// each has what is said of every state for its own rows alone, to the same bits.
/// Cost  memory 8 bytes a state, time as many steps as states
class StateSpace {
 public:
  /// One unit's place in its model.
  struct Place {
    int layer = 0;
    int unit = 0;      ///< within its layer
    bool odd = false;  ///< updated in the first half of a sweep
    Unit kind = Unit::bernoulli();
    std::size_t stride = 1;  ///< what a step of its value adds to a state's index
  };

  /// ranks  share the states, and outlive the space
  /// Throws  InvalidArgument if a unit is not discrete or there are more than kMaxStates, on
  ///   several ranks kMaxSharedStates
  explicit StateSpace(const Layered& model, const Ranks& ranks = Ranks::serial());

  int units() const { return static_cast<int>(places_.size()); }
  std::size_t states() const { return side_states_[0] * side_states_[1]; }
  /// Returns which states are this rank's.
  const Rows& rows() const { return rows_; }
  const Place& place(int unit) const { return places_[unit]; }
  /// Counts the values of a unit.
  int values(int unit) const { return places_[unit].kind.values(); }

  /// Returns the index of a unit's value in a state, 0..values(unit)-1, and the value.
  int value_index(int unit, std::size_t state) const {
    return static_cast<int>(state / places_[unit].stride % static_cast<std::size_t>(values(unit)));
  }
  double value(int unit, std::size_t state) const {
    return places_[unit].kind.value(value_index(unit, state));
  }
  /// Returns the state that differs from `state` by a unit's having its k-th value.
  std::size_t moved(int unit, std::size_t state, int k) const {
    const auto now = static_cast<std::size_t>(value_index(unit, state));
    return state + (static_cast<std::size_t>(k) - now) * places_[unit].stride;
  }

  /// Returns log p of every state, normalised.  Shapes  [own rows]    Units  nats
  const Eigen::VectorXd& log_p() const { return log_p_; }
  /// Returns the stationary distribution.  Shapes  [own rows]
  Eigen::VectorXd p() const { return log_p_.array().exp(); }
  double log_z() const { return log_z_; }
  /// Returns the log of the reference measure of each state.
  double log_weight() const { return log_weight_; }

  /// Computes the input of a unit, which makes p ~ e^{input value} given the others: bias first,
  /// then the weights times the values of the others, in the order of units.
  double input(int unit, std::size_t state) const;

  /// The units of one side, ascending: parity 1 the odd layers (hidden), parity 0 the even ones.
  const std::vector<int>& side(int parity) const { return sides_[parity]; }
  /// Counts the states of one side.
  std::size_t side_states(int parity) const { return side_states_[parity]; }
  /// Returns the index of a state's one side among that side's states, digits as in a whole state.
  std::size_t side_part(int parity, std::size_t state) const;
  /// Returns the whole state with this part on one side and the lowest values on the other; states
  /// are sums of such of both sides.
  std::size_t side_state(int parity, std::size_t part) const;

  /// Computes the inputs of all units of one side for every state of the other side.
  /// Shapes  [states of the other side x units of this side], rows as side_part
  Eigen::MatrixXd inputs(int parity) const { return inputs(parity, 0, side_states_[1 - parity]); }
  /// The same for a run of the other side's states.  Shapes  [count x units of this side]
  Eigen::MatrixXd inputs(int parity, std::size_t first, std::size_t count) const;

 private:
  void fill_log_f();
  std::vector<Place> places_;
  std::array<std::vector<int>, 2> sides_;
  std::array<std::size_t, 2> side_states_ = {1, 1};
  Eigen::VectorXd bias_;      // [units]
  Eigen::MatrixXd coupling_;  // [units x units], symmetric
  Rows rows_{0};
  Eigen::VectorXd log_p_;
  double log_z_ = 0;
  double log_weight_ = 0;
};

}  // namespace boltzmark
