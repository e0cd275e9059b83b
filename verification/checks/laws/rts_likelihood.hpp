#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/estimate/estimators/rts.hpp"

namespace boltzmark {

/// The likelihood that rts_mixed maximises, up to a constant, and its derivatives by log Z.
struct RtsLikelihood {
  double value = 0;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

/// Shapes  log_prior, log_z [rungs]
RtsLikelihood rts_likelihood(const std::vector<RtsStage>& stages, const Eigen::VectorXd& log_prior,
                             const Eigen::VectorXd& log_z);

}  // namespace boltzmark
