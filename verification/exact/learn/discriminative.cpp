// The discriminative RBM against sums over all joint states of class and hidden units, and its
// gradient against finite differences.
#include "boltzmark/learn/classes/discriminative.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/classes/class_kernel.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/random/stream.hpp"
#include "oracle/discriminative.hpp"

using namespace boltzmark;

namespace {

const int kUnits[] = {0, 1, 2, 4, 7, -1};

struct Sample {
  oracle::ClassModel model;
  Eigen::MatrixXf inputs;
  std::vector<int> labels;
};

Eigen::MatrixXd normals(Eigen::Index rows, Eigen::Index cols, double scale, Stream& stream) {
  Eigen::MatrixXd values(rows, cols);
  for (double& value : values.reshaped()) value = scale * stream.normal();
  return values;
}

/// 4 inputs, of which some are 0, 2 hidden units, 3 classes, 7 cases.
Sample sample(int unit, double scale, std::uint64_t index) {
  Stream stream(make_key(3, "classes"), Purpose::test, index);
  Sample made;
  made.model = {unit, normals(4, 2, scale, stream), normals(2, 3, scale, stream),
                normals(3, 1, scale, stream), normals(2, 1, scale, stream)};
  made.inputs = normals(4, 7, 1, stream).cast<float>();
  for (float& value : made.inputs.reshaped())
    if (stream.uniform() < 0.3) value = 0;
  for (int c = 0; c < 7; ++c) made.labels.push_back(static_cast<int>(stream.below(3)));
  return made;
}

DiscriminativeRbm production(const oracle::ClassModel& model) {
  return DiscriminativeRbm(Unit::from_code(model.unit), model.weights.transpose(),
                           model.class_weights, model.hidden_bias, model.class_bias);
}

LabelledCases cases_of(const Sample& made) { return {made.inputs, made.labels, 3}; }

std::vector<int> all_of(const LabelledCases& cases) {
  std::vector<int> chosen(static_cast<std::size_t>(cases.count()));
  std::iota(chosen.begin(), chosen.end(), 0);
  return chosen;
}

/// Calls body(value of the oracle's model, what the gradient says of it).
template <class Body>
void for_each_parameter(oracle::ClassModel& model, const Parameters& gradient, const Body& body) {
  for (Eigen::Index j = 0; j < model.hidden(); ++j) {
    for (Eigen::Index i = 0; i < model.weights.rows(); ++i)
      body(model.weights(i, j), gradient.weights[0](j, i));
    for (Eigen::Index k = 0; k < model.classes(); ++k)
      body(model.class_weights(j, k), gradient.weights[1](j, k));
    body(model.hidden_bias[j], gradient.biases[0][j]);
  }
  for (Eigen::Index k = 0; k < model.classes(); ++k)
    body(model.class_bias[k], gradient.biases[1][k]);
}

}  // namespace

// Inputs sum some 6 terms of size 10, a few ulp each; the quadrature of the interval is exact to
// long double at |zeta| < 20.
TEST_CASE("class probabilities are sums over every joint state of class and hidden units") {
  for (const int unit : kUnits)
    for (const double scale : {0.1, 1.0, 3.0}) {
      const Sample made = sample(unit, scale, static_cast<std::uint64_t>(unit + 10));
      const Eigen::MatrixXd log_p = log_class_probabilities(production(made.model), cases_of(made));
      for (Eigen::Index c = 0; c < made.inputs.cols(); ++c) {
        const auto expected =
            oracle::log_class_probabilities(made.model, made.inputs.col(c).cast<double>());
        for (int k = 0; k < 3; ++k) {
          CAPTURE(unit, scale, c, k);
          CHECK(std::abs(log_p(k, c) - static_cast<double>(expected[k])) < 2e-13);
        }
      }
    }
}

// Central differences of the oracle's long double sums with a step of 1e-5: h^2 f'''/6 < 1e-9, and
// a rounding of 1e-18 / 1e-5.
TEST_CASE("the gradient of a discriminative RBM is the finite difference, parameter by parameter") {
  for (const int unit : kUnits) {
    Sample made = sample(unit, 0.7, static_cast<std::uint64_t>(unit + 20));
    const LabelledCases cases = cases_of(made);
    const DiscriminativeRbm model = production(made.model);
    Parameters gradient = model.zero_parameters();
    const double mean = class_gradient(model, cases, all_of(cases), gradient);
    CHECK(std::abs(mean - static_cast<double>(oracle::mean_log_likelihood(made.model, made.inputs,
                                                                          made.labels))) < 1e-13);
    for_each_parameter(made.model, gradient, [&](double& parameter, double slope) {
      const double kept = parameter, step = 1e-5;
      parameter = kept + step;
      const long double above = oracle::mean_log_likelihood(made.model, made.inputs, made.labels);
      parameter = kept - step;
      const long double below = oracle::mean_log_likelihood(made.model, made.inputs, made.labels);
      parameter = kept;
      CAPTURE(unit, slope);
      CHECK(std::abs(static_cast<double>((above - below) / (2 * step)) - slope) < 1e-8);
    });
  }
}

