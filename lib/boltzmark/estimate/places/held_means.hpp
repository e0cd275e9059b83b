#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// The layers of one parity and the others (list_side), with the numbers of their units among those of all layers,
/// the lowest first.
struct NumberedSides {
  Bipartite sides;
  std::vector<Eigen::Index> units, others;

  /// Throws  InvalidArgument if a layer is Gaussian
  NumberedSides(const Layered& model, int parity);
};

/// Units of a side that are held together.
using UnitGroup = std::vector<Eigen::Index>;

/// Where they are held.
struct HeldGroup {
  UnitGroup units;
  std::vector<double> values;  ///< of each
};

/// What mean field tells of the values of a group.
struct HeldMeans {
  double log_ratio =
      0;  ///< of the mass of states that have them, to that of all; of continuous units a density
  Eigen::VectorXd inputs = {};   ///< of its units
  Eigen::VectorXd changes = {};  ///< of these, to what they are where none is held
  Eigen::VectorXf ends = {};     ///< means of all units [units], the lowest layer first
};

/// Finds it by a few updates from means of the side's units, for each of some groups.
/// Shapes  means [units of the side]     Units  nats
/// Cost    nine products of the weights and a vector for each
std::vector<HeldMeans> hold_each(const NumberedSides& side, const Eigen::VectorXd& means,
                                 const std::vector<HeldGroup>& groups);

}  // namespace boltzmark
