// The production code of coupled chains in training, and of adaptive ones with a constant factor,
// against the exact laws of a small model.
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "decide.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/constant_factor.hpp"
#include "verification/checks/laws/states.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

// Chains start uniformly; 60 sweeps of this model forget it to 1e-9.
constexpr int kForget = 60;
const StatisticalTest kJointLaw({.name = "coupled chains: law of slow state, fast state and rung",
                                 .false_alarm = 1e-9,
                                 .deviation = 0.01,
                                 .cases = 2});
const StatisticalTest kFastRungLaw({.name = "coupled chains: law of the fast chain's rung",
                                    .false_alarm = 1e-9,
                                    .deviation = 0.02,
                                    .cases = 2});
const StatisticalTest kConstant({.name = "constant factor: law of state and rung",
                                 .false_alarm = 1e-9,
                                 .deviation = 0.015,
                                 .cases = 2});

Layered coupled_model() {
  Eigen::MatrixXd weights(2, 1);
  weights << 2, -1.5;
  return Layered::rbm(weights, Eigen::Vector2d(-0.5, 0.75), Eigen::VectorXd::Constant(1, 0.25));
}

std::size_t state_index(const StateSpace& space, const Chains& chains, int chain) {
  return index_of(space, chains.get_chain(chain));
}

// The trainer's own chains after many updates of rate 0. So small a factor leaves g at 1.
template <class Outcome>
std::vector<std::size_t> train_at_rest(const char* swap, std::size_t pairs, StreamKey key,
                                       const Outcome& outcome) {
  const Layered model = coupled_model();
  const Eigen::MatrixXf data = Eigen::MatrixXf::Ones(2, 4);
  Negative negative = Negative::cast(3, 0.2);
  set_negative_option(negative, "--chains", std::to_string(2 * pairs));
  set_negative_option(negative, "--swap", swap);
  set_negative_option(negative, "--lag", "7");
  set_negative_option(negative, "--factor", "constant:1e-15");
  Trainer trainer(model, data, {.negative = negative, .learning_rate = 0}, key);
  trainer.advance(kForget);
  const StateSpace space(model);
  const AdaptiveChains& chains = dynamic_cast<const CoupledChains&>(trainer.sampler()).pairs();
  std::vector<std::size_t> outcomes;
  for (int slow = 0; slow < static_cast<int>(pairs); ++slow) {
    const int fast = slow + static_cast<int>(pairs);
    outcomes.push_back(outcome(state_index(space, chains.states(), slow),
                               state_index(space, chains.states(), fast), chains.rung(fast)));
  }
  return outcomes;
}

void check_decision(const Decision& decision) {
  INFO(decision.summary);
  CHECK(decision.holds);
}

AdaptivePairs pairs_at_rest() {
  return exact_pairs(coupled_model(), uniform_ladder(3, 0.2), Eigen::VectorXd::Zero(3));
}

}  // namespace

TEST_CASE("a trainer of rate zero leaves coupled chains at p(x_slow) pi(x_fast, k)") {
  const AdaptivePairs pairs = pairs_at_rest();
  std::vector<double> law;
  for (const Eigen::MatrixXd& rung : product_law(pairs))
    law.insert(law.end(), rung.data(), rung.data() + rung.size());
  const auto states = static_cast<std::size_t>(pairs.states());
  for (const char* swap : {"each", "lag"})
    check_decision(decide_frequencies(kJointLaw, law, [&](std::size_t n, StreamKey key) {
      return train_at_rest(swap, n, key, [&](std::size_t slow, std::size_t fast, int rung) {
        return (static_cast<std::size_t>(rung) * states + fast) * states + slow;
      });
    }));
}

TEST_CASE("fast chains visit rungs by the sums of e^(-b E) where all weights are 1") {
  const Eigen::VectorXd law = pairs_at_rest().stationary.colwise().sum();
  for (const char* swap : {"each", "lag"})
    check_decision(decide_frequencies(
        kFastRungLaw, {law.data(), static_cast<std::size_t>(law.size())},
        [&](std::size_t n, StreamKey key) {
          return train_at_rest(swap, n, key, [](std::size_t, std::size_t, int rung) {
            return static_cast<std::size_t>(rung);
          });
        }));
}

TEST_CASE("adaptive chains with a constant factor settle at the exact law of their lattice") {
  const Layered model = coupled_model();
  const StateSpace space(model);
  for (const double gamma : {10.0, 0.5}) {
    const ConstantFactorLaw exact = constant_factor_law(model, 0.3F, gamma);
    std::vector<double> law(exact.joint.data(), exact.joint.data() + exact.joint.size());
    check_decision(decide_frequencies(kConstant, law, [&](std::size_t n, StreamKey key) {
      AdaptiveChains chains({.model = model,
                             .packing = {.chains = static_cast<int>(n)},
                             .key = key,
                             .draws = std::make_shared<PhiloxDraws>(key)},
                            0, {.inverse_temperatures = {0.3F, 1.0F}, .factor = {.size = gamma}});
      const auto iterate = [&] {
        chains.sweep();
        chains.move_rungs();
      };
      for (int sweep = 0; sweep < 2 * kForget; ++sweep) iterate();
      // log g is an even and an odd multiple of its step in turn, and each has a law of its own.
      std::vector<std::size_t> outcomes;
      for (int c = 0; c < static_cast<int>(n); ++c) {
        if (c == static_cast<int>(n) / 2) iterate();
        outcomes.push_back(static_cast<std::size_t>(chains.rung(c)) * space.states() +
                           state_index(space, chains.states(), c));
      }
      return outcomes;
    }));
  }
}