// h = 2 h' - 1 turns zeta h into 2 zeta h' - zeta: weights and c double, and b_k loses sum_j U_jk;
// what else the shift leaves is the same for every class.
TEST_CASE("spins make the conventional discriminative RBM, re-parametrised") {
  const Sample made = sample(1, 1.0, 40);
  const LabelledCases cases = cases_of(made);
  oracle::ClassModel binary = made.model;
  binary.unit = 0;
  binary.weights *= 2;
  binary.hidden_bias *= 2;
  binary.class_bias -= binary.class_weights.colwise().sum().transpose();
  binary.class_weights *= 2;
  const Eigen::MatrixXd spins = log_class_probabilities(production(made.model), cases);
  const Eigen::MatrixXd bits = log_class_probabilities(production(binary), cases);
  CHECK((spins - bits).cwiseAbs().maxCoeff() < 1e-13);
}

TEST_CASE("ln phi and psi of the class kernel keep their stated accuracy on every row") {
  for (const int code : {0, 1, 2, 3, 16, 1000, 65535, -1}) {
    const Unit unit = Unit::from_code(code);
    for (double x = -750; x < 750; x += std::abs(x) < 2 ? 0.0013 : 0.37) {
      const double none = 0;
      double psi = 0;
      const double sum = log_phi_sum(unit, &x, &none, 1, &psi);
      CAPTURE(code, x);
      REQUIRE(std::abs(sum - log_partition(unit, x)) < 1e-15 * std::max(1.0, std::abs(x)));
      REQUIRE(std::abs(psi - mean_value(unit, x)) < 2e-15);
    }
    // Rows of every number of vectors and of rows left over, and inputs beyond any use.
    Stream stream(make_key(4), Purpose::test);
    for (std::size_t rows = 1; rows < 75; ++rows) {
      std::vector<double> a, u, psi(rows);
      double expected = 0;
      for (std::size_t j = 0; j < rows; ++j) {
        a.push_back(rows % 7 == 0 ? 1e200 * stream.normal() : 5 * stream.normal());
        u.push_back(stream.normal());
        expected += log_partition(unit, a[j] + u[j]);
      }
      CAPTURE(code, rows);
      CHECK(log_phi_sum(unit, a.data(), u.data(), rows, psi.data()) ==
            Approx(expected).epsilon(1e-14));
      for (std::size_t j = 0; j < rows; ++j)
        REQUIRE(std::abs(psi[j] - mean_value(unit, a[j] + u[j])) < 2e-15);
    }
  }
}

