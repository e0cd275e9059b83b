// What a run of parallel tempering counts, remembers and refuses.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "verification/exact/support/enumeration_models.hpp"

using namespace boltzmark;

namespace {

Layered zero_model() {
  return Layered::rbm(Eigen::MatrixXd::Zero(3, 2), Eigen::VectorXd::Zero(3),
                      Eigen::VectorXd::Zero(2));
}

Layered steep_model() {
  Eigen::MatrixXd weights(3, 2);
  weights << 3, -2, -3, 2, 4, -4;
  return Layered::rbm(weights, Eigen::VectorXd::Ones(3), -Eigen::VectorXd::Ones(2));
}

ParallelTempering ladders_of(const Layered& model, int bundles, int temperatures) {
  return {
      model, bundles, {.inverse_temperatures = uniform_ladder(temperatures), .rule = Rule::flip()}};
}

std::string saved(const ParallelTempering& ladders) {
  CheckpointWriter out;
  ladders.save(out);
  return out.finish();
}

}  // namespace

TEST_CASE("a uniform ladder holds 0 and 1 and equal steps") {
  CHECK(uniform_ladder(1) == std::vector<float>{1.0F});
  CHECK(uniform_ladder(2) == std::vector<float>{0.0F, 1.0F});
  CHECK(uniform_ladder(5) == std::vector<float>{0.0F, 0.25F, 0.5F, 0.75F, 1.0F});
  CHECK_THROWS_AS(uniform_ladder(0), InvalidArgument);
}

TEST_CASE("a swap is as likely as the joint law demands") {
  CHECK(swap_probability(0.25, 0.75, 3.0, 3.0) == 1.0);
  CHECK(swap_probability(0.25, 0.75, 5.0, 1.0) == 1.0);  // the colder one gets the likelier state
  CHECK(swap_probability(0.25, 0.75, 1.0, 5.0) == Approx(std::exp(-2.0)).epsilon(1e-15));
  CHECK(swap_probability(0.0, 1.0, -1e300, 1e300) == 0.0);
  CHECK(swap_probability(0.0, 1.0, 1e300, -1e300) == 1.0);
}

TEST_CASE("every swap of a flat model is accepted and round trips are counted as they end") {
  // f is constant: with two temperatures the chains change places at each step, so that from the
  // second step on one chain of each ladder ends a trip.
  const Layered model = zero_model();
  const PackedModel packed(model);
  ParallelTempering ladders = ladders_of(model, 3, 2);
  CHECK(std::isnan(ladders.acceptance()[0]));
  for (int step = 1; step <= 6; ++step) {
    ladders.step(packed, PhiloxDraws(make_key(1)));
    CHECK(ladders.rung(0) == step % 2);
    CHECK(ladders.acceptance() == std::vector<double>{1.0});
    CHECK(ladders.round_trips() == static_cast<std::uint64_t>(3 * (step - 1)));
  }
}

TEST_CASE("a ladder of one temperature makes plain sweeps") {
  const Layered model = steep_model();
  const PackedModel packed(model);
  const PhiloxDraws draws(make_key(2));
  ParallelTempering ladders = ladders_of(model, 20, 1);
  Chains chains(model, 20);
  for (std::uint64_t step = 0; step < 5; ++step) {
    ladders.step(packed, draws);
    sweep(packed, chains, draws, {.rule = Rule::flip(), .first_sweep = step});
  }
  CHECK(ladders.chains().get_layer(0) == chains.get_layer(0));
  CHECK(ladders.chains().get_layer(1) == chains.get_layer(1));
  CHECK(ladders.acceptance().empty());
  CHECK(ladders.round_trips() == 0);
}

TEST_CASE("a step of a ladder is its sweeps, then swaps by the states that they leave") {
  const Layered model = steep_model();
  const PackedModel packed(model);
  const PhiloxDraws draws(make_key(4));
  ParallelTempering whole = ladders_of(model, 20, 4), halves = ladders_of(model, 20, 4);
  for (int i = 0; i < 20; ++i) {
    whole.step(packed, draws);
    halves.sweep(packed, draws);
    halves.swap(packed, draws);
    for (int c = 0; c < 80; ++c) REQUIRE(whole.rung(c) == halves.rung(c));
  }
  CHECK(whole.chains().get_layer(0) == halves.chains().get_layer(0));
}

// So many that threads share the swaps' energies: 450 units of 9,200 chains.
TEST_CASE("a step of many ladders gives the same bytes for one thread and two") {
  const Layered model = enumeration_test::random_network({0, 0, 0}, {200, 150, 100}, 0.1, 1);
  const PackedModel packed(model, {.chains = 9200});
  std::vector<std::string> ends;
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    ParallelTempering ladders = ladders_of(model, 2300, 4);
    for (int step = 0; step < 2; ++step) ladders.step(packed, PhiloxDraws(make_key(5)));
    ends.push_back(saved(ladders));
    CHECK(ladders.acceptance()[0] > 0);
  }
  CHECK(ends[0] == ends[1]);
}

