#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Most units of a model whose states are enumerated one by one.
inline constexpr int kMaxStateUnits = 24;
/// Most states of a dense transition matrix (128 MiB).
inline constexpr std::size_t kMaxDenseStates = 4096;

/// Every state of a small binary model: its index, its probability and the inputs of its units.
/// Units are counted through the layers, visible layer first; bit u of a state's index is unit u.
/// Cost  memory 8 * 2^units bytes, time 2^units
class StateSpace {
 public:
  /// One unit's place in its model.
  struct Place {
    int layer = 0;
    int unit = 0;      ///< within its layer
    bool odd = false;  ///< updated in the first half of a sweep
  };

  /// Throws  InvalidArgument if a unit is not Bernoulli or there are more than kMaxStateUnits
  explicit StateSpace(const Layered& model);

  int units() const { return static_cast<int>(places_.size()); }
  std::size_t states() const { return std::size_t{1} << units(); }
  const Place& place(int unit) const { return places_[unit]; }

  /// Returns log p of every state, normalised.  Shapes  [states]    Units  nats
  const Eigen::VectorXd& log_p() const { return log_p_; }
  /// Returns the stationary distribution.  Shapes  [states]
  Eigen::VectorXd p() const { return log_p_.array().exp(); }
  double log_z() const { return log_z_; }

  /// Computes the input of a unit, log p(1)/p(0) given the others: bias first, then the weights of
  /// the units that are on, in the order of units.
  double input(int unit, std::size_t state) const;
  bool on(int unit, std::size_t state) const { return (state >> unit) & 1U; }

  /// The units of one side, ascending: parity 1 the odd layers (hidden), parity 0 the even ones.
  const std::vector<int>& side(int parity) const { return sides_[parity]; }
  /// The bits of one side's units.
  std::size_t side_mask(int parity) const { return masks_[parity]; }

  /// Computes the inputs of all units of one side for every state of the other side.
  /// Shapes  [2^(other side) x units of this side]; row r has bit k set for the other side's k-th
  /// unit
  Eigen::MatrixXd inputs(int parity) const;

  /// Converts between an index and the layers' values.
  State state(std::size_t index) const;
  std::size_t index(const State& state) const;

 private:
  std::vector<Place> places_;
  std::vector<int> sides_[2];
  std::size_t masks_[2] = {0, 0};
  Eigen::VectorXd bias_;      // [units]
  Eigen::MatrixXd coupling_;  // [units x units], symmetric
  std::vector<int> sizes_;    // of the layers
  Eigen::VectorXd log_p_;
  double log_z_ = 0;
};

}  // namespace boltzmark
