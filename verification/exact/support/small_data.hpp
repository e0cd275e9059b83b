#pragma once

#include "boltzmark/model/layered.hpp"

// A model and data that several tests share.
namespace boltzmark {

/// An RBM of 3 x 2 units whose likeliest states stand far above the others.
inline Layered peaked_model() {
  Eigen::MatrixXd weights(3, 2);
  weights << 3, -2, -3, 2, 4, -4;
  return Layered::rbm(weights, Eigen::Vector3d(1, -0.5, 0.25), Eigen::Vector2d(-1, 2));
}

/// The 32 patterns of 4 x 4 Bars and Stripes: 16 of rows, 16 of columns.
inline Eigen::MatrixXf bars_and_stripes_patterns() {
  Eigen::MatrixXf data(16, 32);
  for (int pattern = 0; pattern < 16; ++pattern)
    for (int pixel = 0; pixel < 16; ++pixel) {
      data(pixel, pattern) = static_cast<float>(pattern >> (pixel / 4) & 1);
      data(pixel, 16 + pattern) = static_cast<float>(pattern >> (pixel % 4) & 1);
    }
  return data;
}

}  // namespace boltzmark