TEST_CASE("a restored ladder continues with the same states and counts") {
  const Layered model = steep_model();
  const PackedModel packed(model);
  const PhiloxDraws draws(make_key(3));
  ParallelTempering whole = ladders_of(model, 5, 4), second = ladders_of(model, 5, 4);
  for (int i = 0; i < 30; ++i) whole.step(packed, draws);
  const std::string bytes = saved(whole);
  CheckpointReader in(bytes);
  second.restore(in);
  CHECK_NOTHROW(in.finish());
  CHECK(saved(second) == bytes);
  for (int i = 0; i < 30; ++i) {
    whole.step(packed, draws);
    second.step(packed, draws);
  }
  CHECK(whole.chains().get_layer(0) == second.chains().get_layer(0));
  CHECK(whole.acceptance() == second.acceptance());
  CHECK(whole.round_trips() == second.round_trips());
  CHECK(whole.round_trips() > 0);
  for (int c = 0; c < 20; ++c) {
    CHECK(whole.rung(c) == second.rung(c));
    CHECK(whole.chain_at(c / 4, whole.rung(c)) == c);
  }
}

TEST_CASE("a state that is no ladder's is refused") {
  const std::vector<double> ladder = {0, 0.5, 1};
  LadderSwaps swaps(ladder, 2);
  const std::vector<int> rungs = {0, 1, 2, 0, 1, 2};
  const LadderSwaps::Tally tally = swaps.tally();
  CHECK_THROWS_AS(swaps.restore({0, 1, 1, 0, 1, 2}, tally), InvalidArgument);
  CHECK_THROWS_AS(swaps.restore({0, 1, 3, 0, 1, 2}, tally), InvalidArgument);
  LadderSwaps::Tally other = tally;
  other.accepted.clear();
  CHECK_THROWS_AS(swaps.restore(rungs, other), InvalidArgument);
  other = tally;
  other.last_ends.clear();
  CHECK_THROWS_AS(swaps.restore(rungs, other), InvalidArgument);
  for (const int none : {-1, 3}) {  // neither end, nor that there was none yet
    other = tally;
    other.last_ends[4] = none;
    CHECK_THROWS_AS(swaps.restore(rungs, other), InvalidArgument);
  }
  CHECK_NOTHROW(swaps.restore(rungs, tally));
  for (const LadderSwaps& others : {LadderSwaps(ladder, 3), LadderSwaps({0, 1}, 3)})
    CHECK_THROWS_AS(swaps.restore(others.chain_rungs(), others.tally()), InvalidArgument);
}

TEST_CASE("a checkpoint of ladders that is refused leaves them as they were") {
  const Layered model = zero_model();
  ParallelTempering ladders = ladders_of(model, 1, 3);
  const std::string before = saved(ladders);
  const auto restore = [&](const std::vector<int>& rungs) {
    Chains on(model, 3);
    on.set_layer(0, Eigen::MatrixXf::Ones(3, 3));
    CheckpointWriter out;
    out.write(std::uint64_t{9});  // steps
    out.write(std::uint64_t{4});  // round trips
    save_states(on, out);
    out.write(rungs);
    out.write(std::vector<int>{0, 1, 2});  // ends
    out.write(std::vector<std::uint64_t>{5, 6});
    const std::string bytes = out.finish();
    CheckpointReader in(bytes);
    ladders.restore(in);
  };
  CHECK_THROWS_AS(restore({0, 0, 1}), InvalidArgument);
  CHECK(saved(ladders) == before);
  restore({1, 0, 2});
  CHECK(saved(ladders) != before);
  CHECK(ladders.chains().get_layer(0) == Eigen::MatrixXf::Ones(3, 3));
}

TEST_CASE("a ladder that does not ascend to 1 within [0, 1] is refused") {
  const Layered model = zero_model();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::vector<float>> bad = {
      {}, {0.0F}, {0.0F, 0.5F}, {-0.1F, 1}, {0, 1, 1}, {0.5F, 0, 1}, {nan, 1}, {0, nan, 1.0F}};
  for (const std::vector<float>& ladder : bad)
    CHECK_THROWS_AS(ParallelTempering(model, 1, {.inverse_temperatures = ladder}), InvalidArgument);
  CHECK_THROWS_AS(ParallelTempering(model, 0, {}), InvalidArgument);
  CHECK_THROWS_AS(ParallelTempering(model, 1, {.sweeps = -1}), InvalidArgument);
}
