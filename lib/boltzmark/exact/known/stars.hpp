#pragma once

#include "boltzmark/exact/known/known_model.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// Continuous units without states to list: independent stars of some visible units around one hidden each. Given
/// the hidden unit's value the others are summed in closed form, so that each star is an integral over [-1, 1]:
/// with strong weights one of two peaks, at both ends or between.
struct Stars {
  int count = 0;
  int visible = 0;      ///< of each star
  double strength = 0;  ///< standard deviation of the weights
};

/// Makes such an RBM, its units shuffled. The weights are normal; so are the biases, which tilt a star's peaks
/// against each other by two nats or so, less where the weights are below 1.
/// Accuracy    what quadrature of a fourth of its panels is off by, and rounding
/// Randomness  draws: weights, biases and order     Throws  InvalidArgument if a number is below 1, or
///   strength is negative
KnownModel make_stars(const Stars& stars, Stream& draws);

}  // namespace boltzmark
