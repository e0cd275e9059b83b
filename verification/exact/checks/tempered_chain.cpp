#include "verification/checks/laws/tempered_chain.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "oracle/tempering.hpp"
#include "verification/checks/laws/asymptotic.hpp"
#include "verification/checks/laws/tempered_moments.hpp"
#include "verification/exact/support/transition_models.hpp"

using namespace boltzmark;
using namespace transition_models;
using oracle::tempering::LongMatrix;
using oracle::tempering::LongVector;

namespace {

// A tempered RBM with 2 x 2 units, a base that is not uniform, uneven rungs, and priors and Zhat
// that are neither uniform nor right; and the same for the oracle.
struct Example {
  Layered model;
  Base base;
  Ladder ladder{{0, 0.25, 0.75, 1}};
  Eigen::VectorXd log_prior{{-0.5, 0.2, -1, 0.1}};
  Eigen::VectorXd log_z_hat{{0.3, 0.9, 1.2, 2.5}};

  explicit Example(std::uint64_t index)
      : model(uniform_rbm(2, 2, 2, index)),
        base{{Eigen::Vector2d(0.7, -1.1), Eigen::Vector2d(-0.4, 0.3)}} {}
  TemperedChain chain(States states, RungMove move = RungMove::gibbs,
                      const Rule& rule = Rule::gibbs(),
                      StateMove state_move = StateMove::sweep) const {
    return TemperedChain(TemperedSpace(model, base, ladder, states), {.log_prior = log_prior,
                                                                      .log_z_hat = log_z_hat,
                                                                      .rung_move = move,
                                                                      .state_move = state_move,
                                                                      .rule = rule});
  }
  oracle::tempering::Setting setting() const {
    oracle::tempering::Setting result{network(model), base.logits, {}, {}};
    for (int k = 0; k < ladder.rungs(); ++k) {
      result.b.push_back(ladder[k]);
      result.weight.push_back(std::exp(log_prior[k] - log_z_hat[k]));
    }
    return result;
  }
};

constexpr oracle::tempering::Rung rung_of(RungMove move) {
  return move == RungMove::gibbs ? oracle::tempering::Rung::gibbs
                                 : oracle::tempering::Rung::neighbour;
}

LongMatrix oracle_densities(const Example& example, States states) {
  return states == States::joint ? oracle::tempering::densities(example.setting())
                                 : oracle::tempering::visible_densities(example.setting());
}

// The weights of the trapezoidal rule.
Eigen::VectorXd trapezoid_weights(const Ladder& ladder) {
  Eigen::VectorXd weights = Eigen::VectorXd::Zero(ladder.rungs());
  for (int k = 0; k + 1 < ladder.rungs(); ++k)
    weights.segment(k, 2).array() += (ladder[k + 1] - ladder[k]) / 2;
  return weights;
}

double largest_entry(const LongMatrix& difference) {
  return static_cast<double>(difference.cwiseAbs().maxCoeff());
}

}  // namespace

TEST_CASE("tempered densities and their partition functions are those of the definition") {
  const Example example(1201);
  for (const States states : {States::joint, States::collapsed}) {
    const TemperedSpace space(example.model, example.base, example.ladder, states);
    const LongMatrix f = oracle_densities(example, states);
    REQUIRE(largest_entry(space.log_f().cast<long double>() - f.array().log().matrix()) < 1e-13);
    const LongVector z = f.colwise().sum().transpose();
    REQUIRE(largest_entry(space.log_z().cast<long double>() - z.array().log().matrix()) < 1e-13);
    REQUIRE(space.log_z()[0] == Approx(0).margin(1e-14));
  }
}

TEST_CASE("tempered slopes are the derivatives of the log densities") {
  const Example example(1202);
  const double step = 0x1p-10;  // exact in single precision; the error of the difference is step^2
  for (const States states : {States::joint, States::collapsed}) {
    const Ladder around({0, 0.5 - step, 0.5, 0.5 + step, 1});
    const TemperedSpace space(example.model, example.base, around, states);
    const Eigen::VectorXd difference = (space.log_f().col(3) - space.log_f().col(1)) / (2 * step);
    // Third derivatives of log f_b are at most (range of D)^3 / 10 < 100: 100 step^2 / 6.
    REQUIRE((difference - space.slopes().col(2)).cwiseAbs().maxCoeff() < 2e-5);
  }
}

