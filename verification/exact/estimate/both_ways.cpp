// Runs both ways: from the base upwards, and from states near modes downwards.
#include "boltzmark/estimate/held/both_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "verification/checks/known/known_model.hpp"

using namespace boltzmark;

namespace {

Modes modes_of(const Layered& model) {
  return find_modes(model, Base::uniform(model), mode_search(model, 1));
}

BothWays both_ways(const Layered& model, const AnnealingOptions& options) {
  const LayeredTarget target(model, Base::uniform(model));
  return {annealed_importance_sampling(target, options).estimate,
          anneal_from_modes(target, modes_of(model), options).estimate};
}

Layered small(const std::vector<Unit>& units) {
  Stream draws(make_key(5, "both ways"), Purpose::test);
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> matrices;
  for (std::size_t l = 0; l < units.size(); ++l) {
    const int size = 5 - static_cast<int>(l);
    layers.push_back({.unit = units[l], .bias = Eigen::VectorXd(size), .sigma0 = {}});
    for (double& bias : layers.back().bias) bias = 0.4 * draws.normal();
    if (l == 0) continue;
    matrices.emplace_back(size + 1, size);
    for (double& weight : matrices.back().reshaped()) weight = 0.8 * draws.normal();
  }
  return {std::move(layers), std::move(matrices)};
}

// What a method tells of chains from the base, and of chains from modes beside it.
BothWays both_ways(const std::string& method, const Layered& model, MethodSettings settings) {
  const LayeredTarget target(model, Base::uniform(model));
  MethodRuns runs(target, settings);
  const Estimate told = runs.estimate(method);
  settings.key = derive_key(settings.key, "other way");
  if (find_method(method).source == Source::tempered && settings.tempering != Tempering::parallel)
    settings.log_z_hat = runs.tempered().store.log_z_hat;
  return find_method(method).other_way(find_method(method), told, target, modes_of(model),
                                       settings);
}

// What an estimate of 100 +- 0.03 is after it was held to one from the other end.
Estimate held_to(double reverse, double error) {
  const Estimate told{
      .log_z = 100, .std_error = 0.03, .lower = 99.9, .upper = 100.1, .effective_samples = 90};
  Estimate other = told, estimate = told;
  other.log_z = reverse;
  other.std_error = error;
  hold_to_gap({told, other}, estimate);
  return estimate;
}

}  // namespace

TEST_CASE("chains that begin near modes have draws of their own, in every block") {
  // Fair coins: two chains of equal draws agree on all forty, others once in 2^40.
  const Layered coins = Layered::rbm(Eigen::MatrixXd::Zero(40, 4), Eigen::VectorXd::Zero(40),
                                     Eigen::VectorXd::Zero(4));
  const LayeredTarget target(coins, Base::uniform(coins));
  const Modes modes = modes_of(coins);
  const auto population = target.chains(0, 48, make_key(7));
  start_from_modes(target, modes, 48, make_key(7))(*population, 0);
  const Eigen::MatrixXf states = population->layer_states().get_layer(0);
  for (int a = 0; a < 48; ++a)
    for (int b = 0; b < a; ++b) CHECK(states.col(a) != states.col(b));
}

TEST_CASE("chains from the base and chains from modes find log Z, of every unit and depth") {
  const Unit bit = Unit::bernoulli(), spin = Unit::multivalued(1), four = Unit::multivalued(4),
             line = Unit::continuous();
  for (const std::vector<Unit>& units : std::vector<std::vector<Unit>>{{bit, bit},
                                                                       {spin, four},
                                                                       {four, bit},
                                                                       {line, spin},
                                                                       {bit, bit, bit},
                                                                       {spin, bit, four}}) {
    const Layered model = small(units);
    const double log_z = exact_log_z(model).log_z;
    const BothWays ways = both_ways(model, {.ladder = Ladder::linear(101),
                                            .chains = 400,
                                            .sweeps = 400,
                                            .key = make_key(1, "both ways")});
    for (const Estimate& way : {ways.forward, ways.reverse}) {
      INFO(model.layers() << " layers, " << units[0].name() << " visible: " << way.log_z << " +- "
                          << way.std_error << ", exact " << log_z);
      CHECK(way.status == Status::ok);
      CHECK(std::abs(way.log_z - log_z) < 5 * way.std_error);
    }
    Estimate estimate = ways.forward;
    hold_to_gap(ways, estimate);
    CHECK(estimate.status == Status::ok);
  }
}

