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

}  // namespace boltzmark
