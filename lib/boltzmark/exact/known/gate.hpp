#pragma once

#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// A pattern of some visible units that one hidden unit holds, beside independent wells of two states each:
/// behind the gate is the same again, in 2^wells states, of which what starts near one meets one. Chains from
/// a flat base pass the gate as seldom as the pattern comes by chance.
struct Gate {
  int visible = 0;   ///< of the pattern
  double ahead = 0;  ///< nats by which what is behind the gate exceeds what is before it
  int wells = 0;     ///< of 12 visible and 6 hidden units each
};

/// Makes such an RBM, its units shuffled and the encoding of half of them flipped. log Z is a sum over both
/// sides of the gate, and for a well over how many of its hidden units are on.
/// Randomness  draws: order and encoding     Throws  InvalidArgument if a number is negative, or visible 0
KnownModel make_gate(const Gate& gate, Stream& draws);

}  // namespace boltzmark
