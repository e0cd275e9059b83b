#pragma once

#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// A strip of spins with normal couplings between neighbours and normal fields: a frustrated lattice with
/// open ends, of any length.
struct Strip {
  int width = 0, length = 0;
  double strength = 0, field = 0;  ///< standard deviations
};

/// Makes a strip. log Z is a product of transfer matrices, a spin at a time.     [Kramers, Wannier 1941]
/// Randomness  draws: the couplings, then the fields
/// Throws      InvalidArgument unless 1 <= width <= 16 and there are two spins or more
/// Cost        2 width length 2^width exponentials
KnownModel make_strip(const Strip& strip, Stream& draws);

}  // namespace boltzmark
