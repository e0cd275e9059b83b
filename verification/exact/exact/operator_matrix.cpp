#include <catch2/catch.hpp>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;

namespace {

// Entries are sums of products of at most 12 factors in [0, 1], each within a few ulp.
constexpr double kEntry = 1e-13;

std::vector<Layered> models() {
  return {uniform_rbm(1, 1, 2, 0),
          uniform_rbm(3, 2, 3, 1),
          uniform_rbm(2, 4, 10, 2),
          uniform_rbm(4, 4, 1, 3),
          zero_rbm(3, 3),
          tied_network({2, 3}, 4),
          tied_network({2, 2, 2}, 5),
          tied_network({1, 3, 2, 1}, 6),
          uniform_rbm(1, 6, 30, 7),
          tied_network({3, 1, 3}, 8)};
}

// T_h (parity 1, the odd layers) or T_v (parity 0).
Eigen::MatrixXd side_matrix(const StateSpace& space, const Rule& rule, int parity) {
  const auto states = static_cast<Eigen::Index>(space.states());
  StateBlock block = StateBlock::Identity(states, states);
  SweepOperator(space, rule).push_half(block, parity);
  return block.transpose();
}

double distance(const Eigen::MatrixXd& a, const oracle::transition::LongMatrix& b) {
  return static_cast<double>((a.cast<long double>() - b).cwiseAbs().maxCoeff());
}

}  // namespace

TEST_CASE("the enumerated probabilities are those of the energy") {
  for (const Layered& model : models()) {
    const StateSpace space(model);
    const auto p = oracle::transition::probabilities(network(model));
    REQUIRE(distance(space.p(), p) < kEntry);
    for (std::size_t x = 0; x < space.states(); ++x) {
      REQUIRE(index_of(space, state_at(space, x)) == x);
      const double log_f = -energy(model, state_at(space, x));
      REQUIRE(space.log_p()[static_cast<Eigen::Index>(x)] + space.log_z() ==
              Approx(log_f).margin(1e-12 * space.units()));
    }
  }
}

TEST_CASE("unit, side and sweep matrices are those of the paper's definition") {
  namespace slow = oracle::transition;
  for (const Layered& model : models()) {
    const StateSpace space(model);
    for (const Rule& rule : all_rules()) {
      CAPTURE(rule.name(), model.units(), model.layers());
      for (int unit = 0; unit < space.units(); ++unit)
        REQUIRE(distance(unit_matrix(space, rule, unit),
                         slow::unit_matrix(network(model), law(rule), rule.blend, unit)) < kEntry);
      REQUIRE(distance(sweep_matrix(space, rule), sweep_of(model, rule)) < kEntry);
      REQUIRE(distance(random_scan_matrix(space, rule),
                       slow::random_scan_matrix(network(model), law(rule), rule.blend)) < kEntry);
      const Eigen::MatrixXd product = side_matrix(space, rule, 1) * side_matrix(space, rule, 0);
      REQUIRE((product - sweep_matrix(space, rule)).cwiseAbs().maxCoeff() < kEntry);
    }
  }
}

TEST_CASE("applying the operator without a matrix equals multiplying by the matrix") {
  for (const Layered& model : models()) {
    const StateSpace space(model);
    const auto states = static_cast<Eigen::Index>(space.states());
    Stream stream(make_key(9, "operands"), Purpose::test);
    Eigen::MatrixXd rows(3, states);
    for (double& x : rows.reshaped()) x = stream.uniform(-1, 1);
    for (const Rule& rule : all_rules()) {
      const SweepOperator kernel(space, rule);
      const Eigen::MatrixXd matrix = sweep_of(model, rule).cast<double>();
      const Eigen::VectorXd root = space.p().cwiseSqrt();
      // 1e-12: sums of up to 256 terms of size 1.
      StateBlock pushed = rows.transpose();
      kernel.push(pushed);
      REQUIRE((pushed.transpose() - rows * matrix).cwiseAbs().maxCoeff() < 1e-12);
      StateBlock pulled = rows.transpose();
      kernel.pull(pulled);
      REQUIRE((pulled - matrix * rows.transpose()).cwiseAbs().maxCoeff() < 1e-12);
      StateBlock one = rows.row(0).transpose();
      kernel.push(one);
      REQUIRE((one.col(0) - pushed.col(0)).cwiseAbs().maxCoeff() < 1e-14);
      // D^{1/2} T = S D^{1/2}, free of divisions.
      const Eigen::MatrixXd left = root.asDiagonal() * matrix;
      const Eigen::MatrixXd right = symmetrised_sweep_matrix(space, rule) * root.asDiagonal();
      REQUIRE((left - right).cwiseAbs().maxCoeff() < 1e-12);
      const Eigen::MatrixXd random = symmetrised_random_scan_matrix(space, rule);
      REQUIRE((random - random.transpose()).cwiseAbs().maxCoeff() < 1e-15);
      REQUIRE((root.asDiagonal() * random_scan_matrix(space, rule) - random * root.asDiagonal())
                  .eval()
                  .cwiseAbs()
                  .maxCoeff() < 1e-12);
    }
  }
}

TEST_CASE("the operator gives the same bits on one thread and on many") {
  const Layered model = uniform_rbm(8, 8, 1, 11);
  const StateSpace space(model);
  const SweepOperator kernel(space, Rule::flip());
  const StateBlock start = space.p();
  StateBlock many = start, one = start;
  kernel.push(many);
  {
    const ThreadLimit limit(1);
    kernel.push(one);
  }
  REQUIRE(many == one);
}

TEST_CASE("Breuleux's transform keeps the stationary law and leaves one certain departure") {
  const StateSpace space(uniform_rbm(2, 2, 2, 12));
  const Eigen::MatrixXd sweep = sweep_matrix(space, Rule::gibbs());
  const Eigen::MatrixXd moved = breuleux_transform(sweep);
  REQUIRE((moved.array() >= 0).all());
  REQUIRE(moved.diagonal().minCoeff() == 0);
  REQUIRE((moved.rowwise().sum().array() - 1).abs().maxCoeff() < 1e-14);
  REQUIRE((space.p().transpose() * moved - space.p().transpose()).cwiseAbs().maxCoeff() < 1e-14);
  REQUIRE_THROWS_AS(breuleux_transform(Eigen::MatrixXd::Identity(3, 3)), InvalidArgument);
  REQUIRE_THROWS_AS(breuleux_transform(Eigen::MatrixXd::Zero(2, 3)), InvalidArgument);
}

TEST_CASE("models that cannot be enumerated state by state are refused") {
  REQUIRE_THROWS_AS(StateSpace(zero_rbm(20, 20)), InvalidArgument);
  REQUIRE_THROWS_AS(sweep_matrix(StateSpace(zero_rbm(7, 6)), Rule::gibbs()), InvalidArgument);
  std::vector<Layer> layers(2);
  layers[0] = {Unit::continuous(), Eigen::VectorXd::Zero(2), {}};
  layers[1] = {Unit::bernoulli(), Eigen::VectorXd::Zero(2), {}};
  const Layered line(layers, {Eigen::MatrixXd::Zero(2, 2)});
  REQUIRE_THROWS_AS(StateSpace(line), InvalidArgument);
  layers[0].unit = Unit::multivalued(4096);
  const Layered many(layers, {Eigen::MatrixXd::Zero(2, 2)});
  REQUIRE_THROWS_AS(StateSpace(many), InvalidArgument);
}
