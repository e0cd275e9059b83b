// Whether estimates from simulated tempering spread as the chain's transition matrix says.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "decide.hpp"
#include "peaked_model.hpp"
#include "verification/checks/laws/asymptotic.hpp"
#include "verification/checks/laws/tempered_moments.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

constexpr int kVarianceRungs = 4;
constexpr int kSweeps = 1000;
// Half of a normal law is within this many standard deviations. A deviation that is wrong by a
// seventh moves that share by 0.06.
constexpr double kNormalQuartile = 0.6745;
const StatisticalTest kVariance({.name = "simulated tempering: variance of its estimates",
                                 .false_alarm = 1e-9,
                                 .deviation = 0.06,
                                 .cases = 3});

// Errors of log Z at the top, one of each chain: a group of the sums is a chain where there are 32.
Eigen::VectorXd errors(const TemperedRun& run, Assignment assignment, double log_z) {
  const Eigen::MatrixXd weight = assignment == Assignment::soft
                                     ? run.sums.weight
                                     : sum_by_rung(run.store, Assignment::hard).weight;
  Eigen::VectorXd found(weight.cols());
  for (Eigen::Index c = 0; c < weight.cols(); ++c)
    found[c] = log_z_from_occupancies(weight.col(c) / run.store.sweeps(), run.store.log_prior,
                                      run.store.log_z_hat)[kVarianceRungs - 1] -
               log_z;
  return found;
}

void check_variance(States states, Assignment assignment) {
  const Layered model = peaked_model();
  const Base base = Base::uniform(model);
  // Neither the prior nor Zhat is right, so that the rungs' shares differ.
  const Eigen::VectorXd log_prior = Eigen::VectorXd::LinSpaced(kVarianceRungs, 0, 1);
  const TemperedSpace space(model, base, Ladder::linear(kVarianceRungs), states);
  const Eigen::VectorXd log_z_hat = space.log_z() + Eigen::Vector4d(0, 0.4, -0.3, 0.2);
  const TemperedChain chain(space, {.log_prior = log_prior, .log_z_hat = log_z_hat});
  const double variance =
      asymptotic_variance(chain.matrix(), chain.stationary(),
                          ratio_influence(chain, assignment, kVarianceRungs - 1))
          .asymptotic;
  const double near = kNormalQuartile * std::sqrt(variance / kSweeps);
  const Decision decision =
      decide_proportion(kVariance, 0.5, Claim::equal, [&](std::size_t chains, StreamKey key) {
        const TemperedRun run = simulated_tempering(LayeredTarget(model, base),
                                                    {.chains = static_cast<int>(chains),
                                                     .sweeps = kSweeps,
                                                     .ladder = Ladder::linear(kVarianceRungs),
                                                     .log_prior = log_prior,
                                                     .states = states,
                                                     .start = Start::base,
                                                     .log_z_hat = log_z_hat,
                                                     .max_rounds = 0,
                                                     .key = key});
        std::vector<int> within;
        for (const double error : errors(run, assignment, space.log_z()[kVarianceRungs - 1]))
          within.push_back(std::abs(error) < near ? 1 : 0);
        return within;
      });
  INFO(decision.summary);
  CHECK(decision.holds);
}

}  // namespace

TEST_CASE("estimates of RTS and TS spread by the exact asymptotic variance of the tempered chain") {
  check_variance(States::joint, Assignment::soft);
  check_variance(States::collapsed, Assignment::soft);
  check_variance(States::joint, Assignment::hard);
}
