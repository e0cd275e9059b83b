#pragma once

#include <Eigen/Core>
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

/// What mean field tells of a value of one unit.
struct HeldMeans {
  double log_ratio = 0;  ///< of the mass of states that have it, to that of all
  double change = 0;     ///< of the unit's input, to what it is where no unit is held
};

/// Finds it by a few updates from means of the side's units, for each of some of them held at a value.
/// Shapes  means [units of the side]; units, values [held]     Units  nats
/// Cost    nine products of the weights and a vector for each
std::vector<HeldMeans> hold_each(const Bipartite& sides, const Eigen::VectorXd& means,
                                 const std::vector<Eigen::Index>& units,
                                 const std::vector<double>& values);

/// Where chains end of which a unit was moved.
struct MovedUnit {
  Eigen::VectorXd log_weights;  ///< [chains]
  Eigen::MatrixXf values;       ///< of all units [units x chains]
};

inline constexpr int kMovedChains = 16;

/// Moves a unit of the side from one value to another in equal steps, everything else following by Gibbs sweeps:
///   E[w] = Z(unit at `to`) / Z(unit at `from`),
///   log w = sum_t (c_{t+1} - c_t) (b_u + sum_i W_ui x_i),  c_0 = from, .., c_T = to,
/// if the states are samples with the unit at `from`: annealed importance sampling of all other units. [Neal 2001]
/// A pattern that the unit alone holds is no barrier to that, for at each c its units are independent.
/// Shapes      states [units of the side x kMovedChains]     Randomness  PhiloxDraws of key, in single precision
/// Cost        steps sweeps of kMovedChains chains
MovedUnit move_unit(const NumberedSides& side, Eigen::Index unit, double from, double to, int steps,
                    Eigen::MatrixXf states, StreamKey key);

}  // namespace boltzmark
