#include "boltzmark/exact/likelihood/likelihood.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "oracle/enumerate.hpp"
#include "verification/exact/support/enumeration_models.hpp"
#include "verification/exact/support/small_data.hpp"

using namespace enumeration_test;

namespace {

std::vector<oracle::Real> column(const Eigen::MatrixXf& data, int c) {
  return {data.col(c).begin(), data.col(c).end()};
}

}  // namespace

TEST_CASE("log f of a visible state agrees with brute force", "[likelihood]") {
  const std::vector<std::vector<int>> codes = {{0, 0}, {0, 3}, {0, 0, 0}, {0, 1, 2}, {0, 0, 1, 0}};
  for (const auto& code : codes) {
    for (const double scale : {0.5, 5.0, 100.0}) {
      const std::vector<int> sizes(code.size(), 3);
      const Layered model = random_network(code, sizes, scale, code.size());
      const Eigen::MatrixXf data = random_bits(3, 5, make_key(8, "bits"));
      double mean = 0;
      for (int c = 0; c < data.cols(); ++c) {
        const auto truth =
            static_cast<double>(oracle::log_f_visible(oracle::network(model), column(data, c)));
        // Sums of at most 40 terms of size at most 12 scale: 1e-12 is 4 times (40 u) (12 scale).
        CHECK(std::abs(log_unnormalised(model, data.col(c).cast<double>()) - truth) < 1e-11);
        mean += truth / static_cast<double>(data.cols());
      }
      CHECK(std::abs(mean_log_f(model, Cases(data)) - mean) < 1e-11);
    }
  }
}

TEST_CASE("the entropy of cases is that of their shares, equal ones merged", "[likelihood]") {
  Eigen::MatrixXf data(2, 4);
  data << 0, 1, 1, 0, 1, 0, 0, 0;
  CHECK(Cases(data).entropy() == Approx(1.5 * std::log(2)));  // shares 1/2, 1/4, 1/4
  CHECK(Cases(data.leftCols(1)).entropy() == 0);
  // What the report says of dna: 1,357 of its 1,400 training cases differ.
  const Cases dna(experiments::load_dataset("dna:fit").values);
  CHECK(dna.distinct() == 1357);
  CHECK(dna.entropy() == Approx(7.2013).margin(5e-5));
}

TEST_CASE("log f of Gaussian and multivalued visible units follows the energy", "[likelihood]") {
  for (const int code : {-2, -1, 2}) {
    const Layered model = random_network({code, 0}, {4, 5}, 1.0, 2);
    Eigen::MatrixXf data(4, 3);
    data << 0, 1, -1, -1, 0, 1, 1, 1, 0, 0, 0, -1;
    double mean = 0;
    for (int c = 0; c < 3; ++c) {
      const auto truth =
          static_cast<double>(oracle::log_f_visible(oracle::network(model), column(data, c)));
      CHECK(std::abs(log_unnormalised(model, data.col(c).cast<double>()) - truth) < 1e-12);
      mean += truth / 3;
    }
    CHECK(std::abs(mean_log_f(model, Cases(data)) - mean) < 1e-12);
  }
}

TEST_CASE("log f of all cases of a deep model is that of each, whatever the values",
          "[likelihood]") {
  // So many cases are one product; each alone is enumerated.
  for (const int code : {0, 1, 4}) {
    const Layered model = random_network({code, 0, 1}, {3, 4, 3}, 2, 7);
    const Unit visible = model.layer(0).unit;
    const int values = visible.values(), count = values * values * values;
    Eigen::MatrixXf data(3, count);
    for (int c = 0; c < count; ++c)
      for (int u = 0, rest = c; u < 3; ++u, rest /= values)
        data(u, c) = static_cast<float>(visible.value(rest % values));
    const Cases cases{CaseValues(data)};
    const Eigen::VectorXd together = log_unnormalised(model, cases);
    REQUIRE(together.size() == count);
    for (Eigen::Index k = 0; k < count; ++k)
      CHECK(
          together[k] ==
          Approx(log_unnormalised(model, cases.state(static_cast<std::size_t>(k)))).epsilon(1e-10));
  }
}

