// Samples whose chains do not mix are trusted by no method: a table of methods and of ways not to mix.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "gaussian_tempering.hpp"

using namespace boltzmark;

namespace {

using Eigen::Index;

constexpr Index kMixingChains = 40, kMixingSweeps = 400;

/// Gives every sample another place: (sweep, chain) of the n-th of all.
SampleStore rearranged(const SampleStore& store, const std::vector<Index>& order,
                       const std::function<std::pair<Index, Index>(Index)>& place) {
  SampleStore other = store;
  for (Index n = 0; n < store.log_ratio.size(); ++n) {
    const auto [sweep, chain] = place(n);
    const Index from = order[static_cast<std::size_t>(n)];
    other.log_ratio(sweep, chain) = store.log_ratio.data()[from];
    other.rung(sweep, chain) = store.rung.data()[from];
  }
  return other;
}

/// The places of all samples, in the order of their rungs.
std::vector<Index> by_rung(const SampleStore& store) {
  std::vector<Index> order(static_cast<std::size_t>(store.rung.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return store.rung.data()[a] < store.rung.data()[b]; });
  return order;
}

/// Samples of the right law, dealt to all chains, each of which goes up the ladder once.
SampleStore once_up(const SampleStore& store) {
  return rearranged(store, by_rung(store),
                    [](Index n) { return std::pair(n / kMixingChains, n % kMixingChains); });
}

/// Each chain stays on a rung or two.
SampleStore stuck(const SampleStore& store) {
  return rearranged(store, by_rung(store),
                    [](Index n) { return std::pair(n % kMixingSweeps, n / kMixingSweeps); });
}

/// Up, down and up again: one trip each, where two are needed.
SampleStore one_trip(const SampleStore& store) {
  SampleStore up = once_up(store), other = up;
  for (Index s = 0; s < kMixingSweeps; ++s) {
    const Index third = s % 3, at = s / 3, part = kMixingSweeps / 3;
    const Index to = third == 0 ? at : third == 1 ? 2 * part - at : 2 * part + 1 + at;
    other.log_ratio.row(std::min(to, kMixingSweeps - 1)) = up.log_ratio.row(s);
    other.rung.row(std::min(to, kMixingSweeps - 1)) = up.rung.row(s);
  }
  return other;
}

/// Only one chain moves, as often as all need.
SampleStore one_moves(const SampleStore& store) {
  SampleStore other = once_up(store);
  other.log_ratio.col(0) = store.log_ratio.col(0);
  other.rung.col(0) = store.rung.col(0);
  return other;
}

std::vector<Method> readers_of_stores() {
  std::vector<Method> all;
  for (const Method& method : registered_methods())
    if (method.from_store) all.push_back(method);
  return all;
}

bool says_round_trips(const Estimate& estimate) {
  return std::any_of(
      estimate.warnings.begin(), estimate.warnings.end(),
      [](const std::string& warning) { return warning.find("round trips") != std::string::npos; });
}

}  // namespace

TEST_CASE("no method trusts samples whose chains do not mix") {
  Stream stream(make_key(4, "mixing"), Purpose::test);
  const SampleStore mixed = estimate_test::independent_store(
      {.variance = 2}, {.rungs = 5, .sweeps = kMixingSweeps, .chains = kMixingChains}, stream);
  const std::vector<std::pair<std::string, SampleStore>> unmixed = {
      {"once up the ladder", once_up(mixed)},
      {"stuck", stuck(mixed)},
      {"one trip", one_trip(mixed)},
      {"one chain moves", one_moves(mixed)}};
  const std::vector<Method> methods = readers_of_stores();
  CHECK(methods.size() >= 11);
  for (const Method& method : methods) {
    INFO(method.name);
    CHECK(estimate_from(method.name, mixed).status == Status::ok);
    for (const auto& [how, store] : unmixed) {
      const Estimate estimate = estimate_from(method.name, store);
      INFO(how << ": " << name(estimate.status));
      CHECK(estimate.status == Status::not_converged);
      CHECK_FALSE(estimate.warnings.empty());
    }
  }
}

TEST_CASE(
    "a run that is too short for its ladder is refused for its round trips by every sampler") {
  // Energies that vary by 40 at b = 0: neighbouring rungs hardly overlap.
  Eigen::MatrixXd weights(20, 10);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = 4 * std::sin(1 + 37.0 * i);
  const Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(20), Eigen::VectorXd::Zero(10));
  const LayeredTarget target(model, Base::uniform(model));
  MethodRuns runs(target,
                  {.chains = 50, .sweeps = 60, .ladder = Ladder::linear(20), .key = make_key(1)});
  int samplers = 0;
  for (const Method& method : registered_methods()) {
    if (method.source == Source::own || method.name == "ais" || method.name == "smc") continue;
    ++samplers;
    const Estimate estimate = runs.estimate(method.name);
    INFO(method.name << ": " << name(estimate.status));
    CHECK(estimate.status != Status::ok);
    CHECK(says_round_trips(estimate));
  }
  CHECK(samplers >= 17);
}
