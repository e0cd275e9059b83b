#pragma once

#include <Eigen/Core>

#include "boltzmark/sample/estimate.hpp"

namespace boltzmark {

/// Sets the error of an estimate from the influence value of every sample: values are summed over
/// batches of consecutive sweeps, as RungSums groups them.
/// Shapes  influences [sweeps x chains], of mean 0
/// Throws  InvalidArgument if there is only one sample
void set_error(Estimate& estimate, const Eigen::MatrixXd& influences);

}  // namespace boltzmark
