#pragma once

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark::experiments {

/// Draws an RBM of n visible and n hidden units with weights uniform on (-c, c), the biases too or
/// zero.
Layered draw_square_rbm(int n, double c, bool with_biases, Stream& stream);

}  // namespace boltzmark::experiments
