#pragma once

#include <Eigen/Core>

#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// Parameters of an RBM of Bernoulli units that is being made.
struct PlainRbm {
  Eigen::MatrixXd weights;  ///< [visible x hidden]
  Eigen::VectorXd below, above;
};

/// Exchanges on and off of about half of the units, so that nothing is told by a sign.
/// Returns  what log Z loses by it     Randomness  draws
double flip_half(PlainRbm& rbm, Stream& draws);

/// Bounds what rounding a closed form of its log Z, a sum of its parameters, is off by.
double rounding_of(const PlainRbm& rbm, double log_z);

}  // namespace boltzmark
