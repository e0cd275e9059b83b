// Adaptive simulated tempering and its coupling, draw by draw against the paper's Algorithm 1 written
// out for one chain at a time, and what their runs promise: resumed ones give the same bytes.
#include <tbb/task_arena.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/transition/log_density.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/constant_factor.hpp"
#include "verification/checks/laws/coupling_laws.hpp"
#include "verification/exact/support/drawn_network.hpp"

using namespace boltzmark;

namespace {

// Multiples of 2^-8, so that energies are the same numbers in any order of summing.
Layered dyadic_network(const std::vector<int>& sizes, const std::vector<int>& codes) {
  Stream stream(make_key(11, "coupled"), Purpose::test);
  const auto draw = [&](double most) {
    return std::round(256 * stream.uniform(-most, most)) / 256;
  };
  return drawn_network(
      codes, sizes, [&] { return draw(1); }, [&] { return draw(2); });
}

// Algorithm 1 as printed: rungs count down from k = 1, where b = 1; g is kept as it is.
struct Particle {
  int k = 1;
  std::vector<double> log_g;  // of k = 1, 2, ..
  State last;                 // with k = 1
};

struct Algorithm {
  std::vector<float> ladder;  // of k = 1, 2, ..
  AdaptingFactor factor;
  bool shared = false;

  int rungs() const { return static_cast<int>(ladder.size()); }
  double q(int to, int from) const {
    if (from == 1 || from == rungs()) return std::abs(to - from) == 1 ? 1 : 0;
    return std::abs(to - from) == 1 ? 0.5 : 0;
  }
  // Step 4, with words 0 and 1 of the chain's Philox block of this sweep.
  void move(Particle& particle, double energy, const std::array<std::uint32_t, 4>& words) const {
    const int k = particle.k;
    int to = words[0] < 0x80000000U ? k + 1 : k - 1;  // a lower b, or a higher one
    if (k == 1) to = 2;
    if (k == rungs()) to = k - 1;
    const double ratio =
        std::exp(-(static_cast<double>(ladder[to - 1]) - static_cast<double>(ladder[k - 1])) *
                 energy) *
        q(k, to) / q(to, k) * std::exp(particle.log_g[k - 1] - particle.log_g[to - 1]);
    if (words[1] < std::round(0x1p32 * std::min(1.0, ratio))) particle.k = to;
  }
  // Step 5.
  void adapt(std::vector<Particle>& particles, int update) const {
    const double gamma = factor.vanishing ? factor.size / update : factor.size;
    const auto count = static_cast<double>(particles.size());
    for (std::size_t i = 0; i < particles.size(); ++i)
      for (Particle& particle : particles)
        if (shared)
          particle.log_g[particles[i].k - 1] += std::log(1 + gamma) / count;
        else if (&particle == &particles[i])
          particle.log_g[particle.k - 1] += std::log(1 + gamma);
  }
};

void put(Chains& chains, int chain, const State& state) {
  for (int l = 0; l < chains.layers(); ++l)
    for (int u = 0; u < chains.size(l); ++u)
      chains.set(l, u, chain, static_cast<float>(state[l][u]));
}

// One sweep of all chains, and Algorithm 1's steps of those from `first` on.
void iterate(const Algorithm& algorithm, const Layered& model, const PackedModel& packed,
             StreamKey key, int sweep_number, int update, Chains& chains, int first,
             std::vector<Particle>& particles) {
  std::vector<float> betas(static_cast<std::size_t>(chains.chains()), 1.0F);
  for (std::size_t i = 0; i < particles.size(); ++i)
    betas[first + i] = algorithm.ladder[particles[i].k - 1];
  sweep(packed, chains, PhiloxDraws(key),
        {.inverse_temperatures = betas, .first_sweep = static_cast<std::uint64_t>(sweep_number)});
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto chain = static_cast<int>(first + i);
    algorithm.move(particles[i], energy(model, chains.get_chain(chain)),
                   philox(key, {0, static_cast<std::uint32_t>(chain),
                                static_cast<std::uint32_t>(sweep_number + 1),
                                static_cast<std::uint32_t>(Purpose::rung_step)}));
  }
  algorithm.adapt(particles, update);
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (particles[i].k == 1) particles[i].last = chains.get_chain(static_cast<int>(first + i));
}