TEST_CASE("tempered chains that begin in modes find log Z as those from the base do") {
  const Unit bit = Unit::bernoulli(), four = Unit::multivalued(4), line = Unit::continuous();
  struct Way {
    const char* method;
    std::optional<Tempering> tempering;
  };
  for (const std::vector<Unit>& units : std::vector<std::vector<Unit>>{
           {bit, bit}, {four, bit}, {line, Unit::multivalued(1)}, {bit, four, bit}})
    for (const Way& way : {Way{"rts", {}}, Way{"mbar", {}}, Way{"bar", Tempering::parallel},
                           Way{"ss", {}}, Way{"smc", {}}}) {
      const Layered model = small(units);
      const double log_z = exact_log_z(model).log_z;
      const BothWays ways = both_ways(way.method, model,
                                      {.chains = 100,
                                       .sweeps = 1000,
                                       .ladder = Ladder::linear(20),
                                       .tempering = way.tempering,
                                       .key = make_key(2, "both ways")});
      for (const Estimate& side : {ways.forward, ways.reverse}) {
        INFO(way.method << ", " << model.layers() << " layers, " << units[0].name() << " visible: "
                        << side.log_z << " +- " << side.std_error << ", exact " << log_z);
        CHECK(side.status == Status::ok);
        CHECK(std::abs(side.log_z - log_z) < 5 * side.std_error);
      }
      CHECK(ways.forward.log_z != ways.reverse.log_z);
    }
}

TEST_CASE("chains begin in modes in proportion to f, whatever their numbers") {
  const KnownModel tilted = make_known_model("tilted:40:12:0.3:1");
  const LayeredTarget target(tilted.model, Base::uniform(tilted.model));
  const Modes modes = modes_of(tilted.model);
  constexpr int kChains = 384, kHalf = kChains / 2;
  const SetStates start = start_from_modes(target, modes, kChains, make_key(1, "numbers"));
  for (const int first : {0, kHalf}) {
    const auto block = target.chains(first, kHalf, make_key(1));
    start(*block, first);
    const Eigen::MatrixXf visible = block->layer_states().get_layer(0);
    const auto on = (visible.colwise().sum().array() > 20).count();
    INFO(on << " of " << kHalf << " are in the likelier mode");
    CHECK((on > kHalf / 2 && on < kHalf - 10));  // some seven in ten
  }
}

TEST_CASE(
    "a mode that no tempered chain from the base comes to is told by those that come from it") {
  const KnownModel votes = make_known_model("votes:200:60:8:10:1");
  for (const auto tempering : {Tempering::simulated, Tempering::parallel}) {
    const BothWays ways = both_ways(
        "bar", votes.model,
        {.chains = 100, .sweeps = 2000, .tempering = tempering, .key = make_key(1, "votes")});
    INFO(ways.forward.log_z << " +- " << ways.forward.std_error << ", " << ways.reverse.log_z
                            << " +- " << ways.reverse.std_error);
    CHECK(ways.forward.log_z < votes.known.log_z - 5);
    Estimate estimate = ways.forward;
    hold_to_gap(ways, estimate);
    CHECK(estimate.status == Status::not_converged);
    // By the weights of those from the base the others stay up: at some rung there is none of them.
    CHECK(estimate.warnings.back().find(tempering == Tempering::parallel
                                            ? "these never met those"
                                            : "chains from b = 1 find no number") !=
          std::string::npos);
  }
}

