// Samples whose chains do not mix are trusted by no method: a table of methods and of ways not to mix.
#include "boltzmark/sample/tempering/mixing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/pareto.hpp"
#include "boltzmark/estimate/held/held.hpp"
#include "boltzmark/estimate/held/log_z_tracker.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/gaussian_tempering.hpp"

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

bool says(const Estimate& estimate, const char* text) {
  return std::any_of(
      estimate.warnings.begin(), estimate.warnings.end(),
      [&](const std::string& warning) { return warning.find(text) != std::string::npos; });
}

bool says_round_trips(const Estimate& estimate) { return says(estimate, "round trips"); }

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

TEST_CASE("two trips a chain are enough, and twenty of few chains") {
  for (const auto& [chains, least] : {std::pair{1, 20}, {4, 20}, {10, 20}, {11, 22}, {40, 80}}) {
    CHECK_FALSE(enough_round_trips(least - 1, chains));
    CHECK(enough_round_trips(least, chains));
  }
}

TEST_CASE("a tour is what a chain does from one visit of b = 0 to the next") {
  Eigen::MatrixXi rung(8, 2);
  // A visit before all tours, tours of two and of none, and one that is cut; then no tour at all.
  rung.col(0) << 1, 2, 0, 2, 2, 0, 0, 2;
  rung.col(1) << 1, 1, 2, 1, 2, 2, 1, 2;
  const LadderTraffic traffic = traffic_of(rung, 3);
  CHECK(traffic.tours.numbers == std::map<std::int64_t, std::int64_t>{{0, 1}, {2, 1}});
  CHECK(traffic.tours.cut == std::map<std::int64_t, std::int64_t>{{1, 1}});
  CHECK(traffic.trips == 2);
  CHECK(traffic.top_visits == std::vector<std::int64_t>{4, 4});
}

TEST_CASE("an estimate is refused where a few long tours made most visits of the top") {
  const auto judged = [](const TourVisits& tours) {
    Estimate estimate;
    judge_tours(estimate, tours);
    return estimate;
  };
  // Geometric laws, of whatever mean, have a tail of shape 0; that of i^-shape has its shape.
  std::map<std::int64_t, std::int64_t> geometric, few, heavy, light, between, whole, cut;
  for (int n = 0; n < 60; ++n) geometric[n] = std::lround(4000 * std::exp(-0.2 * n));
  for (int i = 1; i <= 5000; ++i) {
    ++light[std::lround(std::pow(5000.0 / i, 0.4))];
    ++between[std::lround(std::pow(5000.0 / i, 0.85))];
    ++heavy[std::lround(std::pow(5000.0 / i, 1.5))];
  }
  few = {{0, 3}, {900, 1}};
  for (const auto& numbers : {geometric, light, between, few, {}})
    CHECK(judged({numbers, {}}).warnings.empty());
  const Estimate refused = judged({heavy, {}});
  CHECK(refused.status == Status::not_converged);
  REQUIRE(refused.warnings.size() == 1);
  CHECK(refused.warnings[0].find("long tours") != std::string::npos);
  // A run that cuts the heavy law's tours short at 1,000 visits.
  for (const auto& [visits, number] : heavy)
    (visits < 1000 ? whole : cut)[std::min<std::int64_t>(visits, 1000)] += number;
  CHECK(judged({whole, cut}).status == Status::not_converged);
  for (const auto& [visits, number] : cut) whole[visits] += number;
  CHECK(judged({whole, {}}).status == Status::ok);
}

TEST_CASE("a few tours far longer than all others are judged by themselves") {
  // A hundred chains' tours at a mode that holds little, and the three that met one of many others.
  std::map<std::int64_t, std::int64_t> tours;
  for (int n = 0; n < 12; ++n) tours[n] = std::lround(4000 * std::exp(-0.7 * n));
  CHECK(pareto_shape_of_numbers(tours) < 0.35);
  for (const int visits : {3900, 2400, 900}) ++tours[visits];
  CHECK(pareto_shape_of_numbers(tours) > 1);
  Estimate estimate{.log_z = 2, .std_error = 0.1, .lower = 1.8, .upper = 2.2};
  judge_tours(estimate, {tours, {}});
  CHECK(estimate.status == Status::not_converged);
}