std::vector<Particle> particles_at_one(const Chains& chains, int first, int rungs) {
  std::vector<Particle> particles;
  for (int c = first; c < chains.chains(); ++c)
    particles.push_back({.log_g = std::vector<double>(static_cast<std::size_t>(rungs), 0.0),
                         .last = chains.get_chain(c)});
  return particles;
}

bool same_states(const Chains& a, const Chains& b) {
  bool same = true;
  for (int l = 0; l < a.layers(); ++l) same = same && a.get_layer(l) == b.get_layer(l);
  return same;
}

// g relative to that of k = 1, in the engine's order.
double weight_error(const Particle& particle, std::span<const double> log_g) {
  double worst = 0;
  for (std::size_t k = 0; k < log_g.size(); ++k)
    worst = std::max(
        worst, std::abs(log_g[log_g.size() - 1 - k] - (particle.log_g[k] - particle.log_g[0])));
  return worst;
}

struct Setting {
  SwapRule swap;
  int temperatures;
  AdaptingFactor factor;
  WeightSharing weights;
};

// Pairs whose two halves share a block of chains.
constexpr int kPairs = 20;
constexpr int kLag = 7;

void follow_coupled(const Layered& model, const Setting& setting) {
  const StreamKey key = make_key(3, "coupled");
  const std::vector<float> ladder = uniform_ladder(setting.temperatures, 0.25);
  CoupledChains coupled({.model = model,
                         .packing = {.chains = kPairs},
                         .key = key,
                         .draws = std::make_shared<PhiloxDraws>(key)},
                        {ladder, setting.factor, setting.weights},
                        {.swap = setting.swap, .lag = kLag});
  const Algorithm algorithm{
      {ladder.rbegin(), ladder.rend()}, setting.factor, setting.weights == WeightSharing::shared};
  const PackedModel packed(model, {.chains = 2 * kPairs});
  Chains chains(model, 2 * kPairs), slow(model, kPairs);
  chains.randomise(key);
  std::vector<Particle> fast = particles_at_one(chains, kPairs, setting.temperatures);
  int swaps = 0, visits = 0;
  for (int n = 1; n <= 200; ++n) {
    std::vector<int> before;
    for (const Particle& particle : fast) before.push_back(particle.k);
    iterate(algorithm, model, packed, key, n - 1, n, chains, kPairs, fast);
    for (int i = 0; i < kPairs; ++i) {
      Particle& particle = fast[i];
      const bool now = particle.k == 1, lag = n % kLag == 0;
      visits += particle.k == setting.temperatures;
      const bool swap = setting.swap == SwapRule::last   ? lag
                        : setting.swap == SwapRule::lag  ? lag && now
                        : setting.swap == SwapRule::each ? now
                                                         : now && before[i] != 1;
      if (!swap) continue;
      ++swaps;
      const State was = chains.get_chain(i);
      put(chains, i, setting.swap == SwapRule::last ? particle.last : chains.get_chain(kPairs + i));
      put(chains, kPairs + i, was);
      particle.k = 1;
      particle.last = was;
    }
    coupled.advance(1);
    REQUIRE(same_states(coupled.pairs().states(), chains));
    coupled.copy_states(slow);
    for (int i = 0; i < kPairs; ++i) {
      REQUIRE(coupled.pairs().rung(kPairs + i) == setting.temperatures - fast[i].k);
      REQUIRE(weight_error(fast[i], coupled.pairs().weights().log_g(i)) < 1e-9);
      REQUIRE(slow.get_chain(i) == chains.get_chain(i));
    }
  }
  CHECK(swaps > 100);   // of 28 lags of 20 pairs, or many more sweeps
  CHECK(visits > 100);  // of the hottest rung
}

Negative with(const char* phase, const std::vector<std::pair<const char*, const char*>>& options) {
  Negative negative = parse_negative(phase);
  for (const auto& [name, value] : options) set_negative_option(negative, name, value);
  return negative;
}

Eigen::MatrixXf coupled_cases(int units, int cases) {
  Stream stream(make_key(7, "coupled cases"), Purpose::test);
  return draw_states(stream, Unit::bernoulli(), units, cases);
}

}  // namespace