// The ground states of a lattice that is not ordered are far likelier than usual states: from a sweep
// after them downwards annealing finds two nats too much.
TEST_CASE("chains from modes go down from where they are usually, not from the modes") {
  const KnownModel lattice = make_known_model("ising:16:0.4");
  const BothWays ways = both_ways(
      lattice.model,
      {.ladder = Ladder::linear(151), .chains = 400, .sweeps = 300, .key = make_key(1, "lattice")});
  INFO(ways.reverse.log_z << " +- " << ways.reverse.std_error << ", " << lattice.known.log_z);
  CHECK(std::abs(ways.reverse.log_z - lattice.known.log_z) < 5 * ways.reverse.std_error);
  CHECK(ways.reverse.std_error < 0.15);
}

TEST_CASE("chains from modes are at b = 1 for half of their sweeps, and go down in the others") {
  const Layered model = small({Unit::bernoulli(), Unit::bernoulli()});
  const LayeredTarget target(model, Base::uniform(model));
  std::vector<double> told;
  // 16 chains are one group, told after its first sweep of ten at b = 1, and of ten below.
  anneal_from_modes(target, modes_of(model),
                    {.ladder = Ladder::linear(5),
                     .chains = 16,
                     .sweeps = 20,
                     .key = make_key(1, "halves"),
                     .progress = [&](double done) { told.push_back(done); }});
  REQUIRE_FALSE(told.empty());
  CHECK(told.front() == Approx(0.5 / 10));
  const auto below = std::find_if(told.begin(), told.end(), [](double done) { return done > 0.5; });
  REQUIRE(below != told.end());
  CHECK(*below == Approx(0.5 + 0.5 / 10));
}

TEST_CASE("a mode that no chain from the base ends in is told by those that come from it") {
  const KnownModel votes = make_known_model("votes:200:60:8:10:1");
  const BothWays ways = both_ways(
      votes.model,
      {.ladder = Ladder::linear(201), .chains = 100, .sweeps = 400, .key = make_key(1, "votes")});
  CHECK(ways.forward.log_z < votes.known.log_z - 5);
  CHECK(ways.reverse.log_z > votes.known.log_z);
  Estimate estimate = ways.forward;
  REQUIRE(estimate.status == Status::ok);
  hold_to_gap(ways, estimate);
  CHECK(estimate.status == Status::not_converged);
  CHECK(estimate.warnings.back().find("these never met those") != std::string::npos);
}

TEST_CASE("a gap between both ways refuses beyond three of its errors and half a nat") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  // The gap's error is that of both: 0.05 with 0.04 and 0.03, and 0.25 with 0.248 and 0.03.
  CHECK(BothWays{.forward = {.log_z = 1, .std_error = 0.03},
                 .reverse = {.log_z = 3, .std_error = 0.04}}
            .gap_error() == Approx(0.05));
  const double wide = std::sqrt(0.25 * 0.25 - 0.03 * 0.03);
  for (const double sign : {-1, 1}) {
    INFO("sign " << sign);
    CHECK(held_to(100 + sign * 0.149, 0.04).warnings.empty());
    CHECK(held_to(100 + sign * 0.151, 0.04).warnings.size() == 1);
    CHECK(held_to(100 + sign * 0.151, 0.04).status == Status::ok);
    CHECK(held_to(100 + sign * 0.499, 0.04).status == Status::ok);
    CHECK(held_to(100 + sign * 0.501, 0.04).status == Status::not_converged);
    CHECK(held_to(100 + sign * 0.749, wide).status == Status::ok);
    CHECK(held_to(100 + sign * 0.751, wide).status == Status::not_converged);
  }
  const auto last = [](const Estimate& estimate) {
    return estimate.warnings.empty() ? std::string() : estimate.warnings.back();
  };
  CHECK(last(held_to(101, 0.04)).find("these never met those") != std::string::npos);
  CHECK(last(held_to(99, 0.04)).find("those never met these") != std::string::npos);
  for (const Estimate& estimate : {held_to(100, none), held_to(none, 0.04)}) {
    CHECK(estimate.status == Status::not_converged);
    CHECK(last(estimate).find("no number to hold the estimate to") != std::string::npos);
  }
}

