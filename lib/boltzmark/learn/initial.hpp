#pragma once

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Draws a binary RBM whose weights and biases are independent N(0, sd^2).
/// Randomness  key, Purpose::initial_weights; the same for every rule that shares the key
/// Throws      InvalidArgument if a size is below 1 or sd is negative or not finite
Layered initial_rbm(int visible, int hidden, double sd, StreamKey key);

}  // namespace boltzmark
