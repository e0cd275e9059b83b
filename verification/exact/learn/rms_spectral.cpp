// RMSspectral against dense singular value decompositions, and the weighted negative phase against
// enumeration.
#include <Eigen/QR>
#include <Eigen/SVD>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/ascent/optimiser.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/learn_scripts.hpp"

using namespace boltzmark;

namespace {

Eigen::MatrixXd normals(Eigen::Index rows, Eigen::Index cols, std::uint64_t index) {
  Stream stream(make_key(7), Purpose::test, index);
  Eigen::MatrixXd values(rows, cols);
  for (double& value : values.reshaped()) value = stream.normal();
  return values;
}

Eigen::MatrixXd orthonormal(Eigen::Index rows, Eigen::Index cols, std::uint64_t index) {
  return Eigen::HouseholderQR<Eigen::MatrixXd>(normals(rows, cols, index)).householderQ() *
         Eigen::MatrixXd::Identity(rows, cols);
}

/// [rows x columns] with singular values 1, ratio, ratio^2, ..
Eigen::MatrixXd geometric(Eigen::Index rows, Eigen::Index cols, Eigen::Index rank, double ratio) {
  Eigen::VectorXd values(rank);
  for (Eigen::Index i = 0; i < rank; ++i) values[i] = std::pow(ratio, static_cast<double>(i));
  return orthonormal(rows, rank, 1) * values.asDiagonal() * orthonormal(cols, rank, 2).transpose();
}

double largest(const Eigen::MatrixXd& x) { return x.cwiseAbs().maxCoeff(); }

/// ||X||_* U V' over the singular values above 1e-12 of the largest.
Eigen::MatrixXd dense_sharp(const Eigen::MatrixXd& x) {
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(x, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& values = svd.singularValues();
  Eigen::Index kept = 0;
  while (kept < values.size() && values[kept] > 1e-12 * values[0]) ++kept;
  return values.head(kept).sum() * svd.matrixU().leftCols(kept) *
         svd.matrixV().leftCols(kept).transpose();
}

std::unique_ptr<Steps> start_spectral(const Layered& model, double rate, Optimiser settings) {
  settings.kind = Optimiser::Kind::rms_spectral;
  return start_steps(settings, rate, model.zero_parameters());
}

}  // namespace

// The smallest singular value is 0.9^59 = 2e-3 of the largest: 60 eps / 2e-3^2 = 3e-9 of a triple,
// and the nuclear norm that multiplies it is 10.
TEST_CASE("the sharp operator is that of a dense decomposition") {
  for (const bool wide : {false, true}) {
    Eigen::MatrixXd a = geometric(90, 60, 60, 0.9);
    if (wide) a.transposeInPlace();
    const Eigen::MatrixXd sharp = spectral_sharp(a);
    CHECK(largest(sharp - dense_sharp(a)) < 3e-8);
    const double nuclear = (1 - std::pow(0.9, 60)) / (1 - 0.9);
    CHECK(a.cwiseProduct(sharp).sum() == Approx(nuclear * nuclear).epsilon(1e-7));
  }
}

TEST_CASE("the sharp operator leaves out directions whose singular value is zero") {
  const Eigen::MatrixXd rank_two = geometric(20, 15, 2, 0.5);
  CHECK(largest(spectral_sharp(rank_two) - dense_sharp(rank_two)) < 1e-12);
  CHECK(spectral_sharp(Eigen::MatrixXd::Zero(4, 3)) == Eigen::MatrixXd::Zero(4, 3));
}

TEST_CASE("steps of RMSspectral are those of the dense formula") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(12, 9), Eigen::VectorXd::Zero(12),
                                     Eigen::VectorXd::Zero(9));
  const auto steps = start_spectral(model, 0.1, {.scale_decay = 0.9, .epsilon = 1e-3});
  Eigen::MatrixXd m = Eigen::MatrixXd::Zero(12, 9);
  Eigen::VectorXd bias_m = Eigen::VectorXd::Zero(9);
  for (std::uint64_t step = 0; step < 3; ++step) {
    Parameters gradient = model.zero_parameters();
    gradient.weights[0] = normals(12, 9, 10 + step);
    gradient.biases[1] = normals(9, 1, 20 + step);
    const Parameters& made = steps->step(gradient).direction;
    const Eigen::MatrixXd& g = gradient.weights[0];
    m = 0.9 * m + 0.1 * g.cwiseProduct(g);
    const Eigen::MatrixXd d = (m.cwiseSqrt().array() + 1e-3).sqrt();
    const Eigen::MatrixXd expected = 0.1 * dense_sharp(g.cwiseQuotient(d)).cwiseQuotient(d);
    CHECK(largest(made.weights[0] - expected) < 1e-10 * largest(expected));
    const Eigen::VectorXd& bias = gradient.biases[1];
    bias_m = 0.9 * bias_m + 0.1 * bias.cwiseProduct(bias);
    const Eigen::VectorXd bias_step = 0.1 * bias.array() / (bias_m.array().sqrt() + 1e-3);
    CHECK(largest(made.biases[1] - bias_step) < 1e-14);
    CHECK(made.biases[0].isZero(0));
  }
}