TEST_CASE("of more cases than a chunk each has its own log f", "[likelihood]") {
  // All states of ten units: four chunks of 256, by enumeration of each and by one product.
  Eigen::MatrixXf data(10, 1024);
  for (int c = 0; c < 1024; ++c)
    for (int i = 0; i < 10; ++i) data(i, c) = static_cast<float>(c >> i & 1);
  const Cases cases(data);
  REQUIRE(cases.distinct() == 1024);
  const Layered models[] = {random_network({0, 2}, {10, 3}, 1.0, 3),
                            random_network({0, 0, 0}, {10, 5, 4}, 1.0, 3), random_rbm(10, 4, 1, 3)};
  for (const Layered& model : models) {
    const Eigen::VectorXd all = log_unnormalised(model, cases);
    double total = 0, worst = 0;
    const double log_z = exact_log_z(model).log_z;
    for (std::size_t k = 0; k < 1024; ++k) {
      const double log_f = all[static_cast<Eigen::Index>(k)];
      worst = std::max(worst, std::abs(log_f - log_unnormalised(model, cases.state(k))));
      total += std::exp(log_f - log_z);
    }
    CHECK(worst < 1e-11);
    CHECK(total == Approx(1).epsilon(1e-11));
  }
}

TEST_CASE("the probabilities of all visible states sum to one", "[likelihood]") {
  for (const auto& codes : std::vector<std::vector<int>>{{0, 0}, {0, 0, 0}, {0, 4, 1}}) {
    const Layered model = random_network(codes, std::vector<int>(codes.size(), 4), 3.0, 6);
    const double log_z = exact_log_z(model).log_z;
    double total = 0;
    for (int bits = 0; bits < 16; ++bits) {
      Eigen::VectorXd v(4);
      for (int i = 0; i < 4; ++i) v[i] = bits >> i & 1;
      total += std::exp(log_unnormalised(model, v) - log_z);
    }
    CHECK(std::abs(total - 1) < 1e-12);
  }
}

TEST_CASE("equal cases are merged with their share", "[likelihood]") {
  Eigen::MatrixXf data(3, 4);
  data << 1, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 1;
  const Cases cases(data);
  CHECK(cases.count() == 4);
  REQUIRE(cases.distinct() == 2);
  CHECK(cases.weight(0) == 0.75);
  CHECK(cases.weight(1) == 0.25);
  CHECK(cases.is_binary());
  CHECK(cases.state(0) == Eigen::Vector3d(1, 0, 1));
  CHECK(cases.state(1) == Eigen::Vector3d(0, 0, 0));
  const Layered model = random_rbm(3, 2, 1.0, 1);
  const double direct = 0.75 * log_unnormalised(model, cases.state(0)) +
                        0.25 * log_unnormalised(model, cases.state(1));
  CHECK(std::abs(mean_log_f(model, cases) - direct) < 1e-14);
}

TEST_CASE("a case with a zero of either sign is one case", "[likelihood]") {
  Eigen::MatrixXf data(2, 2);
  data << 1, 1, 0.0F, -0.0F;
  const Cases cases(data);
  CHECK(cases.distinct() == 1);
  CHECK(cases.weight(0) == 1);
}

TEST_CASE("free energies of 784-500 RBMs agree with their definition", "[likelihood]") {
  for (const double scale : {0.05, 2.0, 100.0}) {
    const Layered model = random_rbm(784, 500, scale, 3);
    const Eigen::MatrixXf data = random_bits(784, 3, make_key(1, "bits"));
    long double mean = 0;
    for (int c = 0; c < 3; ++c) {
      for (int i = 0; i < 784; ++i) mean += static_cast<long double>(data(i, c)) * model.bias(0)[i];
      for (int j = 0; j < 500; ++j) {
        long double x = model.bias(1)[j];
        for (int i = 0; i < 784; ++i)
          x += static_cast<long double>(data(i, c)) * model.weights(0)(i, j);
        mean += x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
      }
    }
    // Worst case: 785 additions of u, each of at most |x| < 785 scale, in 500 units, and their sum.
    const double bound = 500 * (785 + 500) * 785 * scale * 1.2e-16;
    CHECK(std::abs(mean_log_f(model, Cases(data)) - static_cast<double>(mean / 3)) < bound);
  }
}