TEST_CASE("coupled chains follow Algorithm 1 and their swap rule, draw by draw") {
  const AdaptingFactor ten{}, tenth{.size = 0.1}, falling{.vanishing = true, .size = 10};
  const Layered deep = dyadic_network({4, 3, 2}, {0, 2, 0});
  const Layered deeper = dyadic_network({3, 2, 2, 2}, {0, 0, 1, 0});
  const Layered rbm = dyadic_network({5, 3}, {0, 0});
  for (const SwapRule rule : {SwapRule::last, SwapRule::lag, SwapRule::each, SwapRule::entry}) {
    INFO(name(rule));
    follow_coupled(deep, {rule, 2, ten, WeightSharing::own});
    follow_coupled(deeper, {rule, 3, tenth, WeightSharing::shared});
    follow_coupled(rbm, {rule, 4, falling, WeightSharing::own});
  }
}

TEST_CASE("adaptive runs sweep so many times at b = 1, then follow Algorithm 1 as many times") {
  constexpr int kEvery = 6;
  constexpr int kChains = 20;
  for (const WeightSharing weights : {WeightSharing::own, WeightSharing::shared}) {
    const Layered model = dyadic_network({4, 3, 2}, {0, 0, 2});
    const StreamKey key = make_key(4, "runs");
    const std::vector<float> ladder = uniform_ladder(3, 0.25);
    const AdaptingFactor factor{.size = 2};
    AdaptiveRuns runs({.model = model,
                       .packing = {.chains = kChains},
                       .key = key,
                       .draws = std::make_shared<PhiloxDraws>(key)},
                      {ladder, factor, weights}, kEvery);
    const Algorithm algorithm{
        {ladder.rbegin(), ladder.rend()}, factor, weights == WeightSharing::shared};
    const PackedModel packed(model, {.chains = kChains});
    Chains chains(model, kChains), given(model, kChains);
    chains.randomise(key);
    std::vector<Particle> particles = particles_at_one(chains, 0, 3);
    int sweeps = 0, updates = 0, away = 0;
    for (int n = 1; n <= 60; ++n) {
      sweep(packed, chains, PhiloxDraws(key), {.first_sweep = static_cast<std::uint64_t>(sweeps)});
      ++sweeps;
      if (n % kEvery == 0) {
        for (int c = 0; c < kChains; ++c) particles[c].last = chains.get_chain(c);
        for (int i = 0; i < kEvery; ++i)
          iterate(algorithm, model, packed, key, sweeps++, ++updates, chains, 0, particles);
        for (int c = 0; c < kChains; ++c) {
          away += particles[c].k != 1;
          particles[c].k = 1;
          put(chains, c, particles[c].last);
        }
      }
      runs.advance(1);
      runs.copy_states(given);
      REQUIRE(same_states(given, chains));
      for (int c = 0; c < kChains; ++c)
        REQUIRE(weight_error(particles[c], runs.tempered().weights().log_g(c)) < 1e-9);
    }
    CHECK(away > 20);  // of 200 ends of runs: the last state at b = 1 is another one there
    CHECK(runs.chain_sweeps(60) == kChains * 120.0);
  }
}

TEST_CASE("a run of coupled or adaptive chains resumed at any update gives the same bytes") {
  const Layered deep = dyadic_network({6, 4, 3}, {0, 0, 0});
  const Eigen::MatrixXf data = coupled_cases(6, 8);
  const Negative all[] = {
      with("cast:3:0.2", {{"--lag", "7"}}),
      with("cast:4:0", {{"--lag", "5"}, {"--swap", "lag"}, {"--weights", "shared"}}),
      with("cast:3:0.5", {{"--swap", "each"}, {"--factor", "vanishing:10"}}),
      with("cast:3:0", {{"--swap", "entry"}, {"--factor", "constant:0.1"}}),
      with("st:3:0.2", {{"--every", "4"}}),
      with("st:5:0", {{"--every", "3"}, {"--factor", "vanishing:2"}, {"--weights", "shared"}})};
  for (const Negative& negative : all) {
    INFO(negative.description());
    const TrainOptions options{.negative = negative, .learning_rate = 0.1};
    Trainer whole(deep, data, options, make_key(1));
    whole.advance(30);
    Trainer stopped(deep, data, options, make_key(1));
    for (int update = 1; update < 30; ++update) {
      stopped.step();
      const std::string bytes = stopped.checkpoint();
      Trainer resumed(deep, data, options, make_key(1));
      resumed.restore(bytes);
      CHECK((resumed.checkpoint() == bytes));
      resumed.advance(30 - update);
      CHECK((resumed.checkpoint() == whole.checkpoint()));
      CHECK(resumed.model().weights() == whole.model().weights());
    }
    const ThreadLimit limit(1);
    Trainer one(deep, data, options, make_key(1));
    one.advance(30);
    CHECK((one.checkpoint() == whole.checkpoint()));
  }
}

