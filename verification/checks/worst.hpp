#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstddef>

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

// What checks gather errors by: a NaN is worse than any number and stays, where std::max and
// Eigen's maxCoeff may lose it, so that a check of what is not computed at all would hold.

/// Returns the larger of two errors, NaN if one is.
inline double worse(double a, double b) { return std::isnan(a) || a > b ? a : b; }

/// Computes the largest |entry|, NaN if there is one.
template <class Derived>
double largest_of(const Eigen::DenseBase<Derived>& values) {
  return static_cast<double>(
      values.derived().array().abs().template maxCoeff<Eigen::PropagateNaN>());
}

/// Computes the largest |a - b| of all parameters, NaN if there is one.
inline double largest_difference(const Parameters& a, const Parameters& b) {
  double worst = 0;
  for (std::size_t l = 0; l < a.weights.size(); ++l)
    worst = worse(worst, largest_of(a.weights[l] - b.weights[l]));
  for (std::size_t l = 0; l < a.biases.size(); ++l)
    worst = worse(worst, largest_of(a.biases[l] - b.biases[l]));
  return worst;
}

}  // namespace boltzmark
