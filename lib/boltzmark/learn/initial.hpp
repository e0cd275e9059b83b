#pragma once

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// The kinds of an RBM's units.
struct RbmUnits {
  Unit visible = Unit::bernoulli();
  Unit hidden = Unit::bernoulli();
};

/// Draws an RBM whose weights and biases are independent N(0, sd^2).
/// Randomness  key, Purpose::initial_weights; the same for every rule that shares the key
/// Throws      InvalidArgument if a size is below 1, sd is negative or not finite, or a unit is
/// Gaussian
Layered initial_rbm(int visible, int hidden, double sd, StreamKey key, RbmUnits units = {});

}  // namespace boltzmark
