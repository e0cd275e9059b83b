#pragma once

#include <Eigen/Core>
#include <vector>

// A slow reference for discriminative RBMs: sums over every joint state of class and hidden units,
// in long double. It shares no code with the library.
namespace oracle {

struct ClassModel {
  int unit = 0;             // the code of the model file: 0 {0, 1}, s X(s), -1 the interval [-1, 1]
  Eigen::MatrixXd weights;  // [inputs x hidden]
  Eigen::MatrixXd class_weights;  // [hidden x classes]
  Eigen::VectorXd class_bias;
  Eigen::VectorXd hidden_bias;

  int hidden() const { return static_cast<int>(hidden_bias.size()); }
  int classes() const { return static_cast<int>(class_bias.size()); }
};

/// log P(k | x) of every class; the interval by Gauss-Legendre quadrature with 48 nodes.
std::vector<long double> log_class_probabilities(const ClassModel& model, const Eigen::VectorXd& x);

/// Mean log-likelihood of labelled cases [inputs x cases].
long double mean_log_likelihood(const ClassModel& model, const Eigen::MatrixXf& inputs,
                                const std::vector<int>& labels);

}  // namespace oracle