TEST_CASE("RMSspectral moves the weights between every two layers") {
  const Layered model = initial_network(std::vector{5, 4, 3}, 0.1, make_key(3));
  const auto steps = start_spectral(model, 0.1, {.scale_decay = 0.9, .epsilon = 1e-3});
  Parameters gradient = model.zero_parameters();
  gradient.weights[0] = normals(5, 4, 1);
  gradient.weights[1] = normals(4, 3, 2);
  const Parameters& made = steps->step(gradient).direction;
  for (std::size_t l = 0; l < 2; ++l) {
    const Eigen::MatrixXd& g = gradient.weights[l];
    const Eigen::MatrixXd d = ((0.1 * g.cwiseProduct(g)).cwiseSqrt().array() + 1e-3).sqrt();
    const Eigen::MatrixXd expected = 0.1 * dense_sharp(g.cwiseQuotient(d)).cwiseQuotient(d);
    CHECK(largest(made.weights[l] - expected) < 1e-10 * largest(expected));
  }
}

TEST_CASE("RMSspectral refuses settings outside their range and gradients of other shapes") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(3, 2), Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(2));
  CHECK_THROWS_AS(start_spectral(model, 0, {}), InvalidArgument);
  CHECK_THROWS_AS(start_spectral(model, 1e-5, {.scale_decay = 1}), InvalidArgument);
  CHECK_THROWS_AS(start_spectral(model, 1e-5, {.epsilon = 0}), InvalidArgument);
  const auto steps = start_spectral(model, 1e-5, {});
  Parameters gradient = model.zero_parameters();
  gradient.biases[1].resize(3);
  CHECK_THROWS_AS(steps->step(gradient), InvalidArgument);
}

// Every joint state is a chain; its weight is q(x) q(b_K | x) with q(x) the law of simulated
// tempering whose Zhat are wrong: whatever they are, the weighted mean is that of p at b = 1.
TEST_CASE("the negative phase weighted by q(b_K | x) is the expectation under the model") {
  oracle::SmallRbm rbm{Eigen::MatrixXd(3, 2), Eigen::VectorXd(3), Eigen::VectorXd(2)};
  rbm.weights << 1.5, -0.5, 2, 1, -1, 0.75;
  rbm.visible_bias << -1, 0.5, 0.25;
  rbm.hidden_bias << 0.5, -1.25;
  const Eigen::VectorXd base = Eigen::VectorXd::Zero(rbm.units());
  const std::vector<double> ladder{0, 0.25, 0.5, 1}, weights_of_rungs{1, 0.3, 2, 0.01};
  Eigen::MatrixXf visible(3, rbm.states()), hidden(2, rbm.states());
  std::vector<double> weights;
  for (int x = 0; x < rbm.states(); ++x) {
    for (int i = 0; i < 3; ++i) visible(i, x) = static_cast<float>(x >> i & 1);
    for (int j = 0; j < 2; ++j) hidden(j, x) = static_cast<float>(x >> (3 + j) & 1);
    double mixture = 0, top = 0;
    for (std::size_t k = 0; k < ladder.size(); ++k) {
      top = weights_of_rungs[k] * std::exp(oracle::log_tempered(rbm, base, ladder[k], x));
      mixture += top;
    }
    weights.push_back(mixture * (top / mixture) * 1e-30);  // a common factor cancels
  }
  const Layered model = scripts::production(rbm);
  Chains chains(model, rbm.states());
  chains.set_layer(0, visible);
  chains.set_layer(1, hidden);
  Parameters sum = model.zero_parameters();
  subtract_weighted_negative(PackedModel(model), weights, chains, sum);
  const oracle::Means expected = oracle::means(rbm, oracle::probabilities(rbm, base, 1));
  // Weights, probabilities and products are float32 over 32 states: 32 * 2^-24 = 2e-6, four times.
  CHECK(largest(sum.weights[0] + expected.weights) < 1e-5);
  CHECK(largest(sum.biases[0] + expected.visible) < 1e-5);
  CHECK(largest(sum.biases[1] + expected.hidden) < 1e-5);
}

TEST_CASE("weights of a negative phase must be finite, not negative and not all zero") {
  const Layered model =
      Layered::rbm(Eigen::MatrixXd::Zero(3, 2), Eigen::VectorXd::Zero(3), Eigen::VectorXd::Zero(2));
  const PackedModel packed(model);
  Chains chains(model, 2);
  Parameters sum = model.zero_parameters();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& bad :
       std::vector<std::vector<double>>{{0, 0}, {1, -1}, {1, infinity}, {1}})
    CHECK_THROWS_AS(subtract_weighted_negative(packed, bad, chains, sum), InvalidArgument);
}

TEST_CASE("a gradient that is none ends spectral steps as one of the gradient") {
  const Layered model = initial_rbm(5, 4, 0.1, make_key(2));
  const auto steps = start_spectral(model, 0.1, {});
  Parameters gradient = model.zero_parameters();
  gradient.weights[0] = normals(5, 4, 1);
  CHECK(steps->step(gradient).direction.weights[0].allFinite());
  gradient.weights[0](1, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(steps->step(gradient), "the gradient has no singular values");
}
