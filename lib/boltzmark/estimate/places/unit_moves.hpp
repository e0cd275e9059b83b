#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/model/unit.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// The layers of one parity and the others (list_side), with the numbers of their units among those of all layers,
/// the lowest first.
struct NumberedSides {
  Bipartite sides;
  std::vector<Eigen::Index> units, others;

  /// Throws  InvalidArgument if a layer is Gaussian
  NumberedSides(const Layered& model, int parity);
};

/// Computes the value of a unit that a uniform number in (0, 1) stands for, its law being proportional to
/// e^{input x}.
/// Invariant  the unit is not Gaussian
double value_at(Unit unit, double input, double uniform);

/// Units of a side that are moved together.
using UnitGroup = std::vector<Eigen::Index>;

/// What mean field tells of a value of a group.
struct HeldMeans {
  double log_ratio = 0;       ///< of the mass of states that have it, to that of all
  double change = 0;          ///< of its units' inputs in all, to what they are where none is held
  Eigen::VectorXf ends = {};  ///< means of all units [units], the lowest layer first
};

/// Finds it by a few updates from means of the side's units, for each of some groups held at a value.
/// Shapes  means [units of the side]; groups, values [held]     Units  nats
/// Cost    nine products of the weights and a vector for each
std::vector<HeldMeans> hold_each(const NumberedSides& side, const Eigen::VectorXd& means,
                                 const std::vector<UnitGroup>& groups,
                                 const std::vector<double>& values);

/// A move of a group from where its units are.
struct UnitMove {
  UnitGroup units;
  double to = 0;
  std::optional<double> beyond =
      std::nullopt;  ///< what is summed up: all values from here to `to`; none: `to`
};

/// Where chains end of which a group was moved.
struct MovedUnits {
  Eigen::VectorXd log_weights;  ///< [chains]
  Eigen::MatrixXf values;       ///< of all units [units x chains]
};

inline constexpr int kMovedChains = 16;

/// Moves units of the side from their values in the states to another in equal steps, everything else following by
/// Gibbs sweeps; in all chains by one move, or in each by its own:
///   E[w] = Z(units at `to`) / Z(units at c_0),
///   log w = sum_t sum_u (c_{t+1} - c_t) (b_u + sum_i W_ui x_i),  c_0 of the state, .., c_T = to,
/// if the states are samples given these values: annealed importance sampling of all other units. [Neal 2001]
/// A pattern that the units alone hold is no barrier to that, for at each c its units are independent.
/// Of a move with `beyond`, which has one unit: E[w] = integral from `beyond` to `to` of Z(unit at c) dc / Z(unit at c_0),
/// by the steps' midpoint rule.
/// Shapes      moves [1 or kMovedChains]; states [units of the side x kMovedChains]
/// Randomness  PhiloxDraws of key, in single precision
/// Cost        steps sweeps of kMovedChains chains
MovedUnits move_units(const NumberedSides& side, const std::vector<UnitMove>& moves, int steps,
                      const Eigen::MatrixXf& states, StreamKey key);

}  // namespace boltzmark
