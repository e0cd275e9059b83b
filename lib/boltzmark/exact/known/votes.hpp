#pragma once

#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// Two patterns of the visible units, one that many weak hidden units hold and one that few strong ones
/// do. From random states the weak ones outvote the strong, and between the patterns, and from either to
/// units that hold none, there are transitions of first order.
struct Votes {
  int visible = 0;
  int weak = 0, strong = 0;  ///< hidden units
  double ahead = 0;          ///< nats by which the strong pattern's mass exceeds all other
};

/// Makes such an RBM. The units of a pattern are alike, so that log Z is a sum over how many of the weak
/// ones and of the strong ones are on. Units are shuffled and the encoding of half of them is flipped.
/// Randomness  draws: order and encoding     Throws  InvalidArgument if a number is below 1
KnownModel make_votes(const Votes& votes, Stream& draws);

}  // namespace boltzmark
