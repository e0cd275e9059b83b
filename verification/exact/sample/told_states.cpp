// What runs tell of their states at b = 1: nothing else changes, and only what is averaged is told.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "boltzmark/estimate/estimators/continuous_tempering.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/laws/table_target.hpp"
#include "verification/exact/support/small_data.hpp"

using namespace boltzmark;

namespace {

constexpr int kTellingChains = 70,
              kTellingSweeps = 80;  // islands of 8 or 9 chains, blocks that differ

AdaptiveTemperingOptions adaptive_options(Adaptation adaptation) {
  return {
      .adaptation = adaptation,
      .chains = kTellingChains,
      .sweeps = kTellingSweeps,
      .ladder = Ladder::linear(2),
      // Chains are at b = 1 in nearly all sweeps: those of both halves would be more than there are.
      .log_prior = Eigen::Vector2d(0, 3),
      .key = make_key(3)};
}

std::vector<double> told_ratios(TopStates& top) {
  std::vector<double> ratios(top.visits.size());
  for (int g = 0; g < top.states.groups(); ++g)
    top.states.group(g).log_ratio({ratios.data() + top.states.first_chain(g),
                                   static_cast<std::size_t>(top.states.group(g).chains())});
  return ratios;
}

}  // namespace

TEST_CASE("an adaptive run tells the visits of its second half alone, and is the same untold") {
  const TableTarget target(peaked_model(), Base::uniform(peaked_model()));
  for (const Adaptation adaptation : {Adaptation::wang_landau, Adaptation::sams}) {
    AdaptiveTemperingOptions options = adaptive_options(adaptation);
    const AdaptiveTemperingRun silent = adaptive_tempering(target, options);
    TopStates top(target, kTellingChains, options.key);
    options.top_states = &top;
    const AdaptiveTemperingRun run = adaptive_tempering(target, options);
    CHECK(run.top_log_z == silent.top_log_z);
    CHECK(*std::max_element(top.visits.begin(), top.visits.end()) <= kTellingSweeps / 2);
    // Every chain has its own: none is left out at the edges of islands.
    CHECK(*std::min_element(top.visits.begin(), top.visits.end()) > 0);
    CHECK(std::accumulate(top.visits.begin(), top.visits.end(), 0.0) >
          0.6 * kTellingChains * kTellingSweeps / 2);
  }
}

TEST_CASE(
    "chains with a continuous b tell the sum of the densities of b = 1, and a state they met") {
  const TableTarget target(peaked_model(), Base::uniform(peaked_model()));
  ContinuousTemperingOptions options{
      .chains = kTellingChains, .sweeps = kTellingSweeps, .key = make_key(3)};
  const ContinuousSamples silent = continuous_tempering(target, options);
  TopStates top(target, kTellingChains, options.key);
  options.top_states = &top;
  const ContinuousSamples samples = continuous_tempering(target, options);
  CHECK(samples.log_ratio == silent.log_ratio);
  CHECK(samples.inverse_temperature == silent.inverse_temperature);
  const std::vector<double> kept = told_ratios(top);
  int not_first = 0, not_last = 0;
  for (Eigen::Index c = 0; c < kTellingChains; ++c) {
    const auto met = samples.log_ratio.col(c);
    // The density is e^(b D) / Zhat(b) over its integral: a fine sum over b decides.
    double sum = 0;
    for (const double d : met) {
      double integral = 0;
      for (int k = 0; k + 1 < samples.knots.rungs(); ++k) {
        const double low = std::exp(samples.knots[k] * d - samples.log_z_hat[k]);
        const double high = std::exp(samples.knots[k + 1] * d - samples.log_z_hat[k + 1]);
        integral += (samples.knots[k + 1] - samples.knots[k]) * (low + high) / 2;
      }
      sum += std::exp(d - samples.log_z_hat[samples.knots.rungs() - 1]) / integral;
    }
    CHECK(top.visits[static_cast<std::size_t>(c)] == Approx(sum).epsilon(1e-3));
    const double ratio = kept[static_cast<std::size_t>(c)];
    CHECK((met.array() == ratio).any());
    not_first += ratio != met[0];
    not_last += ratio != met[met.size() - 1];
  }
  CHECK(not_first > 0);
  CHECK(not_last > 0);
}

TEST_CASE("every method that brings chains to b = 1 tells where they were there") {
  const LayeredTarget target(peaked_model(), Base::uniform(peaked_model()));
  for (const Method& method : registered_methods()) {
    if (method.name == "base-weights") continue;  // of another test; it has no chains
    INFO(method.name);
    MethodRuns runs(target, {.chains = 40, .sweeps = 60, .key = make_key(2)});
    runs.estimate(method.name);
    const TopStates& top = runs.top_states();
    CHECK(std::accumulate(top.visits.begin(), top.visits.end(), 0.0) > 0);
  }
}

TEST_CASE("weights of told states that are next to 0 are told as shares of the greatest") {
  const LayeredTarget target(peaked_model(), Base::uniform(peaked_model()));
  TopStates top(target, 3, make_key(5));
  // Squares of these are 0: how many samples they are worth would be infinite.
  top.visits = {1e-200, 4e-200, 0};
  CHECK(visited_states(top).visits == std::vector<double>{0.25, 1, 0});
  top.visits = {1e-50, 4e-50, 0};
  CHECK(visited_states(top).visits == top.visits);
  top.visits = {3, 0, 200};
  CHECK(visited_states(top).visits == top.visits);
  top.visits = {0, 0, 0};
  CHECK(visited_states(top).visits == top.visits);
}
