#pragma once

#include <Eigen/Core>

#include "boltzmark/learn/optimiser.hpp"
#include "experiments/yokoyama2019/support/learning.hpp"

namespace boltzmark::experiments {

/// Ascent on the exact log-likelihood of a task, by Adam, with an L2 penalty on the weights.
///   gradient (11)-(13) by enumeration, less decay W                       [yokoyama2019, Sec. 2.1]
class ExactAscent {
 public:
  /// The task must outlive the ascent.
  ExactAscent(Layered start, const LearningTask& task, double rate, double decay = 0);

  /// Makes updates.
  void run(int updates);
  const Layered& model() const { return model_; }
  /// Returns the law of the model's visible spins.  Units  nats
  const Eigen::VectorXd& log_law();

 private:
  void fill_gradient();

  Layered model_;
  const LearningTask* task_;
  double decay_;
  AdaptiveSteps steps_;
  Parameters gradient_;
  Eigen::MatrixXd states_;  ///< [8 x 256]
  Eigen::MatrixXd psi_;     ///< [hidden x 256]
  Eigen::VectorXd log_law_;
};

}  // namespace boltzmark::experiments
