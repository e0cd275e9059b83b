#include "boltzmark/model/parameters.hpp"

#include <algorithm>
#include <cmath>

namespace boltzmark {
namespace {

template <class Arrays>
bool same(const Arrays& a, const Arrays& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.rows() == y.rows() && x.cols() == y.cols();
  });
}

}  // namespace

bool same_shapes(const Parameters& a, const Parameters& b) {
  return same(a.weights, b.weights) && same(a.biases, b.biases);
}

double magnitude(const Parameters& parameters) {
  double squares = 0;
  for (const auto& weights : parameters.weights) squares += weights.squaredNorm();
  for (const auto& bias : parameters.biases) squares += bias.squaredNorm();
  return std::sqrt(squares);
}

void set_zero(Parameters& parameters) {
  for (Eigen::MatrixXd& weights : parameters.weights) weights.setZero();
  for (Eigen::VectorXd& biases : parameters.biases) biases.setZero();
}

void combine(double scale, Parameters& x, double rate, const Parameters& y) {
  for (std::size_t l = 0; l < x.weights.size(); ++l)
    x.weights[l] = scale * x.weights[l] + rate * y.weights[l];
  for (std::size_t l = 0; l < x.biases.size(); ++l)
    x.biases[l] = scale * x.biases[l] + rate * y.biases[l];
}

void write_parameters(const Parameters& parameters, CheckpointWriter& out) {
  for (const Eigen::MatrixXd& weights : parameters.weights) out.write(weights);
  for (const Eigen::VectorXd& biases : parameters.biases) out.write(biases);
}

void read_parameters(Parameters& parameters, CheckpointReader& in) {
  for (Eigen::MatrixXd& weights : parameters.weights) in.read(weights);
  for (Eigen::VectorXd& biases : parameters.biases) in.read(biases);
}

}  // namespace boltzmark