TEST_CASE("a state of tempered chains with a rung that is not theirs is refused") {
  const Layered model = dyadic_network({4, 3}, {0, 0});
  const auto chains_of = [&](int rungs) {
    return AdaptiveChains({.model = model,
                           .packing = {.chains = kPairs},
                           .draws = std::make_shared<PhiloxDraws>(make_key(6))},
                          1, {.inverse_temperatures = uniform_ladder(rungs, 0.25)});
  };
  CheckpointWriter out;
  chains_of(5).save(out);  // all at rung 4
  const std::string bytes = out.finish();
  AdaptiveChains three = chains_of(3);
  CheckpointReader in(bytes);
  CHECK_THROWS_WITH(three.restore(in), Catch::Contains("rung = 1, 4"));
}

TEST_CASE("tempered chains count the round trips that they make by themselves") {
  const Layered model = dyadic_network({4, 3}, {0, 0});
  const StreamKey key = make_key(6, "trips");
  AdaptiveChains chains({.model = model,
                         .packing = {.chains = kPairs},
                         .key = key,
                         .draws = std::make_shared<PhiloxDraws>(key)},
                        1, {.inverse_temperatures = uniform_ladder(3, 0.25)});
  std::vector<bool> reached(kPairs, false);
  std::uint64_t trips = 0, carried = 0;
  for (int n = 1; n <= 400; ++n) {
    chains.sweep();
    chains.move_rungs();
    for (int c = 0; c < kPairs; ++c) {
      const int rung = chains.rung(1 + c);
      if (rung == 0) reached[c] = true;
      if (rung == 2) {
        trips += reached[c] ? 1 : 0;
        reached[c] = false;
      }
    }
    REQUIRE(chains.round_trips() == trips);
    if (n % 5 != 0) continue;
    const int taken = n / 5 % kPairs;  // brought back: no trip of its own
    carried += reached[taken] ? 1 : 0;
    chains.return_to_top(1 + taken);
    reached[taken] = false;
  }
  CHECK(trips > 20);
  CHECK(carried > 5);
}

TEST_CASE("each fast chain starts where its slow one does") {
  const Layered model = dyadic_network({6, 5}, {0, 0});
  Chains start(model, 5);
  start.randomise(make_key(9));
  const CoupledChains coupled({.model = model, .packing = {.chains = 5}, .start = &start},
                              {uniform_ladder(3)}, {});
  for (int c = 0; c < 5; ++c)
    for (const int chain : {c, 5 + c})
      CHECK(coupled.pairs().states().get_chain(chain) == start.get_chain(c));
  CHECK(start.get_chain(0) != start.get_chain(1));
}

