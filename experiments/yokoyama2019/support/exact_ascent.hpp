#pragma once

#include <Eigen/Core>

#include "boltzmark/learn/ascent/ascent.hpp"
#include "experiments/yokoyama2019/support/learning.hpp"

namespace boltzmark::experiments {

/// Ascent on the exact log-likelihood of a task, by Adam, with an L2 penalty on the weights.
///   gradient (11)-(13) by enumeration, less decay W                       [yokoyama2019, Sec. 2.1]
class ExactAscent final : public Ascent {
 public:
  /// The task must outlive the ascent.
  ExactAscent(Layered start, const LearningTask& task, double rate, double decay = 0);

  const Layered& model() const { return model_; }
  /// Returns the law of the model's visible spins.  Units  nats
  const Eigen::VectorXd& log_law();

 private:
  void fill_gradient(Parameters& gradient) override;
  void change(const Step& step) override { model_.add(step.direction, step.rate); }
  CheckpointInputs inputs() const override;
  void save(CheckpointWriter& out) const override;
  void load(CheckpointReader& in) override;

  Layered model_;
  const LearningTask* task_;
  double rate_, decay_;
  Eigen::MatrixXd states_;  ///< [8 x 256]
  Eigen::MatrixXd psi_;     ///< [hidden x 256]
  Eigen::VectorXd log_law_;
};

}  // namespace boltzmark::experiments
