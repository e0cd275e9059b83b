#pragma once

#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// Constraints on the parities of random triples of visible units, as many as there are units and
/// independent of each other: one planted state meets all of them, and each of the 2^n sets of
/// constraints that are broken has one state. Those that break few hold the mass, isolated and far
/// apart: finding them takes any chain of local steps a time that is exponential in n where
/// `strength` is high.                                  [random 3-XORSAT: Ricci-Tersenghi et al. 2001]
struct Parities {
  int visible = 0;  ///< n, and constraints
  double strength =
      0;  ///< of a weight: a constraint that is met has about half of it more, in nats
};

struct ParityModel : KnownModel {
  Eigen::VectorXd planted;  ///< the state that meets all [visible]
};

/// Makes such an RBM: four hidden units a constraint, one for each of the triple's values that meet it,
/// of input strength (agreements - 5/2).
/// Randomness  draws: triples and the planted state
/// Throws      InvalidArgument if visible < 4 or strength is negative
ParityModel make_parities(const Parities& parities, Stream& draws);

}  // namespace boltzmark