TEST_CASE("softplus is nowhere cut off in free energies", "[likelihood]") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Zero(4, 500), Eigen::VectorXd::Zero(4),
                                     Eigen::VectorXd::Constant(500, 12.0));
  const double truth = 500 * (12 + std::log1p(std::exp(-12.0)));
  CHECK(std::abs(mean_log_f(model, Cases(random_bits(4, 2, make_key(1, "bits")))) - truth) < 1e-10);
}

TEST_CASE("the mean log-likelihood of Bars and Stripes reaches -3.379093 and never exceeds it",
          "[likelihood]") {
  const Cases cases(boltzmark::bars_and_stripes_patterns());
  REQUIRE(cases.distinct() == 30);
  double ceiling = 0;  // minus the entropy of the empirical law
  for (std::size_t k = 0; k < 30; ++k) ceiling += cases.weight(k) * std::log(cases.weight(k));
  CHECK(std::abs(ceiling - -3.379093) < 5e-7);
  // One hidden unit per pattern p: its input is w (1/2 - Hamming distance to p), so the pattern
  // weighs 1 + e^{w/2} and any other state 1 + e^{-w/2} at most; ln 2 more for the two that stand
  // twice. At w = 60 the rest weighs 2^16 e^-30 / 32 = 2e-10 of the whole.
  constexpr double w = 60;
  Eigen::MatrixXd weights(16, 30);
  Eigen::VectorXd bias(30);
  for (int k = 0; k < 30; ++k) {
    const Eigen::VectorXd p = cases.state(static_cast<std::size_t>(k));
    weights.col(k) = w * (2 * p.array() - 1).matrix();
    bias[k] = w * (0.5 - p.sum()) + std::log(32 * cases.weight(static_cast<std::size_t>(k)));
  }
  const Layered perfect = Layered::rbm(weights, Eigen::VectorXd::Zero(16), bias);
  const double reached = exact_mean_log_likelihood(perfect, cases);
  CHECK(reached <= ceiling + 1e-11);
  CHECK(reached >= ceiling - 1e-9);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(exact_mean_log_likelihood(random_rbm(16, 4, 2.0, seed), cases) < ceiling);
  }
}

TEST_CASE("data that the model cannot take are refused", "[likelihood]") {
  const Layered model = random_rbm(3, 2, 1.0, 1);
  CHECK_THROWS_AS(mean_log_f(model, Cases(Eigen::MatrixXf::Zero(4, 2))), InvalidArgument);
  CHECK_THROWS_AS(mean_log_f(model, Cases(Eigen::MatrixXf::Constant(3, 2, 0.5F))), InvalidArgument);
  CHECK_THROWS_AS(mean_log_f(random_network({2, 0}, {3, 2}, 1, 1),
                             Cases(Eigen::MatrixXf::Constant(3, 2, 0.5F))),
                  InvalidArgument);
  // 0 is a bit, and no state of a spin.
  CHECK_THROWS_AS(
      mean_log_f(random_network({1, 0}, {3, 2}, 1, 1), Cases(Eigen::MatrixXf::Zero(3, 2))),
      InvalidArgument);
  CHECK_THROWS_AS(Cases(Eigen::MatrixXf(3, 0)), InvalidArgument);
  CHECK_THROWS_AS(Cases(Eigen::MatrixXf::Constant(3, 2, std::nanf(""))), InvalidArgument);
  CHECK_THROWS_AS(log_unnormalised(model, Eigen::VectorXd::Zero(2)), InvalidArgument);
}
