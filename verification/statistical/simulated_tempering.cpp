// Tempering of an enumerated model: the rungs that it visits, and the log Z that adaptation finds.
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "boltzmark/estimate/estimators/continuous_tempering.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "decide.hpp"
#include "peaked_model.hpp"
#include "verification/checks/laws/table_target.hpp"

using namespace boltzmark;
using namespace boltzmark::verification;

namespace {

constexpr int kSimulatedRungs = 5, kToldChains = 2000;
const StatisticalTest kRungLaw({.name = "simulated tempering: law of the rung",
                                .false_alarm = 1e-9,
                                .deviation = 0.03,
                                .cases = 4});
// Taking the last of a chain's states at b = 1 makes the likelier ones rarer by 0.05 and more here.
const StatisticalTest kTopLaw({.name = "states at b = 1: law of the state",
                               .false_alarm = 1e-9,
                               .deviation = 0.04,
                               .cases = 4});
// A run that converged is within 0.4 nats far more often than in 80 % of cases; one that converges
// elsewhere nearly never is.
constexpr double kNearLogZ = 0.4;
const StatisticalTest kAdaptive({.name = "adaptive tempering: share of runs near log Z",
                                 .false_alarm = 1e-9,
                                 .deviation = 0.5,
                                 .cases = 2});

Eigen::VectorXd rung_log_z(const TableTarget& target, const Ladder& ladder) {
  Eigen::VectorXd log_z(ladder.rungs());
  for (int k = 0; k < ladder.rungs(); ++k) {
    double sum = 0;
    // p1 is uniform: log f_b = b D + log p1 of every joint state.
    for (std::uint32_t x = 0; x < target.states(); ++x)
      sum += std::exp(ladder[k] * target.log_ratio(x)) / target.states();
    log_z[k] = std::log(sum);
  }
  return log_z;
}

// The last of 100 sweeps, long after the chain has forgotten its start.
void check_rungs(States states, RungMove move) {
  const Layered model = peaked_model();
  const TableTarget target(model, Base::uniform(model));
  const Ladder ladder = Ladder::linear(kSimulatedRungs);
  const Eigen::VectorXd log_prior = Eigen::VectorXd::LinSpaced(kSimulatedRungs, 0, 1);
  // Zhat is off by up to half a nat, so that the law is not the prior.
  Eigen::VectorXd log_z_hat = rung_log_z(target, ladder);
  Eigen::VectorXd law = log_prior;
  for (int k = 0; k < kSimulatedRungs; ++k) law[k] -= 0.5 * std::sin(k);
  for (int k = 0; k < kSimulatedRungs; ++k) log_z_hat[k] += 0.5 * std::sin(k);
  law = (law.array() - law.maxCoeff()).exp();
  law /= law.sum();
  const Decision decision = decide_frequencies(
      kRungLaw, {law.data(), kSimulatedRungs}, [&](std::size_t n, StreamKey key) {
        const TemperedRun run = simulated_tempering(target, {.chains = static_cast<int>(n),
                                                             .sweeps = 100,
                                                             .ladder = ladder,
                                                             .log_prior = log_prior,
                                                             .states = states,
                                                             .rung_move = move,
                                                             .start = Start::base,
                                                             .log_z_hat = log_z_hat,
                                                             .max_rounds = 0,
                                                             .key = key});
        std::vector<std::size_t> last;
        for (Eigen::Index c = 0; c < run.store.chains(); ++c)
          last.push_back(static_cast<std::size_t>(run.store.rung(99, c)));
        return last;
      });
  INFO(decision.summary);
  CHECK(decision.holds);
}

// The first state with a log ratio; some share theirs.
std::uint32_t state_of(const TableTarget& target, double log_ratio) {
  std::uint32_t x = 0;
  while (std::abs(target.log_ratio(x) - log_ratio) > 1e-9) ++x;
  return x;
}

// Keeps a chain's state at b = 1 with a probability that is proportional to its visits.
std::vector<std::size_t> states_by_visits(const TableTarget& target, TopStates& top, int chains,
                                          Stream& stream) {
  std::vector<double> ratios(static_cast<std::size_t>(chains));
  for (int g = 0; g < top.states.groups(); ++g)
    top.states.group(g).log_ratio({ratios.data() + top.states.first_chain(g),
                                   static_cast<std::size_t>(top.states.group(g).chains())});
  const double most = *std::max_element(top.visits.begin(), top.visits.end());
  std::vector<std::size_t> states;
  for (std::size_t c = 0; c < ratios.size(); ++c) {
    if (top.visits[c] <= stream.uniform() * most) continue;
    states.push_back(state_of(target, ratios[c]));
  }
  return states;
}

using TellStates = std::function<void(const TableTarget&, StreamKey, TopStates*)>;

// Of runs of 2,000 chains that tell their states at b = 1.
void check_top_law(const TellStates& tell) {
  const Layered model = peaked_model();
  const TableTarget target(model, Base::uniform(model));
  std::vector<double> law(target.states());
  const double log_z = rung_log_z(target, Ladder::linear(2))[1];
  for (std::uint32_t x = 0; x < target.states(); ++x)
    law[state_of(target, target.log_ratio(x))] +=
        std::exp(target.log_ratio(x) - log_z) / target.states();
  const Decision decision = decide_frequencies(kTopLaw, law, [&](std::size_t n, StreamKey key) {
    std::vector<std::size_t> states;
    for (std::uint64_t run = 0; states.size() < n; ++run) {
      Stream stream(key, Purpose::test, run);
      const StreamKey run_key = key_of(stream);
      TopStates top(target, kToldChains, run_key);
      tell(target, run_key, &top);
      for (const std::size_t x : states_by_visits(target, top, kToldChains, stream))
        states.push_back(x);
    }
    states.resize(n);
    return states;
  });
  INFO(decision.summary);
  CHECK(decision.holds);
}

void tell_while_adapting(Adaptation adaptation, const TableTarget& target, StreamKey key,
                         TopStates* top) {
  const Ladder ladder = Ladder::linear(kSimulatedRungs);
  adaptive_tempering(target, {.adaptation = adaptation,
                              .chains = kToldChains,
                              .sweeps = 120,
                              .ladder = ladder,
                              .log_z_hat = rung_log_z(target, ladder),
                              .key = key,
                              .top_states = top});
}

void check_adaptation(Adaptation adaptation) {
  const Layered model = peaked_model();
  const TableTarget target(model, Base::uniform(model));
  const Ladder ladder = Ladder::linear(kSimulatedRungs);
  const double log_z = rung_log_z(target, ladder)[kSimulatedRungs - 1];
  const Decision decision = decide_proportion(
      kAdaptive, 0.8, Claim::at_least, one_by_one<int>([&](Stream& stream) {
        const AdaptiveTemperingRun run = adaptive_tempering(
            target, {.adaptation = adaptation,
                     .chains = 16,
                     .sweeps = 2000,
                     .ladder = ladder,
                     .log_prior = Eigen::VectorXd::LinSpaced(kSimulatedRungs, 0, 1.5),
                     .key = key_of(stream)});
        return std::abs(run.estimate.log_z - log_z) < kNearLogZ ? 1 : 0;
      }));
  INFO(decision.summary);
  CHECK(decision.holds);
}

}  // namespace