TEST_CASE("what is missing from Z adds to the error and to the upper limit alone") {
  Estimate estimate{.log_z = 2, .std_error = 0.3, .lower = 1.4, .upper = 2.6};
  CHECK_FALSE(estimate.add_missing(0.2));
  CHECK(estimate.std_error == Approx(std::hypot(0.3, std::log(1.2))).epsilon(1e-12));
  CHECK(estimate.upper == Approx(2.6 + 1.96 * std::log(1.2)).epsilon(1e-12));
  CHECK(estimate.lower == 1.4);
  CHECK(estimate.log_z == 2);
  CHECK(estimate.add_missing(1));  // log 2 is the greater part
  // Of tours, what those longer than the longest would add; told where it is the greater part.
  std::map<std::int64_t, std::int64_t> numbers;
  for (int i = 1; i <= 5000; ++i) ++numbers[std::lround(std::pow(5000.0 / i, 0.85))];
  const std::map<std::int64_t, std::int64_t> cut = {{5000, 3}};
  const double missing = sum_above_largest(numbers, cut);
  CHECK(missing > 0.1);
  Estimate sure{.log_z = 2, .std_error = 0.01, .lower = 1.98, .upper = 2.02};
  judge_tours(sure, {numbers, cut});
  CHECK(sure.std_error == 0.01);  // what the samples tell
  CHECK(sure.missing == missing);
  add_unseen(sure);
  CHECK(sure.status == Status::ok);
  CHECK(sure.std_error == Approx(std::hypot(0.01, std::log1p(missing))).epsilon(1e-12));
  CHECK(says(sure, "longer tours"));
  add_unseen(sure);  // but once
  CHECK(sure.std_error == Approx(std::hypot(0.01, std::log1p(missing))).epsilon(1e-12));
  for (const double much : {0.9, 1.1}) {
    Estimate most{.log_z = 2, .std_error = 0.01, .lower = 1.98, .upper = 2.02, .missing = much};
    add_unseen(most);
    CHECK((most.status == Status::ok) == (much < 1));
  }
  Estimate unsure{.log_z = 2, .std_error = 1, .lower = 0, .upper = 4, .missing = missing};
  add_unseen(unsure);
  CHECK(unsure.warnings.empty());
  CHECK(unsure.std_error > 1);
}

