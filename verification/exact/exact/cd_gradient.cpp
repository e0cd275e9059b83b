
#include "verification/checks/laws/cd_gradient.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;

namespace {

// The law of v after CD-k by long double matrices over states of (v, h), v in the low bits.
oracle::transition::LongVector visible_law(const Layered& model, const Rule& rule, int k,
                                           Eigen::Index v0) {
  namespace slow = oracle::transition;
  const slow::Network net = network(model);
  const int visible = model.size(0), units = model.units();
  const auto side = [&](slow::Law one, bool hidden) {
    slow::LongMatrix product =
        slow::LongMatrix::Identity(Eigen::Index{1} << units, Eigen::Index{1} << units);
    for (int u = hidden ? visible : 0; u < (hidden ? units : visible); ++u)
      product = (product * slow::unit_matrix(net, one, rule.blend, u)).eval();
    return product;
  };
  slow::LongMatrix path = side(slow::Law::gibbs, true) * side(law(rule), false);
  for (int step = 1; step < k; ++step)
    path = (path * slow::sweep_matrix(net, law(rule), rule.blend)).eval();
  slow::LongVector result = slow::LongVector::Zero(Eigen::Index{1} << visible);
  for (Eigen::Index y = 0; y < path.cols(); ++y)
    result[y & ((Eigen::Index{1} << visible) - 1)] += path(v0, y);
  return result;
}

}  // namespace

TEST_CASE("the expected CD-k gradient is the one of the protocol's dense matrices") {
  const Layered model = uniform_rbm(3, 2, 1.5, 950);
  Eigen::MatrixXf data(3, 2);
  data << 1, 0, 0, 0, 1, 1;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.5)}) {
    for (const int k : {1, 2, 5}) {
      const Parameters found = expected_cd_gradient(model, data, rule, k);
      Parameters expected = model.zero_parameters();
      const auto add = [&](Eigen::Index v, double weight) {
        for (int j = 0; j < 2; ++j) {
          double x = model.bias(1)[j];
          for (int i = 0; i < 3; ++i)
            x += model.weights(0)(i, j) * static_cast<double>((v >> i) & 1);
          const double on = weight / (1 + std::exp(-x));
          expected.biases[1][j] += on;
          for (int i = 0; i < 3; ++i)
            expected.weights[0](i, j) += on * static_cast<double>((v >> i) & 1);
        }
        for (int i = 0; i < 3; ++i)
          expected.biases[0][i] += weight * static_cast<double>((v >> i) & 1);
      };
      for (const Eigen::Index v0 : {5, 4}) {  // the cases (1, 0, 1) and (0, 0, 1)
        add(v0, 0.5);
        const auto law_k = visible_law(model, rule, k, v0);
        for (Eigen::Index v = 0; v < 8; ++v) add(v, -0.5 * static_cast<double>(law_k[v]));
      }
      REQUIRE((found.weights[0] - expected.weights[0]).cwiseAbs().maxCoeff() < 1e-13);
      for (const int l : {0, 1})
        REQUIRE((found.biases[l] - expected.biases[l]).cwiseAbs().maxCoeff() < 1e-13);
    }
  }
}

TEST_CASE("the bias of CD-k vanishes as k grows") {
  const Layered model = uniform_rbm(3, 3, 1, 951);
  Eigen::MatrixXf data = Eigen::MatrixXf::Zero(3, 2);
  data.col(0).setOnes();
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    REQUIRE(cd_bias_norm(model, data, rule, 1) > 1e-3);
    REQUIRE(cd_bias_norm(model, data, rule, 2000) < 1e-12);
  }
}

TEST_CASE("CD's expected gradient refuses what it cannot enumerate") {
  const Eigen::MatrixXf data = Eigen::MatrixXf::Zero(2, 1);
  REQUIRE_THROWS_AS(expected_cd_gradient(zero_rbm(2, 2), data, Rule::gibbs(), 0), InvalidArgument);
  REQUIRE_THROWS_AS(expected_cd_gradient(zero_rbm(3, 2), data, Rule::gibbs(), 1), InvalidArgument);
  const Layer spins{Unit::multivalued(1), Eigen::VectorXd::Zero(2), {}};
  REQUIRE_THROWS_AS(expected_cd_gradient(Layered({spins, spins}, {Eigen::MatrixXd::Zero(2, 2)}),
                                         data, Rule::gibbs(), 1),
                    InvalidArgument);
  REQUIRE_THROWS_AS(
      expected_cd_gradient(zero_rbm(11, 10), Eigen::MatrixXf::Zero(11, 1), Rule::gibbs(), 1),
      InvalidArgument);
  REQUIRE_THROWS_AS(
      expected_cd_gradient(zero_rbm(2, 2), Eigen::MatrixXf::Constant(2, 1, 0.5F), Rule::gibbs(), 1),
      InvalidArgument);
}
