#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// A move of some units of one side from where they are.
struct UnitMove {
  std::vector<Eigen::Index> units;  ///< their numbers among those of all layers, the lowest first
  double to = 0;
  std::optional<double> beyond =
      std::nullopt;  ///< what is summed up: all values from here to `to`; none: `to`
};

/// Where chains end in which units were moved.
struct MovedUnits {
  Eigen::VectorXd log_weights;  ///< [chains]
  Eigen::MatrixXf values;       ///< of all units [units x chains]
};

inline constexpr int kMovedChains = kChainBlock;

/// Moves units of a model.
class UnitMover {
 public:
  /// Lifetime  the model must outlive it     Throws  as PackedModel
  explicit UnitMover(const Layered& model);

  /// Moves units from their values in the states to another in equal steps, everything else following by
  /// Gibbs sweeps; in all chains by one move, or in each by its own:
  ///   E[w] = Z(units at `to`) / Z(units at c_0),
  ///   log w = sum_t sum_u (c_{t+1} - c_t) (b_u + sum_i W_ui x_i),  c_0 of the state, .., c_T = to,
  /// if the states are samples given these values: annealed importance sampling of all other units. [Neal 2001]
  /// A pattern that the units alone hold is no barrier to that, for at each c its units are independent.
  /// Of a move with `beyond`, which has one unit: E[w] = integral from `beyond` to `to` of Z(unit at c) dc / Z(unit at
  /// c_0), by the steps' midpoint rule.
  /// Shapes      moves [1 or kMovedChains], all of units of one side; states of all units [units x kMovedChains], of
  ///   which those of the other side are not read
  /// Randomness  PhiloxDraws of key
  /// Cost        steps sweeps of kMovedChains chains
  MovedUnits move(const std::vector<UnitMove>& moves, int steps, const Eigen::MatrixXf& states,
                  StreamKey key) const;

 private:
  const Layered* model_;
  PackedModel packed_;
  std::vector<UnitPlace> places_;  // of each unit, the lowest layer first
};

}  // namespace boltzmark