TEST_CASE("no method on tempered chains trusts tours that grow longer the rarer they are") {
  // Planted parities: of the states that break k constraints there are 52 times fewer than of those
  // that break one more, and each holds 50 times as much.
  const KnownModel known = make_known_model("parity:80:8:11");
  const LayeredTarget target(known.model, Base::uniform(known.model));
  MethodRuns runs(target, {.chains = 100, .sweeps = 10'000, .key = make_key(1, "estimate")});
  for (const char* method : {"rts", "mbar", "ti"}) {
    const Estimate estimate = runs.estimate(method);
    INFO(method << " " << estimate.log_z - known.known.log_z << " +- " << estimate.std_error);
    CHECK(estimate.status == Status::not_converged);
    CHECK(says(estimate, "long tours"));
    CHECK(estimate.warnings.size() == 1);  // nothing else refuses it
  }
  for (const char* method : {"wang-landau", "ti-continuous", "ss"}) {
    INFO(method);
    CHECK(says(runs.estimate(method), "long tours"));
  }
  LogZTracker tracker(Base::uniform(known.model), {.sweeps = 10'000, .key = make_key(1)});
  CHECK(says(tracker.look(known.model).estimate, "long tours"));
}

TEST_CASE(
    "replicas that exchange rungs but seldom travel are refused, those that stay are not judged") {
  Stream stream(make_key(5, "replicas"), Purpose::test);
  // Bundles of 5 chains that all go up a rung, from the top to the bottom, every so many sweeps;
  // D is of its rung's law.
  const auto replicas = [&](Index sweeps_a_step) {
    SampleStore store = estimate_test::store_on(Ladder::linear(5), kMixingSweeps, kMixingChains);
    store.random_rungs = false;
    for (Index c = 0; c < kMixingChains; ++c)
      for (Index s = 0; s < kMixingSweeps; ++s) {
        const int rung = static_cast<int>((c + s / sweeps_a_step) % 5);
        store.rung(s, c) = rung;
        store.log_ratio(s, c) = 2 * store.ladder[rung] + std::sqrt(2) * stream.normal();
      }
    return store;
  };
  const SampleStore mixed = replicas(1), seldom = replicas(150), still = replicas(kMixingSweeps);
  int readers = 0;
  for (const Method& method : registered_methods()) {
    if (!method.any_tempering || !method.from_store) continue;
    ++readers;
    INFO(method.name);
    CHECK(estimate_from(method.name, mixed).status == Status::ok);
    CHECK(estimate_from(method.name, still).status == Status::ok);
    const Estimate refused = estimate_from(method.name, seldom);
    CHECK(refused.status == Status::not_converged);
    CHECK(says_round_trips(refused));
  }
  CHECK(readers == 6);
}

TEST_CASE("round trips are judged only where every bundle exchanges its rungs") {
  // Two bundles of two chains: the first exchanges once, the second's chains share a rung.
  SampleStore store = estimate_test::store_on(Ladder::linear(2), 2, 4);
  store.random_rungs = false;
  store.rung << 0, 1, 0, 1, 1, 0, 0, 1;
  const auto refused = [&] {
    Estimate estimate;
    judge_mixing(estimate, store);
    return estimate.status == Status::not_converged;
  };
  CHECK(refused());
  store.rung << 0, 1, 0, 0, 1, 0, 0, 1;
  CHECK_FALSE(refused());
  store.rung << 0, 1, 0, 1, 0, 1, 1, 0;  // the second alone exchanges
  CHECK(refused());
}

TEST_CASE("a run whose highest rung few chains visited is refused, whatever their trips") {
  SampleStore store = estimate_test::store_on(Ladder::linear(2), 400, 10);
  const auto judged = [&](const std::vector<int>& visits) {
    store.rung.setZero();
    for (std::size_t c = 0; c < visits.size(); ++c)
      for (int s = 0; s < visits[c]; ++s) store.rung(2 * s, static_cast<Index>(c)) = 1;
    Estimate estimate;
    judge_mixing(estimate, store);
    return estimate;
  };
  CHECK(judged({100, 100}).status == Status::ok);  // (2 100)^2 / (2 100^2) = 2 of 10
  CHECK(judged({100, 99}).status == Status::not_converged);
  CHECK(judged({200, 200, 20}).status == Status::ok);            // 420^2 / 80400 = 2.19
  CHECK(judged({200, 100, 1}).status == Status::not_converged);  // 301^2 / 50001 = 1.81
  const Estimate one = judged({200});
  REQUIRE(one.warnings.size() == 1);
  CHECK(one.warnings[0].starts_with("1.0 of 10 chains made the visits of the ladder's top"));
  CHECK(judged(std::vector<int>(10, 40)).status == Status::ok);
}

TEST_CASE("an estimate of rungs without samples is refused, and says how many of them there are") {
  Estimate estimate;
  CHECK(judge_visits(estimate, Eigen::Vector3d(3, 1, 2)));
  CHECK(estimate.warnings.empty());
  CHECK_FALSE(judge_visits(estimate, Eigen::Vector3d(3, 0, 2)));
  CHECK(estimate.status == Status::unvisited_rung);
  CHECK_THAT(estimate.warnings.at(0), Catch::StartsWith("1 of 3 rungs have no samples"));
}

TEST_CASE("a method reads parallel tempering, live and stored, if and only if it says so") {
  Eigen::MatrixXd weights(6, 4);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = std::sin(1 + 37.0 * i);
  const Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(6), Eigen::VectorXd::Zero(4));
  const LayeredTarget target(model, Base::uniform(model));
  const MethodSettings settings{.chains = 40,
                                .sweeps = 300,
                                .ladder = Ladder::linear(5),
                                .tempering = Tempering::parallel,
                                .key = make_key(1)};
  const SampleStore store = run_replicas(target, settings);
  CHECK(store.bundle() == 5);
  CHECK(store.chains() == 40);
  CHECK(store.sweeps() == 240);  // of 300, a fifth being burn-in
  for (const Method& method : registered_methods()) {
    INFO(method.name);
    if (method.any_tempering) {
      const Estimate live = estimate_log_z(method.name, target, settings);
      CHECK(live.status == Status::ok);
      if (!method.from_store) continue;
      const Estimate stored = estimate_from(method.name, store);
      CHECK(stored.log_z == live.log_z);
      CHECK(stored.std_error == live.std_error);
      CHECK(MethodRuns(target, settings).estimate(method.name).log_z == live.log_z);
      continue;
    }
    if (method.source == Source::tempered)
      CHECK_THROWS_AS(estimate_log_z(method.name, target, settings), InvalidArgument);
    if (method.from_store) CHECK_THROWS_AS(estimate_from(method.name, store), InvalidArgument);
  }
}

TEST_CASE("bundles and burn-in are as they are asked for, at equal moves") {
  const auto work = [](MethodSettings settings) {
    settings.chains = 40;
    settings.sweeps = 300;
    settings.ladder = Ladder::linear(5);
    return replica_options(settings);
  };
  CHECK(work({}).bundles == 8);
  CHECK(work({}).burn_in + work({}).sweeps == 300);
  CHECK(work({.bundles = 16}).burn_in == 30);  // of 150
  CHECK(work({.bundles = 16}).sweeps == 120);
  CHECK(work({.bundles = 6}).sweeps == 320);  // of 400
  CHECK(work({.burn_in = 0}).sweeps == 300);
  CHECK(work({.bundles = 16, .burn_in = 149}).sweeps == 1);
  CHECK_THROWS_AS(work({.bundles = 16, .burn_in = 150}), InvalidArgument);
  CHECK_THROWS_AS(work({.bundles = 1300}), InvalidArgument);  // a sweep each
  CHECK(method_work("bar", {.chains = 40,
                            .sweeps = 300,
                            .ladder = Ladder::linear(5),
                            .tempering = Tempering::parallel,
                            .bundles = 16})
            .chains == 80);
}

TEST_CASE("replicas keep two sweeps of a lone bundle, and have two to come down in from b = 1") {
  const auto work = [](int sweeps, int burn_in, bool from_the_top) {
    MethodSettings settings{
        .chains = 5, .sweeps = sweeps, .ladder = Ladder::linear(5), .burn_in = burn_in};
    if (from_the_top) settings.top_start = [](Population&, int) {};
    return replica_options(settings);
  };
  CHECK(work(9, -1, false).burn_in == 1);
  CHECK(work(9, -1, true).burn_in == 2);
  CHECK(work(9, -1, true).sweeps == 7);
  CHECK(work(4, -1, true).sweeps == 2);
  CHECK(work(2, -1, false).sweeps == 2);
  CHECK_THROWS_WITH(work(3, -1, true), Catch::Contains("must be worth 4 sweeps of a chain"));
  CHECK_THROWS_WITH(work(1, -1, false), Catch::Contains("must be worth 2 sweeps of a chain"));
  CHECK(work(20, 18, false).sweeps == 2);
  CHECK_THROWS_WITH(work(20, 19, false),
                    Catch::Contains("burn-in = 19 (must leave 2 of the 20 sweeps"));
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

TEST_CASE("adaptive tempering needs two round trips of each chain: fifty in all are not enough") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Constant(4, 3, 0.2), Eigen::VectorXd::Zero(4),
                                     Eigen::VectorXd::Zero(3));
  const LayeredTarget target(model, Base::uniform(model));
  const auto run = [&](int sweeps) {
    return adaptive_tempering(
               target,
               {.chains = 200, .sweeps = sweeps, .ladder = Ladder::linear(5), .key = make_key(1)})
        .estimate;
  };
  const Estimate few = run(40), many = run(160);
  CHECK(few.effective_samples > 60);  // its round trips
  CHECK(few.effective_samples < 380);
  CHECK(few.status == Status::not_converged);
  CHECK(says_round_trips(few));
  CHECK(many.effective_samples > 420);
  CHECK(many.status == Status::ok);
}

TEST_CASE("parallel tempering is judged by its round trips however few sweeps are kept") {
  const Layered model = Layered::rbm(Eigen::MatrixXd::Constant(4, 3, 0.2), Eigen::VectorXd::Zero(4),
                                     Eigen::VectorXd::Zero(3));
  const LayeredTarget target(model, Base::uniform(model));
  for (const char* method : {"bar", "mbar", "ti", "ti-corrected"})
    for (const int sweeps : {2, 3, 200}) {
      INFO(method << ", " << sweeps);
      const Estimate estimate = estimate_log_z(method, target,
                                               {.chains = 200,
                                                .sweeps = sweeps,
                                                .ladder = Ladder::linear(5),
                                                .tempering = Tempering::parallel,
                                                .bundles = 40,
                                                .burn_in = 1,
                                                .key = make_key(1)});
      CHECK((estimate.status == Status::ok) == (sweeps == 200));
      CHECK(says_round_trips(estimate) == (sweeps < 200));
    }
}

TEST_CASE("samples that say that rungs were exchanged are judged, though none is seen to move") {
  // Rungs that stay: of independent chains nothing to judge, of exchanged ones no round trip.
  SampleStore store = estimate_test::store_on(Ladder::linear(3), 50, 40 * 3);
  store.random_rungs = false;
  for (Index c = 0; c < store.chains(); ++c) store.rung.col(c).setConstant(static_cast<int>(c % 3));
  Estimate fixed, exchanged;
  judge_mixing(fixed, store);
  CHECK(fixed.status == Status::ok);
  store.exchanged_rungs = true;
  judge_mixing(exchanged, store);
  CHECK(exchanged.status == Status::not_converged);
  CHECK(says_round_trips(exchanged));
}
