#pragma once

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

// A model and data that several tests share.
namespace boltzmark {

/// An RBM of 3 x 2 units whose likeliest states stand far above the others.
inline Layered peaked_model() {
  Eigen::MatrixXd weights(3, 2);
  weights << 3, -2, -3, 2, 4, -4;
  return Layered::rbm(weights, Eigen::Vector3d(1, -0.5, 0.25), Eigen::Vector2d(-1, 2));
}

/// The patterns of Bars and Stripes, as many of rows as of columns: of 4 x 4 pixels 16.
inline Eigen::MatrixXf bars_and_stripes_patterns(int side = 4) {
  const int rows = 1 << side;
  Eigen::MatrixXf data(side * side, 2 * rows);
  for (int pattern = 0; pattern < rows; ++pattern)
    for (int pixel = 0; pixel < side * side; ++pixel) {
      data(pixel, pattern) = static_cast<float>(pattern >> (pixel / side) & 1);
      data(pixel, rows + pattern) = static_cast<float>(pattern >> (pixel % side) & 1);
    }
  return data;
}

/// Bits that are 0 or 1 alike.
inline Eigen::MatrixXf random_bits(int units, int cases, StreamKey key) {
  Eigen::MatrixXf data(units, cases);
  Stream stream(key, Purpose::test);
  for (float& x : data.reshaped()) x = static_cast<float>(stream.below(2));
  return data;
}

}  // namespace boltzmark