TEST_CASE("gradients of 70 hidden units and 50 cases are those of one case at a time") {
  Stream stream(make_key(5), Purpose::test);
  const Eigen::MatrixXf inputs = normals(30, 50, 1, stream).cast<float>().cwiseMax(0);
  std::vector<int> labels;
  for (int c = 0; c < 50; ++c) labels.push_back(static_cast<int>(stream.below(5)));
  const LabelledCases cases(inputs, labels, 5);
  const DiscriminativeRbm model = xavier_discriminative(Unit::continuous(), 30, 70, 5, make_key(6));
  Parameters whole = model.zero_parameters(), one = whole, sum = whole;
  const std::vector<int> chosen = all_of(cases);
  class_gradient(model, cases, chosen, whole);
  for (const int c : chosen) {
    class_gradient(model, cases, std::vector<int>{c}, one);
    for (int l = 0; l < 2; ++l) sum.weights[l] += one.weights[l] / 50;
    for (int l = 0; l < 2; ++l) sum.biases[l] += one.biases[l] / 50;
  }
  for (int l = 0; l < 2; ++l) {
    CHECK((sum.weights[l] - whole.weights[l]).cwiseAbs().maxCoeff() < 1e-14);
    CHECK((sum.biases[l] - whole.biases[l]).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("the likeliest class is predicted, the first of equal ones, and errors are counted") {
  Eigen::MatrixXd weights(1, 2);
  weights << 2, -2;  // two inputs for and against class 0
  Eigen::MatrixXd class_weights(1, 3);
  class_weights << 1, -1, -1;
  const DiscriminativeRbm model(Unit::multivalued(1), weights, class_weights,
                                Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(3));
  Eigen::MatrixXf inputs(2, 4);
  inputs << 1, 0, 0, 1, 0, 1, 0, 0;
  const LabelledCases cases(inputs, {0, 1, 2, 2}, 3);
  CHECK(predict(model, cases) == std::vector<int>{0, 1, 0, 0});
  const ClassScore score = score_classes(model, cases);
  CHECK(score.errors == 2);
  CHECK(score.error_rate() == 0.5);
  // Case 0: weights e^{ln 2 cosh 3} against twice 2 cosh 1; case 1 the reverse; case 2 all alike.
  const double big = std::cosh(3.0), small = std::cosh(1.0);
  const std::vector<double> p{big / (big + 2 * small), big / (small + 2 * big), 1.0 / 3,
                              small / (big + 2 * small)};
  double mean = 0, squares = 0;
  for (const double q : p) mean += std::log(q) / 4;
  for (const double q : p) squares += (std::log(q) - mean) * (std::log(q) - mean);
  CHECK(score.mean_log_likelihood == Approx(mean).epsilon(1e-14));
  CHECK(score.std_error_cases == Approx(std::sqrt(squares / 3 / 4)).epsilon(1e-13));
}

TEST_CASE("class probabilities of inputs beyond any use are finite and sum to one") {
  for (const int unit : kUnits)
    for (const double scale : {700.0, 1e5, 1e100}) {
      const Sample made = sample(unit, scale, 50);
      const Eigen::MatrixXd log_p = log_class_probabilities(production(made.model), cases_of(made));
      CHECK(log_p.allFinite());
      CHECK((log_p.array().exp().colwise().sum() - 1).abs().maxCoeff() < 1e-14);
    }
}

TEST_CASE("discriminative models and cases refuse what they cannot be") {
  const Sample made = sample(1, 1, 60);
  const auto& m = made.model;
  const auto build = [&](Unit unit, const Eigen::MatrixXd& w, const Eigen::MatrixXd& u,
                         const Eigen::VectorXd& c,
                         const Eigen::VectorXd& b) { return DiscriminativeRbm(unit, w, u, c, b); };
  const Eigen::MatrixXd w = m.weights.transpose();
  const Eigen::VectorXd &b = m.class_bias, &c = m.hidden_bias;
  CHECK_THROWS_AS(build(Unit::gaussian(), w, m.class_weights, c, b), InvalidArgument);
  CHECK_THROWS_AS(build(Unit::bernoulli(), w.topRows(1), m.class_weights, c, b), InvalidArgument);
  CHECK_THROWS_AS(build(Unit::bernoulli(), w, m.class_weights.leftCols(2), c, b), InvalidArgument);
  CHECK_THROWS_AS(build(Unit::bernoulli(), w, m.class_weights.leftCols(1), c, b.head(1)),
                  InvalidArgument);
  CHECK_THROWS_AS(build(Unit::bernoulli(), w * NAN, m.class_weights, c, b), InvalidArgument);
  CHECK_THROWS_AS(LabelledCases(made.inputs, {0, 1, 2}, 3), InvalidArgument);
  CHECK_THROWS_AS(LabelledCases(made.inputs, {0, 1, 2, 3, 0, 0, 0}, 3), InvalidArgument);
  CHECK_THROWS_AS(LabelledCases(made.inputs * NAN, made.labels, 3), InvalidArgument);
  CHECK_THROWS_AS(score_classes(production(m), LabelledCases(made.inputs, made.labels, 4)),
                  InvalidArgument);
}

TEST_CASE(
    "a step beyond all numbers is refused up and down, and leaves a discriminative RBM as it is") {
  DiscriminativeRbm model = production(sample(1, 1, 60).model);
  const Eigen::MatrixXd before = model.parameters().weights[0];
  Parameters direction = model.zero_parameters();
  direction.weights[0](0, 0) = 1e150;
  for (const double rate : {1e160, -1e160}) CHECK_THROWS_AS(model.add(direction, rate), Error);
  CHECK(model.parameters().weights[0] == before);
  model.add(direction, 1e-150);
  CHECK(model.parameters().weights[0](0, 0) == before(0, 0) + 1);
}
