#include "boltzmark/model/discriminative.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr double kLargest = 1e300;

void check_shape(const char* name, const Eigen::MatrixXd& matrix, Eigen::Index rows,
                 Eigen::Index columns) {
  if (matrix.rows() != rows || matrix.cols() != columns)
    throw InvalidArgument(fmt::format("{} = [{} x {}] (must be [{} x {}])", name, matrix.rows(),
                                      matrix.cols(), rows, columns));
}

void check_parameters(Unit hidden_unit, const Parameters& parameters) {
  const Eigen::Index hidden = parameters.biases[0].size(), classes = parameters.biases[1].size();
  const Eigen::Index inputs = parameters.weights[0].cols();
  if (hidden_unit.has_scale())
    throw InvalidArgument("hidden units = Gaussian (must be Bernoulli, X(s) or continuous)");
  if (hidden < 1) throw InvalidArgument("hidden units = 0 (must be positive)");
  if (inputs < 1) throw InvalidArgument("inputs = 0 (must be positive)");
  if (classes < 2) throw InvalidArgument(fmt::format("classes = {} (must be 2 or more)", classes));
  check_shape("input weights", parameters.weights[0], hidden, inputs);
  check_shape("class weights", parameters.weights[1], hidden, classes);
}

}  // namespace

DiscriminativeRbm::DiscriminativeRbm(Unit hidden_unit, Eigen::MatrixXd input_weights,
                                     Eigen::MatrixXd class_weights, Eigen::VectorXd hidden_bias,
                                     Eigen::VectorXd class_bias)
    : hidden_unit_(hidden_unit) {
  parameters_.weights.push_back(std::move(input_weights));
  parameters_.weights.push_back(std::move(class_weights));
  parameters_.biases.push_back(std::move(hidden_bias));
  parameters_.biases.push_back(std::move(class_bias));
  check_parameters(hidden_unit, parameters_);
  bound_ = magnitude(parameters_);
  if (!std::isfinite(bound_))
    throw InvalidArgument("parameters = NaN, infinity or beyond 1e154 (must be finite)");
}

Parameters DiscriminativeRbm::zero_parameters() const {
  Parameters zero = parameters_;
  set_zero(zero);
  return zero;
}

void DiscriminativeRbm::add(const Parameters& direction, double rate) {
  if (!same_shapes(direction, parameters_))
    throw InvalidArgument("shapes of direction = others (must be those of the model)");
  const double bound = bound_ + std::abs(rate) * magnitude(direction);
  if (!(bound < kLargest))
    throw Error("parameters + rate * direction = NaN or beyond 1e300 (must be finite)");
  combine(1, parameters_, rate, direction);
  bound_ = bound;
}

}  // namespace boltzmark
