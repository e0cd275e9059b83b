#include "boltzmark/learn/ascent/rms_spectral.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

/// Multiplies matrices column by column: Eigen's matrix-vector product has the same bits whatever
/// the caches, its blocked matrix product has not.
template <class Left>
Eigen::MatrixXd column_product(const Left& left, const Eigen::MatrixXd& right) {
  Eigen::MatrixXd product(left.rows(), right.cols());
  parallel_for(static_cast<std::size_t>(right.cols()), [&](std::size_t i) {
    const auto column = static_cast<Eigen::Index>(i);
    product.col(column).noalias() = left * right.col(column);
  });
  return product;
}

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

void check_options(const RmsSpectralOptions& options) {
  if (!(options.rate > 0 && std::isfinite(options.rate)))
    throw InvalidArgument(fmt::format("rate = {} (must be positive and finite)", options.rate));
  if (!(options.decay >= 0 && options.decay < 1))
    throw InvalidArgument(fmt::format("decay = {} (must be in [0, 1))", options.decay));
  if (!(options.epsilon > 0 && std::isfinite(options.epsilon)))
    throw InvalidArgument(
        fmt::format("epsilon = {} (must be positive and finite)", options.epsilon));
}

// m <- decay m + (1 - decay) g*g, and returns d^2 = sqrt(m) + epsilon.
template <class Array>
Array update_scale(Array& mean_square, const Array& gradient, const RmsSpectralOptions& options) {
  mean_square = options.decay * mean_square + (1 - options.decay) * gradient.cwiseAbs2();
  return (mean_square.array().sqrt() + options.epsilon).matrix();
}

// U V' = (X X')^(-1/2) X, by the eigenvectors of X X', whose eigenvalues are the squares.
Eigen::MatrixXd wide_sharp(const Eigen::MatrixXd& x) {
  const SymmetricEigenPairs eigen = symmetric_eigen_pairs(column_product(x, x.transpose()));
  const Eigen::VectorXd& squares = eigen.values;
  const double rounding =
      squares[squares.size() - 1] * 100 * static_cast<double>(x.rows()) * kEpsilon;
  Eigen::VectorXd inverses = Eigen::VectorXd::Zero(squares.size());
  double sum = 0;
  for (Eigen::Index i = 0; i < squares.size(); ++i) {
    if (!(squares[i] > rounding)) continue;
    sum += std::sqrt(squares[i]);
    inverses[i] = 1 / std::sqrt(squares[i]);
  }
  const Eigen::MatrixXd& vectors = eigen.vectors;
  return sum *
         column_product(vectors * inverses.asDiagonal(), column_product(vectors.transpose(), x));
}

}  // namespace

Eigen::MatrixXd spectral_sharp(const Eigen::MatrixXd& x) {
  return x.rows() <= x.cols() ? wide_sharp(x)
                              : Eigen::MatrixXd(wide_sharp(x.transpose()).transpose());
}

RmsSpectral::RmsSpectral(Parameters zero, const RmsSpectralOptions& options)
    : options_(options), mean_square_(std::move(zero)), step_(mean_square_) {
  check_options(options);
}

const Parameters& RmsSpectral::step(const Parameters& gradient) {
  check_shapes(gradient);
  for (std::size_t l = 0; l < gradient.weights.size(); ++l) {
    const Eigen::MatrixXd d =
        update_scale(mean_square_.weights[l], gradient.weights[l], options_).cwiseSqrt();
    step_.weights[l] =
        options_.rate * spectral_sharp(gradient.weights[l].cwiseQuotient(d)).cwiseQuotient(d);
  }
  for (std::size_t l = 0; l < gradient.biases.size(); ++l)
    step_.biases[l] = options_.rate * gradient.biases[l].cwiseQuotient(update_scale(
                                          mean_square_.biases[l], gradient.biases[l], options_));
  return step_;
}

void RmsSpectral::write(CheckpointWriter& out) const { write_parameters(mean_square_, out); }

void RmsSpectral::read(CheckpointReader& in) { read_parameters(mean_square_, in); }

void RmsSpectral::check_shapes(const Parameters& gradient) const {
  if (!same_shapes(gradient, step_))
    throw InvalidArgument("gradient (must have the model's layers and sizes)");
}

}  // namespace boltzmark
