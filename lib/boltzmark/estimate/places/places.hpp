#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Squared distance of means below which they are of one place: less than that of a Bernoulli unit's values.
inline constexpr double kSamePlace = 0.5;

/// Where phases may be, the ones of the greatest mass by mean field first: a likely state may hold little.
struct Places {
  Chains states;              ///< modes of the listed side and fixed points of the other one's law
  Eigen::MatrixXf means;      ///< of all units, by mean field from there [units x places]
  std::vector<double> log_z;  ///< what mean field tells of their masses [places], in nats

  int count() const { return states.chains(); }
};

/// Finds them among so many modes and fixed points of each side, one of those that lead to the same means.
/// Throws  InvalidArgument as mean_field
Places find_places(const Layered& model, const Modes& modes, int most);

}  // namespace boltzmark
