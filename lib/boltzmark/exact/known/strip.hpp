#pragma once

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// A strip of spins with normal couplings between neighbours and normal fields: a frustrated lattice with
/// open ends, of any length.
struct Strip {
  int width = 0, length = 0;
  double strength = 0, field = 0;  ///< standard deviations
};

/// Such a strip as an RBM of X(1) units, the squares of either colour a side, and its log Z.
struct StripRbm {
  Layered model;
  KnownLogZ known;
};

/// Makes a strip. log Z is a product of transfer matrices, a spin at a time.     [Kramers, Wannier 1941]
/// Randomness  draws: the couplings, then the fields
/// Throws      InvalidArgument unless 1 <= width <= 16 and there are two spins or more
/// Cost        2 width length 2^width exponentials
StripRbm make_strip(const Strip& strip, Stream& draws);

}  // namespace boltzmark
