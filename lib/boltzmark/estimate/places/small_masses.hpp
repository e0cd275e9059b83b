#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/estimate/places/parts.hpp"
#include "boltzmark/estimate/places/places.hpp"

namespace boltzmark {

/// Masses of what is near all places, in groups: each may be small beside Z, and a run need not meet it,
/// though all together they are most of it.
struct SmallMasses : PhaseMasses {
  Parts parts;  ///< one around the means that the uniform base's chains reach, one a place
  std::vector<int> groups;  ///< of each part; that of the first is none, -1 [parts]

  bool any() const { return log_masses.size() > 0; }
};

/// Finds the mass near each place by importance sampling from the product law that mean field has there on
/// the side of `parity`, the other one summed out:
///   E_q[f(x) / q(x) 1{x in the part}] = Z_part, the first part's taken for none.
/// Groups are of 1, 1, 2, 4, 8, .. places, the greatest masses by mean field first.
/// None where that side is not discrete, there is no place elsewhere than `reached`, or all masses together are by mean field less
/// than e^-8 of `found`, log of the mass that is known: of a broad phase mean field tells nothing.
/// Shapes      reached [units]     Randomness  streams of key
/// Cost        16 states a place of which f is computed, of so many places as 2^30 weights allow
SmallMasses small_masses(const Layered& model, const Places& places, int parity,
                         const Eigen::VectorXd& reached, double found, StreamKey key);

}  // namespace boltzmark
