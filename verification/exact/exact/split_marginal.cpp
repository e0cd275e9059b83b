#include "boltzmark/exact/likelihood/split_marginal.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "oracle/enumerate.hpp"
#include "verification/exact/support/enumeration_models.hpp"
#include "verification/exact/support/small_data.hpp"

using namespace enumeration_test;

namespace {

Eigen::MatrixXf split_bits(int visible, int cases) {
  return random_bits(visible, cases, make_key(static_cast<std::uint64_t>(visible), "split bits"));
}

Eigen::VectorXd log_sums(const Layered& model, const Eigen::MatrixXd& data) {
  return SplitMarginal(model).log_sums(model.weights(0).transpose() * data);
}

/// A DBM 2-2-1 whose matrix C is of rank two at any scale: row 1 and column 1 weigh e^1000 together
/// and nothing apart. The case v = (1, 1) takes e^250 from the one and e^900 from the other.
Layered opposed_model() {
  Eigen::MatrixXd down(2, 2);
  down << -900, 0, 0, -250;
  return Layered(
      {{.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(2), .sigma0 = {}},
       {.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Zero(2), .sigma0 = {}},
       {.unit = Unit::bernoulli(), .bias = Eigen::VectorXd::Constant(1, -1000), .sigma0 = {}}},
      {down, Eigen::MatrixXd::Constant(2, 1, 1000)});
}

}  // namespace

TEST_CASE("a product for all cases sums the hidden layers as an enumeration of each case does") {
  const std::vector<std::vector<int>> codes = {{0, 0, 0},    {0, 2, 3},     {0, 5, -2},
                                               {0, 1, 0, 2}, {0, 0, -1, 0}, {0, 3, 2, 1, -1}};
  for (const auto& code : codes) {
    for (const int units : {1, 3}) {
      for (const double scale : {0.5, 5.0, 100.0}) {
        CAPTURE(code, units, scale);
        const Layered model =
            random_network(code, std::vector<int>(code.size(), units), scale, code.size());
        const Eigen::MatrixXd data = split_bits(units, 21).cast<double>();
        const Eigen::VectorXd sums = log_sums(model, data);
        for (int k = 0; k < data.cols(); ++k) {
          if (scale > 5 && std::isnan(sums[k])) continue;  // left to an enumeration
          const double alone = log_unnormalised(model, data.col(k));
          // Either sums at most 40 terms of size at most 12 scale (Gaussian: its square).
          const double found = model.bias(0).dot(data.col(k)) + sums[k];
          REQUIRE(std::abs(found - alone) < 1e-12 * std::max(10.0, std::abs(alone)) + 1e-11);
        }
      }
    }
  }
}

TEST_CASE("halves of unlike sizes, and more states than one block, are summed alike") {
  // 5 units: 8 columns and 4 rows; 22: 1,024 columns and rows, and two units held fixed.
  for (const int units : {5, 22}) {
    const Layered model = random_network({0, 0, 0}, {3, units, 2}, 1.0, 4);
    const Eigen::MatrixXd data = split_bits(3, 18).cast<double>();
    const Eigen::VectorXd sums = log_sums(model, data);
    for (int k = 0; k < data.cols(); ++k) {
      const double alone = log_unnormalised(model, data.col(k));  // enumerates the two
      REQUIRE(std::abs(model.bias(0).dot(data.col(k)) + sums[k] - alone) < 1e-11);
    }
    const ThreadLimit limit(1);
    REQUIRE(log_sums(model, data) == sums);
    REQUIRE(log_sums(model, data.rightCols(3)) == sums.tail(3));
  }
}

TEST_CASE("a case whose scaled sum vanishes is left to an enumeration of its own") {
  const Layered model = opposed_model();
  const Eigen::MatrixXd data = Eigen::MatrixXd::Ones(2, 1);
  REQUIRE(std::isnan(log_sums(model, data)[0]));
  // Whichever way the cost decides, the state of all zeros weighs 1 and the others at most e^-150.
  REQUIRE(std::abs(mean_log_f(model, Cases(data.cast<float>()))) < 1e-15);
  REQUIRE(std::isfinite(log_sums(model, Eigen::MatrixXd::Zero(2, 1))[0]));
}

TEST_CASE("inputs so large that a double does not resolve their sum have none") {
  const SplitMarginal marginal(random_network({0, 0, 0}, {3, 3, 2}, 1, 1));
  Eigen::MatrixXd inputs(3, 2);
  inputs << Eigen::Vector3d::Constant(0x1p47), Eigen::Vector3d::Constant(0x1p49);
  const Eigen::VectorXd sums = marginal.log_sums(inputs);
  REQUIRE(sums[0] == Approx(3 * 0x1p47).epsilon(1e-12));
  REQUIRE(std::isnan(sums[1]));
}

TEST_CASE("the likelihoods of many cases of a deep model are those of brute force") {
  const Layered model = random_network({0, 0, 0, 2}, {8, 5, 4, 2}, 2.0, 5);
  const Eigen::MatrixXf data = split_bits(8, 200);
  const Cases cases(data);
  const Eigen::VectorXd found = log_unnormalised(model, cases);
  for (std::size_t k = 0; k < cases.distinct(); k += 7) {
    const Eigen::VectorXd v = cases.state(k);
    const auto truth = static_cast<double>(
        oracle::log_f_visible(oracle::network(model), {v.data(), v.data() + v.size()}));
    REQUIRE(std::abs(found[static_cast<Eigen::Index>(k)] - truth) < 1e-11);
  }
}

TEST_CASE("hidden layers that cannot be enumerated are refused") {
  REQUIRE_THROWS_AS(SplitMarginal(random_network({0, -1, 0}, {2, 2, 2}, 1, 1)), InvalidArgument);
  REQUIRE_THROWS_AS(SplitMarginal(random_network({0, 0, 0}, {2, 41, 2}, 1, 1)), InvalidArgument);
  const Layered large = random_network({0, 0, 0}, {2, 41, 41}, 1, 1);
  REQUIRE_THROWS_AS(mean_log_f(large, Cases(Eigen::MatrixXf::Zero(2, 3))), InvalidArgument);
}