TEST_CASE("the tempered chain's matrix equals brute force over joint states") {
  for (std::uint64_t i = 0; i < 2; ++i) {
    const Example example(1210 + i);
    for (const RungMove move : {RungMove::gibbs, RungMove::metropolis})
      for (const Rule& rule : {Rule::gibbs(), Rule::flip(), Rule::blended(0.3)}) {
        const LongMatrix expected = oracle::tempering::joint_matrix(example.setting(), law(rule),
                                                                    rule.blend, rung_of(move));
        const Eigen::MatrixXd found = example.chain(States::joint, move, rule).matrix();
        REQUIRE(largest_entry(found.cast<long double>() - expected) < 1e-14);
      }
  }
}

TEST_CASE("the tempered chain's matrix equals brute force over visible states") {
  const Example example(1220);
  for (const RungMove move : {RungMove::gibbs, RungMove::metropolis}) {
    const LongMatrix expected = oracle::tempering::visible_matrix(example.setting(), rung_of(move));
    const Eigen::MatrixXd found = example.chain(States::collapsed, move).matrix();
    REQUIRE(largest_entry(found.cast<long double>() - expected) < 1e-14);
  }
}

TEST_CASE("a deep network's collapsed chain weighs the even layers") {
  const Layered model = tied_network({1, 2, 2}, 1225);
  const Base base = Base::uniform(model);
  const Ladder ladder = Ladder::linear(3);
  const TemperedSpace joint(model, base, ladder, States::joint);
  const TemperedSpace collapsed(model, base, ladder, States::collapsed);
  REQUIRE(collapsed.states() == 8);
  REQUIRE((collapsed.log_z() - joint.log_z()).cwiseAbs().maxCoeff() < 1e-13);
  const TemperedChain chain(
      collapsed, {.log_prior = Eigen::VectorXd::Zero(3), .log_z_hat = Eigen::Vector3d(0, 0.5, 2)});
  const Eigen::VectorXd moved = chain.matrix().transpose() * chain.stationary();
  REQUIRE((moved - chain.stationary()).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE("a tempered chain's law over pairs is proportional to prior times density over Zhat") {
  const Example example(1230);
  for (const States states : {States::joint, States::collapsed}) {
    LongMatrix q = oracle_densities(example, states);
    for (int k = 0; k < 4; ++k)
      q.col(k) *= std::exp(static_cast<long double>(example.log_prior[k] - example.log_z_hat[k]));
    q /= q.sum();
    const TemperedChain chain = example.chain(states);
    REQUIRE(largest_entry(chain.stationary().cast<long double>() - q.reshaped()) < 1e-15);
    const LongVector law = q.colwise().sum().transpose();
    REQUIRE(largest_entry(chain.rung_law().cast<long double>() - law) < 1e-15);
  }
}

TEST_CASE("exact variances of tempered estimates are limits of sums of autocovariances") {
  const Example example(1240);
  const LongMatrix f = oracle_densities(example, States::joint);
  const LongMatrix matrix = oracle::tempering::joint_matrix(
      example.setting(), oracle::transition::Law::gibbs, 0, oracle::tempering::Rung::gibbs);
  const TemperedChain chain = example.chain(States::joint);
  const LongVector p = chain.stationary().cast<long double>();
  const Eigen::VectorXd trapezoid = trapezoid_weights(example.ladder);
  REQUIRE(trapezoid.sum() == Approx(1));
  std::vector<Eigen::VectorXd> influences;
  for (const Assignment assignment : {Assignment::soft, Assignment::hard}) {
    influences.push_back(ratio_influence(chain, assignment, 3));
    influences.push_back(integral_influence(chain, assignment, trapezoid));
  }
  for (const Eigen::VectorXd& influence : influences) {
    REQUIRE(chain.stationary().dot(influence) == Approx(0).margin(1e-14));
    const long double expected =
        oracle::tempering::limit_variance(matrix, p, influence.cast<long double>(), 400);
    const AsymptoticVariance found =
        asymptotic_variance(chain.matrix(), chain.stationary(), influence);
    REQUIRE(found.asymptotic == Approx(static_cast<double>(expected)).epsilon(1e-9));
  }
}

TEST_CASE("covariances of rung frequencies add up the autocovariances of the stored sweeps") {
  const Example example(1250);
  const int sweeps = 7, chains = 3;
  for (const RungMove move : {RungMove::gibbs, RungMove::metropolis}) {
    const LongMatrix matrix = oracle::tempering::visible_matrix(example.setting(), rung_of(move));
    const TemperedChain chain = example.chain(States::collapsed, move);
    const RungFrequencies found = rung_frequencies(chain, Assignment::soft, sweeps, chains);
    const LongVector p = chain.stationary().cast<long double>();
    const LongMatrix q = chain.rung_given_state().cast<long double>();
    for (int k = 0; k < 4; ++k) {
      const LongVector weight = q.col(k).replicate(1, 4).reshaped();
      const long double expected =
          oracle::tempering::variance_of_mean(matrix, p, weight, sweeps) / (sweeps * chains);
      REQUIRE(found.covariance(k, k) == Approx(static_cast<double>(expected)).epsilon(1e-12));
    }
    // The frequencies of a sample sum to 1, so their covariances sum to 0.
    REQUIRE(found.covariance.colwise().sum().cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("independent counts have the covariance of a multinomial") {
  const TemperedChain chain = Example(1260).chain(States::joint);
  const RungFrequencies found = independent_rung_frequencies(chain, Assignment::hard, 5);
  const Eigen::VectorXd c = chain.rung_law();
  const Eigen::MatrixXd expected = (Eigen::MatrixXd(c.asDiagonal()) - c * c.transpose()) / 5;
  REQUIRE((found.covariance - expected).cwiseAbs().maxCoeff() < 1e-15);
}

TEST_CASE("the slope of an estimate along a change of the sampled law is its influence") {
  // Moving a share e of q's mass to one pair changes log(c_k / c_1) by e psi + O(e^2).
  const TemperedChain chain = Example(1270).chain(States::joint);
  const Eigen::VectorXd psi = ratio_influence(chain, Assignment::soft, 3);
  const Eigen::MatrixXd& q = chain.rung_given_state();
  const Eigen::VectorXd c = chain.rung_law();
  const double share = 1e-6;
  for (Eigen::Index x = 0; x < chain.space().states(); ++x) {
    const Eigen::VectorXd moved = (1 - share) * c + share * q.row(x).transpose();
    const double change = std::log(moved[3] / moved[0]) - std::log(c[3] / c[0]);
    REQUIRE(change / share == Approx(psi[x]).margin(1e-3));
  }
}

TEST_CASE("collapsed chains take Gibbs sampling alone, and shapes are checked") {
  const Example example(1280);
  REQUIRE_THROWS_AS(example.chain(States::collapsed, RungMove::gibbs, Rule::flip()).matrix(),
                    InvalidArgument);
  const TemperedSpace space(example.model, example.base, example.ladder, States::joint);
  REQUIRE_THROWS_AS(TemperedChain(space, {.log_prior = Eigen::VectorXd::Zero(3),
                                          .log_z_hat = Eigen::VectorXd::Zero(4)}),
                    InvalidArgument);
  const TemperedChain chain = example.chain(States::joint);
  REQUIRE_THROWS_AS(ratio_influence(chain, Assignment::soft, 4), InvalidArgument);
  REQUIRE_THROWS_AS(integral_influence(chain, Assignment::hard, Eigen::Vector3d(1, 1, 1)),
                    InvalidArgument);
  REQUIRE_THROWS_AS(rung_frequencies(chain, Assignment::soft, 0, 1), InvalidArgument);
}