TEST_CASE("simulated tempering visits rungs by r Z over Zhat when it draws them") {
  check_rungs(States::joint, RungMove::gibbs);
  check_rungs(States::collapsed, RungMove::gibbs);
}

TEST_CASE("simulated tempering visits rungs by r Z over Zhat when it steps to neighbours") {
  check_rungs(States::joint, RungMove::metropolis);
  check_rungs(States::collapsed, RungMove::metropolis);
}

TEST_CASE("states at b = 1 weighted by their visits are samples of the model") {
  check_top_law([](const TableTarget& target, StreamKey key, TopStates* top) {
    const Ladder ladder = Ladder::linear(kSimulatedRungs);
    simulated_tempering(target, {.chains = kToldChains,
                                 .sweeps = 60,
                                 .ladder = ladder,
                                 .start = Start::base,
                                 .log_z_hat = rung_log_z(target, ladder),
                                 .round_sweeps = 30,
                                 .max_rounds = 1,
                                 .top_states = top,
                                 .key = key});
  });
}

TEST_CASE("states at b = 1 of runs that adapt are samples of the model") {
  for (const Adaptation adaptation : {Adaptation::wang_landau, Adaptation::sams})
    check_top_law([&](const TableTarget& target, StreamKey key, TopStates* top) {
      tell_while_adapting(adaptation, target, key, top);
    });
}

TEST_CASE("states weighted by the density of b = 1, which is drawn from [0, 1], are samples") {
  check_top_law([](const TableTarget& target, StreamKey key, TopStates* top) {
    continuous_tempering(target,
                         {.chains = kToldChains, .sweeps = 60, .key = key, .top_states = top});
  });
}

TEST_CASE("tempering by Wang and Landau converges to log Z whatever the prior") {
  check_adaptation(Adaptation::wang_landau);
}

TEST_CASE("self-adjusted mixture sampling converges to log Z whatever the prior") {
  check_adaptation(Adaptation::sams);
}
