
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "oracle/enumerate.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace enumeration_test;

namespace {

Eigen::MatrixXf data_of(Unit unit, int visible) {
  Stream stream(make_key(3, "gradient"), Purpose::test);
  Eigen::MatrixXf data(visible, 6);
  for (float& x : data.reshaped()) {
    x = unit.is_discrete() ? static_cast<float>(unit.value(static_cast<int>(
                                 stream.below(static_cast<std::uint64_t>(unit.values())))))
                           : static_cast<float>(stream.uniform(-1, 1));
  }
  data.col(5) = data.col(0);
  return data;
}

/// The largest difference of the gradient from central differences of the log-likelihood.
double difference_from_slopes(const Layered& model, const Cases& cases) {
  const double step = 1e-4;
  const Parameters gradient = exact_gradient(model, cases);
  double worst = 0;
  const auto check = [&](double slope, const auto& direction) {
    Layered up = model, down = model;
    up.add(direction, step);
    down.add(direction, -step);
    const double numeric =
        (exact_mean_log_likelihood(up, cases) - exact_mean_log_likelihood(down, cases)) /
        (2 * step);
    worst = std::max(worst, std::abs(numeric - slope));
  };
  for (std::size_t l = 0; l < gradient.weights.size(); ++l) {
    for (Eigen::Index k = 0; k < gradient.weights[l].size(); ++k) {
      Parameters direction = model.zero_parameters();
      direction.weights[l](k) = 1;
      check(gradient.weights[l](k), direction);
    }
  }
  for (std::size_t l = 0; l < gradient.biases.size(); ++l) {
    for (Eigen::Index k = 0; k < gradient.biases[l].size(); ++k) {
      Parameters direction = model.zero_parameters();
      direction.biases[l](k) = 1;
      check(gradient.biases[l](k), direction);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("the exact gradient of cases that are no states of the visible units is refused") {
  const Layered model = random_rbm(3, 2, 1, 1);
  CHECK_THROWS_AS(exact_gradient(model, Cases(Eigen::MatrixXf::Constant(3, 2, 0.5F))),
                  InvalidArgument);
  CHECK_THROWS_AS(exact_gradient(model, Cases(Eigen::MatrixXf::Zero(2, 2))), InvalidArgument);
}

TEST_CASE("the exact gradient agrees with brute force", "[gradient]") {
  const std::vector<std::vector<int>> codes = {{0, 0}, {1, 0}, {0, 3}, {0, 0, 0}, {0, 2, 1}};
  for (const auto& code : codes) {
    for (const double scale : {0.0, 0.7, 20.0}) {
      const Layered model = random_network(code, std::vector<int>(code.size(), 3), scale, 5);
      const Eigen::MatrixXf data = data_of(model.layer(0).unit, 3);
      std::vector<std::vector<oracle::Real>> cases;
      for (int c = 0; c < data.cols(); ++c) {
        cases.emplace_back(data.col(c).begin(), data.col(c).end());
      }
      const oracle::Network truth = oracle::gradient(oracle::network(model), cases);
      const Parameters gradient = exact_gradient(model, Cases(data));
      // Moments are at most 1 in size; 512 states' weights are each good to 1e-13 at these scales.
      for (int l = 0; l < model.layers(); ++l) {
        for (int i = 0; i < model.size(l); ++i) {
          CHECK(std::abs(gradient.biases[l][i] - static_cast<double>(truth.bias[l][i])) < 1e-11);
          for (int j = 0; l + 1 < model.layers() && j < model.size(l + 1); ++j) {
            CHECK(std::abs(gradient.weights[l](i, j) -
                           static_cast<double>(truth.weights[l][i][j])) < 1e-11);
          }
        }
      }
    }
  }
}

TEST_CASE("the exact gradient is the slope of the mean log-likelihood", "[gradient]") {
  for (const auto& code : std::vector<std::vector<int>>{
           {0, 0}, {-2, 0}, {-1, 0}, {0, -1}, {0, -2}, {0, 0, 2}, {-2, 1}, {0, 0, -1}}) {
    const Layered model = random_network(code, std::vector<int>(code.size(), 3), 1.0, 9);
    CAPTURE(code);
    // Central differences at h = 1e-4: the third derivative (a third cumulant, at most about 30
    // for these scales) over 6 times h^2, 5e-8; rounding, 1e-13 / h = 1e-9.
    CHECK(difference_from_slopes(model, Cases(data_of(model.layer(0).unit, 3))) < 1e-6);
  }
}

TEST_CASE("the exact gradient is the same to the bit for any number of threads", "[gradient]") {
  const Layered model = random_rbm(12, 11, 0.5, 2);
  const Cases cases(data_of(Unit::bernoulli(), 12));
  std::vector<Parameters> results;
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    results.push_back(exact_gradient(model, cases));
  }
  CHECK(results[0].weights[0] == results[1].weights[0]);
  CHECK(results[0].biases[0] == results[1].biases[0]);
  CHECK(results[0].biases[1] == results[1].biases[1]);
}

TEST_CASE(
    "the exact gradient of the model's own law is zero, of more states and cases than a chunk",
    "[gradient]") {
  // 512 enumerated states are two chunks of 256, and 512 cases are 32 of 16.
  const Layered model = random_rbm(9, 9, 0.5, 2);
  Eigen::MatrixXf data(9, 512);
  for (int c = 0; c < 512; ++c)
    for (int i = 0; i < 9; ++i) data(i, c) = static_cast<float>(c >> i & 1);
  const double log_z = exact_log_z(model).log_z;
  Parameters of_law = model.zero_parameters(), of_all = exact_gradient(model, Cases(data));
  for (int c = 0; c < 512; ++c) {
    const Eigen::VectorXd v = data.col(c).cast<double>();
    const Parameters one = exact_gradient(model, Cases(data.col(c)));
    const double p = std::exp(log_unnormalised(model, v) - log_z);
    of_law.weights[0] += p * one.weights[0];
    of_all.weights[0] -= one.weights[0] / 512;
    for (int l = 0; l < 2; ++l) {
      of_law.biases[l] += p * one.biases[l];
      of_all.biases[l] -= one.biases[l] / 512;
    }
  }
  for (const Parameters& zero : {of_law, of_all}) {
    CHECK(zero.weights[0].cwiseAbs().maxCoeff() < 1e-11);
    for (int l = 0; l < 2; ++l) CHECK(zero.biases[l].cwiseAbs().maxCoeff() < 1e-11);
  }
}