TEST_CASE("half of the chains are slow, and settings that cannot be are refused") {
  const Layered model = dyadic_network({4, 3}, {0, 0});
  const auto made = [&](const Negative& negative, int cases) {
    return make_sampler(negative, {.model = model,
                                   .packing = {.chains = cases},
                                   .key = make_key(1),
                                   .draws = std::make_shared<PhiloxDraws>(make_key(1))});
  };
  CHECK(made(Negative::cast(20, 0.9), 100)->chains() == 50);
  CHECK(made(Negative::cast(20, 0.9), 100)->chain_sweeps(1) == 100);
  CHECK(made(with("cast:20:0.9", {{"--chains", "6"}}), 100)->chains() == 3);
  CHECK(made(with("st:20:0.9", {{"--chains", "7"}}), 100)->chains() == 7);
  CHECK(made(Negative::cast(20, 0.9), 5)->chains() == 3);  // one more, to be pairs
  CHECK_THROWS_WITH(made(with("cast:20:0.9", {{"--chains", "7"}}), 100),
                    Catch::Contains("--chains = 7"));
  for (const char* text : {"cast:1:0.9", "cast:0:0.9", "cast:20", "cast:20:1", "cast:20:-0.1",
                           "cast:20:nan", "cast:20:0.9:1", "st:1:0", "st:20", "st:20:1", "cast"})
    CHECK_THROWS_AS(parse_negative(text), InvalidArgument);
  const std::pair<const char*, std::vector<const char*>> wrong[] = {
      {"--lag", {"0", "-1", "x", ""}},
      {"--swap", {"", "never", "Last"}},
      {"--factor",
       {"0", "10", "constant:0", "constant:-1", "vanishing:nan", "constant:inf",
        "constant:", "vanishing:1x"}},
      {"--weights", {"", "mean"}},
      {"--every", {"5"}}};
  for (const auto& [option, values] : wrong)
    for (const char* value : values) {
      INFO(option << " " << value);
      CHECK_THROWS_AS(with("cast:20:0.9", {{option, value}}), InvalidArgument);
    }
  CHECK_THROWS_AS(with("st:20:0.9", {{"--every", "0"}}), InvalidArgument);
  CHECK_THROWS_AS(with("st:20:0.9", {{"--lag", "5"}}), InvalidArgument);
  CHECK_THROWS_AS(with("pcd:1", {{"--factor", "constant:1"}}), InvalidArgument);
  CHECK(Negative::cast(20, 0.9).description() == "cast:20:0.9");
  CHECK(Negative::st(20, 0.9).description() == "st:20:0.9");
  CHECK(with("st:20:0.9", {{"--every", "7"}}).description() == "st:20:0.9 --every 7");
  CHECK(with("cast:3:0", {{"--factor", "vanishing:0.5"},
                          {"--swap", "entry"},
                          {"--lag", "3"},
                          {"--weights", "shared"}})
            .description() ==
        "cast:3:0 --lag 3 --swap entry --factor vanishing:0.5 --weights shared");
  const SamplerSetup setup{.model = model, .packing = {.chains = 2}};
  CHECK_THROWS_AS(CoupledChains(setup, {uniform_ladder(3)}, {.lag = 0}), InvalidArgument);
  CHECK_THROWS_AS(CoupledChains(setup, {uniform_ladder(1)}, {}), InvalidArgument);
  CHECK_THROWS_AS(CoupledChains(setup, {{0.5F, 0.2F, 1.0F}}, {}), InvalidArgument);
  CHECK_THROWS_AS(CoupledChains(setup, {{std::nanf(""), 1.0F}}, {}), InvalidArgument);
  CHECK_THROWS_AS(CoupledChains(setup, {uniform_ladder(3), {.size = 0}}, {}), InvalidArgument);
  CHECK_THROWS_AS(AdaptiveRuns(setup, {uniform_ladder(3)}, 0), InvalidArgument);
}

TEST_CASE("a rejected step makes the next one likelier by 1 + gamma") {
  // Half the states of a chain at b = 1 are kept while its weight grows.
  const std::vector<float> ladder = {0.5F, 1.0F};
  AdaptiveWeights weights(2, 1, {.size = 3}, WeightSharing::own);
  const auto accept = [&] { return rung_step_probability(ladder, weights.log_g(0), 20, 1, 0); };
  const std::vector<int> top = {1};
  for (int update = 0; update < 5; ++update) {
    const double before = accept();
    weights.update(top);
    CHECK(accept() == Approx(4 * before).epsilon(1e-12));
  }
  weights.update(top);
  weights.update(top);
  weights.update(top);
  CHECK(accept() == 1);
}

