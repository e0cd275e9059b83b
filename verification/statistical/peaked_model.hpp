#pragma once

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark::verification {

/// An RBM of 2 x 2 units; the likeliest state is e^9 times as likely as the least likely one.
inline Layered peaked_model() {
  Eigen::MatrixXd weights(2, 2);
  weights << 3, -2, -3, 2;
  return Layered::rbm(weights, Eigen::Vector2d(1, -0.5), Eigen::Vector2d(-1, 2));
}

/// Draws the key of a run.
inline StreamKey key_of(Stream& stream) { return {stream(), stream()}; }

}  // namespace boltzmark::verification
