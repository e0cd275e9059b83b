#include "boltzmark/learn/ascent/rms_spectral.hpp"

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

// m <- decay m + (1 - decay) g*g, and returns d^2 = sqrt(m) + epsilon.
template <class Array>
Array update_scale(Array& mean_square, const Array& gradient, const Optimiser& optimiser) {
  const double decay = optimiser.scale_decay;
  mean_square = decay * mean_square + (1 - decay) * gradient.cwiseAbs2();
  return (mean_square.array().sqrt() + optimiser.epsilon).matrix();
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

class RmsSpectral final : public Steps {
 public:
  RmsSpectral(const Parameters& zero, const Optimiser& optimiser, double rate)
      : optimiser_(optimiser), rate_(rate), mean_square_(zero), step_(zero) {}

  Step step(const Parameters& gradient) override {
    if (!same_shapes(gradient, step_))
      throw InvalidArgument("gradient (must have the model's layers and sizes)");
    for (std::size_t l = 0; l < gradient.weights.size(); ++l) {
      const Eigen::MatrixXd d =
          update_scale(mean_square_.weights[l], gradient.weights[l], optimiser_).cwiseSqrt();
      step_.weights[l] =
          rate_ * spectral_sharp(gradient.weights[l].cwiseQuotient(d)).cwiseQuotient(d);
    }
    for (std::size_t l = 0; l < gradient.biases.size(); ++l)
      step_.biases[l] = rate_ * gradient.biases[l].cwiseQuotient(update_scale(
                                    mean_square_.biases[l], gradient.biases[l], optimiser_));
    return {step_};
  }
  void write(CheckpointWriter& out) const override { write_parameters(mean_square_, out); }
  void read(CheckpointReader& in) override { read_parameters(mean_square_, in); }

 private:
  Optimiser optimiser_;
  double rate_;
  Parameters mean_square_;
  Parameters step_;
};

}  // namespace

Eigen::MatrixXd spectral_sharp(const Eigen::MatrixXd& x) {
  return x.rows() <= x.cols() ? wide_sharp(x)
                              : Eigen::MatrixXd(wide_sharp(x.transpose()).transpose());
}

std::unique_ptr<Steps> start_rms_spectral(const Optimiser& optimiser, double rate,
                                          const Parameters& zero) {
  return std::make_unique<RmsSpectral>(zero, optimiser, rate);
}

}  // namespace boltzmark