TEST_CASE("a gap to chains that are not ok by themselves tells little, and that is said") {
  const Estimate told{.log_z = 100, .std_error = 0.03, .lower = 99.9, .upper = 100.1};
  Estimate few = told, estimate = told;
  few.refuse(Status::few_effective_samples, "few");
  hold_to_gap({told, few}, estimate);
  CHECK(estimate.status == Status::ok);
  REQUIRE(estimate.warnings.size() == 1);
  CHECK(estimate.warnings[0].find("from b = 1 have the status few_effective_samples") !=
        std::string::npos);
  estimate = told;
  hold_to_gap({few, told}, estimate);
  CHECK(estimate.status == Status::ok);
  REQUIRE(estimate.warnings.size() == 1);
  CHECK(estimate.warnings[0].find("from the base have the status few_effective_samples") !=
        std::string::npos);
}

TEST_CASE("chains that find no number are told with their own status, from whichever end") {
  const Estimate told{.log_z = 100, .std_error = 0.03, .lower = 99.9, .upper = 100.1};
  Estimate none;
  none.refuse(Status::unvisited_rung, "a rung");
  for (const auto& [ways, from] :
       {std::pair(BothWays{none, told}, "the base"), {BothWays{told, none}, "b = 1"}}) {
    Estimate estimate = told;
    hold_to_gap(ways, estimate);
    CHECK(estimate.status == Status::not_converged);
    CHECK(estimate.warnings ==
          std::vector<std::string>{fmt::format(
              "chains from {} find no number to hold the estimate to (unvisited_rung)", from)});
  }
}

// Of a well that all chains start in, the rest of the mass is in no reverse weight.
TEST_CASE("estimates of a well that are ok are not refused for the gap, of twenty seeds") {
  int ok = 0;
  const KnownModel well = make_known_model("well:100:12:5:1");
  const ChosenBase chosen = choose_auto_base(well.model, mode_search(well.model, 1), 1);
  const LayeredTarget target(well.model, chosen.base);
  const Modes modes = modes_of(well.model);
  for (int seed = 1; seed <= 20; ++seed) {
    const AnnealingOptions options{.ladder = Ladder::linear(2001),
                                   .chains = 100,
                                   .sweeps = 2000,
                                   .key = make_key(seed, "well")};
    const BothWays ways{annealed_importance_sampling(target, options).estimate,
                        anneal_from_modes(target, modes, options).estimate};
    Estimate estimate = ways.forward;
    hold_to_gap(ways, estimate);
    INFO(seed << ": " << ways.gap() << " +- " << ways.gap_error());
    if (ways.forward.status != Status::ok) continue;
    CHECK(estimate.status == Status::ok);
    ++ok;
  }
  CHECK(ok >= 15);
}

TEST_CASE("the other way is AIS for RAISE and RAISE from modes for AIS, whatever the threads") {
  const Layered model = make_known_model("ising:4:1").model;  // chains keep their ground state
  const LayeredTarget target(model, Base::uniform(model));
  const Modes modes = modes_of(model);
  REQUIRE(modes.count() >= 2);
  const MethodSettings settings{.chains = 40, .sweeps = 60, .key = make_key(3, "ways")};
  const auto way_of = [&](const char* method, int threads) {
    const ThreadLimit limit(threads);
    const Estimate told = estimate_log_z(method, target, settings);
    return find_method(method).other_way(find_method(method), told, target, modes, settings);
  };
  const BothWays ais = way_of("ais", 1), again = way_of("ais", 3), raise = way_of("raise", 1);
  CHECK(ais.reverse.log_z == again.reverse.log_z);
  CHECK(ais.forward.log_z == estimate_log_z("ais", target, settings).log_z);
  CHECK(raise.reverse.log_z == estimate_log_z("raise", target, settings).log_z);
  CHECK(raise.forward.log_z == ais.forward.log_z);
  CHECK(ais.reverse.log_z != raise.reverse.log_z);
  for (const char* method : {"rts", "ts", "ti-riemann", "ti", "ti-simpson", "ti-corrected", "ti-rb",
                             "bar", "mbar", "sd", "rsd", "rts-mixed", "ais", "raise", "smc", "ss"})
    CHECK(find_method(method).other_way);
  for (const char* method : {"wang-landau", "sams", "ti-continuous"})
    CHECK_FALSE(find_method(method).other_way);
}
