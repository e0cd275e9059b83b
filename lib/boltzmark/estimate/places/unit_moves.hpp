#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/model/unit.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Whether a unit has so many values that it moves as if all between them were its own.
inline bool is_range(Unit unit) {
  constexpr int kFew = 16;
  return !unit.is_discrete() || unit.values() > kFew;
}

/// A move of some units from where they are.
struct UnitMove {
  std::vector<Eigen::Index> units;  ///< their numbers among those of all layers, the lowest first
  std::vector<ValueRange> from;     ///< within which each is; of no width: its own value
  /// Within which each ends; of a unit of many values (is_range) of a width where `from` has one.
  std::vector<ValueRange> to;
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

  /// Moves units from their values in the states to others in equal steps, everything else following by
  /// Gibbs sweeps; in all chains by one move, or in each by its own. Units of many values stay where they are in their
  /// range as it moves and stretches; those of few go by one of the ways from a value in `from` to one in `to`. The place
  /// or the way is drawn anew after each step:
  ///   E[w] = Z(units in `to`) / Z(units in `from`),
  ///   log w = sum_u log (width of `to` / width of `from`) + sum_t sum_u (c'_{t+1} - c_t) (b_u + sum_i W_ui x_i),
  /// c_t a unit's value, c'_{t+1} where the next step takes it, of few values their number for the width, for each way
  /// counts; if the states are samples given that the units are in `from`: annealed importance sampling. [Neal 2001]
  /// A pattern that the units alone hold is no barrier to that, for at each step its units are independent. Units of both
  /// sides move in turn, each given where the others are, so that weights between them are no barrier either.
  /// Shapes      moves [1 or kMovedChains], their first units of one side; states of all units [units x kMovedChains], of
  ///   which units of the other side that do not move are not read
  /// Randomness  PhiloxDraws and streams of key
  /// Cost        steps sweeps of kMovedChains chains
  MovedUnits move(const std::vector<UnitMove>& moves, int steps, const Eigen::MatrixXf& states,
                  StreamKey key) const;

 private:
  const Layered* model_;
  PackedModel packed_;
  std::vector<UnitPlace> places_;  // of each unit, the lowest layer first
};

}  // namespace boltzmark