TEST_CASE("the density of joint states is that of their energies") {
  const Layered model = dyadic_network({20, 13, 7, 5}, {0, 2, 0, 4});
  Chains chains(model, 37);
  chains.randomise(make_key(6));
  const PackedModel packed(model, {.chains = 37});
  for (const int first : {0, 5, 16, 36}) {
    const std::vector<double> log_f = log_density(packed, chains, first);
    REQUIRE(log_f.size() == static_cast<std::size_t>(37 - first));
    for (int c = first; c < 37; ++c)
      CHECK(log_f[c - first] == Approx(-energy(model, chains.get_chain(c))).epsilon(1e-13));
  }
  CHECK_THROWS_AS(log_density(packed, chains, 37), InvalidArgument);
  CHECK_THROWS_AS(log_density(packed, Chains(dyadic_network({20, 13}, {0, 2}), 37)),
                  InvalidArgument);
}

TEST_CASE("densities that threads share are those of one, whatever chains are left over") {
  // 6.7 million products: blocks of chains are shared, which 2 and 3 threads do not divide.
  constexpr int kChains = 7 * 16;
  const Layered model = dyadic_network({300, 200}, {0, 0});
  Chains chains(model, kChains);
  chains.randomise(make_key(6));
  for (const int threads : {1, 2, 3}) {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      const ThreadLimit limit(threads);
      const PackedModel packed(model, {.chains = kChains});
      for (const int first : {0, 20}) {
        const std::vector<double> log_f = log_density(packed, chains, first);
        for (int c = first; c < kChains; ++c)
          CHECK(log_f[c - first] == Approx(-energy(model, chains.get_chain(c))).epsilon(1e-12));
      }
    });
  }
}

TEST_CASE("recovered pairs are swept by the production code at every rung, not by the double law") {
  const Layered model = Layered::rbm(Eigen::Matrix2d{{0.7, -1.1}, {0.3, 0.9}},
                                     Eigen::Vector2d(0.1, -0.6), Eigen::Vector2d(-0.2, 0.4));
  const std::vector<float> ladder = {0.3F, 0.7F, 1};
  const Eigen::VectorXd log_g = Eigen::Vector3d(0, 1, 2);
  const AdaptivePairs exact = exact_pairs(model, ladder, log_g),
                      recovered = recovered_pairs(model, ladder, log_g);
  for (std::size_t k = 0; k < ladder.size(); ++k) {
    INFO(k);
    const double sweeps = (recovered.sweeps[k] - exact.sweeps[k]).cwiseAbs().maxCoeff();
    CHECK(sweeps > 1e-13);  // thresholds are multiples of 2^-32
    CHECK(sweeps < 1e-6);
    CHECK((recovered.steps[k] - exact.steps[k]).cwiseAbs().maxCoeff() < 1e-6);
  }
}

TEST_CASE("what the readings of the swap hand over differs from p, and long lags bring it near") {
  const Layered model = dyadic_network({2, 2}, {0, 0});
  const std::vector<float> ladder = uniform_ladder(3, 0);
  const AdaptivePairs pairs = exact_pairs(model, ladder, rung_log_z(model, ladder));
  CHECK(total_variation(arrival_law(pairs), pairs.p) > 0.01);
  CHECK(total_variation(last_top_law(pairs), pairs.p) > 0.001);
  CHECK(total_variation(slow_law(pairs, SwapRule::each), pairs.p) < 1e-12);
  CHECK(total_variation(slow_law(pairs, SwapRule::entry), pairs.p) > 1e-4);
  const double near = total_variation(slow_law_of_last(pairs, 5), pairs.p);
  const double far = total_variation(slow_law_of_last(pairs, 50), pairs.p);
  CHECK(near > far);
  CHECK(far > 1e-6);
  // Long after its start the last state at b = 1 is of the stationary law.
  CHECK((last_top_kernel(pairs, 2000).row(0).transpose() - last_top_law(pairs)).lpNorm<1>() <
        1e-10);
}

TEST_CASE("a constant factor visits both rungs evenly, and not the model's law at b = 1") {
  const Layered model = dyadic_network({2, 2}, {0, 0});
  for (const double gamma : {10.0, 1.0, 0.1}) {
    const ConstantFactorLaw law = constant_factor_law(model, 0.5F, gamma);
    CHECK(law.top_share == Approx(0.5).margin(1e-12));
    CHECK(law.edge_mass < 1e-12);
    CHECK(law.change < 1e-12);
    CHECK(law.distance > 0.02 * std::min(1.0, gamma));
  }
}
