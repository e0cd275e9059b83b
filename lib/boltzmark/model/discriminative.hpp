#pragma once

#include <Eigen/Core>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/model/unit.hpp"

namespace boltzmark {

/// A discriminative RBM: class probabilities given an input, which only shifts the hidden biases.
///   P(k | x) ~ exp(b_k + sum_j ln phi(zeta_jk)),  zeta_jk = c_j + U_jk + sum_i W_ij x_i
///                            [yokoyama2019, Eqs. 22, 23; Bernoulli units: Larochelle & Bengio
///                            2008]
/// with phi that of the hidden units (log_partition): Bernoulli, X(s) or continuous.
/// Invariant  an input, a hidden unit and two classes or more; all parameters finite
class DiscriminativeRbm {
 public:
  /// Shapes  input_weights [hidden x inputs], the transpose of the paper's w^(1), so that what one
  /// input adds lies side by side; class_weights [hidden x classes]; biases [hidden], [classes]
  /// Throws  InvalidArgument if the invariant does not hold, shapes disagree or units are Gaussian
  DiscriminativeRbm(Unit hidden_unit, Eigen::MatrixXd input_weights, Eigen::MatrixXd class_weights,
                    Eigen::VectorXd hidden_bias, Eigen::VectorXd class_bias);

  Unit hidden_unit() const { return hidden_unit_; }
  int inputs() const { return static_cast<int>(input_weights().cols()); }
  int hidden() const { return static_cast<int>(hidden_bias().size()); }
  int classes() const { return static_cast<int>(class_bias().size()); }

  const Eigen::MatrixXd& input_weights() const { return parameters_.weights[0]; }
  const Eigen::MatrixXd& class_weights() const { return parameters_.weights[1]; }
  const Eigen::VectorXd& hidden_bias() const { return parameters_.biases[0]; }
  const Eigen::VectorXd& class_bias() const { return parameters_.biases[1]; }

  /// Returns all parameters: weights {input, class}, biases {hidden, class}.
  const Parameters& parameters() const { return parameters_; }
  /// Makes parameters of this model's shapes, all zero.
  Parameters zero_parameters() const;
  /// Adds rate * direction to every parameter.
  /// Throws  InvalidArgument if shapes differ; Error if a parameter could pass 1e300 (model
  /// unchanged)
  void add(const Parameters& direction, double rate);

 private:
  Unit hidden_unit_;
  Parameters parameters_;
  double bound_;  ///< no parameter's magnitude is above it
};

}  // namespace boltzmark
