// AIS, RAISE and SMC against trajectories that are weighted by enumeration.
#include "boltzmark/sample/annealing/annealing.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "verification/checks/laws/annealing_moments.hpp"
#include "verification/checks/laws/table_target.hpp"
#include "verification/exact/support/small_data.hpp"

using namespace boltzmark;

namespace {

Base sloped_base() { return {{Eigen::Vector3d(0.5, -1, 0.75), Eigen::Vector2d(0.25, -0.5)}}; }

// Uneven, so that taking one rung for its neighbour shows.
Ladder uneven_ladder() { return Ladder({0, 0.0625, 0.25, 0.375, 0.75, 1}); }

AnnealingOptions options_of(int chains, std::int64_t sweeps) {
  return {.ladder = uneven_ladder(), .chains = chains, .sweeps = sweeps, .key = make_key(5)};
}

// log p*_k of a state at every rung, by enumeration.
Eigen::MatrixXd marginals() {
  Eigen::MatrixXd table(32, uneven_ladder().rungs());
  for (int k = 0; k < uneven_ladder().rungs(); ++k)
    table.col(k) = AnnealingRung(peaked_model(), sloped_base(), uneven_ladder()[k]).log_marginal;
  return table;
}

void sweep_at(TablePopulation& population, int rung, std::int64_t sweeps) {
  const std::vector<float> betas(population.chains(), uneven_ladder().single(rung));
  for (; sweeps > 0; --sweeps) population.move(betas);
}

// Case c of the reverse runs.
std::uint32_t observed(int chain) { return static_cast<std::uint32_t>(chain * 7 % 8); }

void set_observed(Population& population, int first) {
  auto& table = dynamic_cast<TablePopulation&>(population);
  for (int c = 0; c < table.chains(); ++c) table.set_state(c, observed(first + c));
}

double log_mean_exp(const Eigen::VectorXd& x) {
  return x.maxCoeff() + std::log((x.array() - x.maxCoeff()).exp().mean());
}

/// Chains that never move, in states of their own: 0, 1, ..; D is 0.3 of the state.
class Still final : public Population {
 public:
  Still(int first, int chains) {
    for (int c = 0; c < chains; ++c) states.push_back(first + c);
  }
  int chains() const override { return static_cast<int>(states.size()); }
  void draw_base() override {}
  void move(std::span<const float>) override {}
  void log_ratio(std::span<double> out) override { increase(1, out); }
  void log_densities(const Ladder&, std::span<double>) override {}
  void log_increment(float from, float to, std::span<double> out) override {
    increase(static_cast<double>(to) - static_cast<double>(from), out);
  }
  void copy_chain(int chain, const Population& from, int source) override {
    states[chain] = dynamic_cast<const Still&>(from).states[source];
  }

  std::vector<int> states;

 private:
  void increase(double by, std::span<double> out) const {
    for (std::size_t c = 0; c < states.size(); ++c) out[c] = 0.3 * by * states[c];
  }
};

class StillTarget final : public Target {
 public:
  std::unique_ptr<Population> populate(int first, int chains, StreamKey) const override {
    return std::make_unique<Still>(first, chains);
  }
};

std::vector<int> states_of(Populations& populations) {
  std::vector<int> all;
  for (int g = 0; g < populations.groups(); ++g) {
    const std::vector<int>& states = dynamic_cast<Still&>(populations.group(g)).states;
    all.insert(all.end(), states.begin(), states.end());
  }
  return all;
}

}  // namespace

TEST_CASE("AIS weights a state by two rungs before it is moved at the upper one") {
  const TableTarget target(peaked_model(), sloped_base());
  const AnnealingOptions options = options_of(40, 13);
  const AnnealingResult result = annealed_importance_sampling(target, options);
  const Eigen::MatrixXd log_f = marginals();
  TablePopulation population(target, 0, 40, options.key);
  Eigen::VectorXd expected = Eigen::VectorXd::Zero(40);
  population.draw_base();
  for (int k = 1; k < 6; ++k) {
    for (int c = 0; c < 40; ++c)
      expected[c] += log_f(population.state(c), k) - log_f(population.state(c), k - 1);
    sweep_at(population, k, options.sweeps_at(k));
  }
  CHECK((result.log_weights - expected).cwiseAbs().maxCoeff() < 1e-12);
  CHECK(result.estimate.log_z == Approx(log_mean_exp(expected)).epsilon(1e-13));
  CHECK(result.mean_log_weight == Approx(expected.mean()).epsilon(1e-13));
}

TEST_CASE("RAISE moves a state at the upper rung before it is weighted by two and averages e^-R") {
  const TableTarget target(peaked_model(), sloped_base());
  const AnnealingOptions options = options_of(40, 13);
  const AnnealingResult result = reverse_annealing(target, options, set_observed);
  const Eigen::MatrixXd log_f = marginals();
  TablePopulation population(target, 0, 40, options.key);
  set_observed(population, 0);
  Eigen::VectorXd r = Eigen::VectorXd::Zero(40);
  for (int k = 5; k > 0; --k) {
    sweep_at(population, k, options.sweeps_at(k));
    for (int c = 0; c < 40; ++c)
      r[c] += log_f(population.state(c), k) - log_f(population.state(c), k - 1);
  }
  CHECK((result.log_weights + r).cwiseAbs().maxCoeff() < 1e-12);
  CHECK(result.estimate.log_z == Approx(-log_mean_exp(-r)).epsilon(1e-13));
  CHECK(-result.mean_log_weight == Approx(r.mean()).epsilon(1e-13));
}

TEST_CASE("sweeps are spread evenly over the rungs above the lowest") {
  const AnnealingOptions options = options_of(2, 13);
  std::int64_t sum = 0;
  for (int k = 1; k < 6; ++k) {
    CHECK((options.sweeps_at(k) == 2 || options.sweeps_at(k) == 3));
    sum += options.sweeps_at(k);
  }
  CHECK(sum == 13);
}

TEST_CASE("annealing a model that is its own base has weights of 1 and no error") {
  const Layered flat =
      Layered::rbm(Eigen::MatrixXd::Zero(2, 1), Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(1));
  const TableTarget target(flat, Base::uniform(flat));
  const Estimate estimate =
      annealed_importance_sampling(target, {.ladder = Ladder::linear(4), .sweeps = 3}).estimate;
  CHECK(estimate.log_z == Approx(3 * std::log(2.0)).epsilon(1e-14));
  CHECK(estimate.std_error < 1e-13);  // 100 weights, each rounded
  CHECK(estimate.status == Status::ok);
}

TEST_CASE("annealing gives the same bytes on one thread and on many") {
  const TableTarget target(peaked_model(), sloped_base());
  const SmcOptions smc{.annealing = options_of(70, 13), .resample_below = 1};
  const AnnealingResult ais = annealed_importance_sampling(target, smc.annealing);
  const SmcResult many = annealed_smc(target, smc);
  const ThreadLimit limit(1);
  CHECK(ais.log_weights == annealed_importance_sampling(target, smc.annealing).log_weights);
  const SmcResult one = annealed_smc(target, smc);
  CHECK(many.log_weights == one.log_weights);
  CHECK(many.estimate.log_z_rungs == one.estimate.log_z_rungs);
  CHECK(many.resamplings == one.resamplings);
  // 8 islands resample at each of 5 rungs, unless the weights happen to be equal.
  CHECK(many.resamplings == 40);
}

TEST_CASE("effective samples of islands that resampled are weighted by the islands' Z") {
  // Of two islands the jackknife's error is half the distance of their log Z; chains weigh alike.
  const TableTarget target(peaked_model(), sloped_base());
  double farthest = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    AnnealingOptions options = options_of(64, 13);
    options.key = make_key(seed);
    const SmcResult smc =
        annealed_smc(target, {.annealing = options, .resample_below = 1, .islands = 2});
    const Eigen::VectorXd first = smc.log_weights.head(32), second = smc.log_weights.tail(32);
    REQUIRE(first.isConstant(first[0], 0));
    REQUIRE(second.isConstant(second[0], 0));
    CHECK(log_mean_exp(smc.log_weights) == Approx(smc.estimate.log_z).epsilon(1e-14));
    const double ratio = std::exp(2 * smc.estimate.std_error);
    CHECK(std::abs(first[0] - second[0]) == Approx(std::log(ratio)).epsilon(1e-10));
    const double both = std::pow(1 + ratio, 2) / (1 + ratio * ratio);
    CHECK(smc.estimate.effective_samples == Approx(32 * both).epsilon(1e-10));
    farthest = std::max(farthest, ratio);
  }
  CHECK(farthest > 1.2);
}

TEST_CASE("the progress of annealing reaches the caller and may end the run") {
  const TableTarget target(peaked_model(), sloped_base());
  AnnealingOptions options = options_of(70, 13);
  double last = -1;
  options.progress = [&](double fraction) { last = fraction; };
  annealed_importance_sampling(target, options);
  CHECK((last > 0 && last <= 1));
  options.progress = [](double) { throw Error("stop"); };
  CHECK_THROWS_WITH(annealed_importance_sampling(target, options), "stop");
}

TEST_CASE("the progress of annealing counts the sweeps that are made") {
  // Of 13 the three of the highest rung are RAISE's alone; 16 chains are one group, first told after one.
  const TableTarget target(peaked_model(), sloped_base());
  AnnealingOptions options = options_of(16, 13);
  double first = 0;
  options.progress = [&](double fraction) { first = first == 0 ? fraction : first; };
  annealed_importance_sampling(target, options);
  CHECK(first == Approx(1 / 10.0));
  first = 0;
  reverse_annealing(target, options, set_observed);
  CHECK(first == Approx(1 / 13.0));
}

TEST_CASE("options of annealing that make no run are refused") {
  const TableTarget target(peaked_model(), sloped_base());
  CHECK_THROWS_AS(annealed_importance_sampling(target, options_of(1, 5)), InvalidArgument);
  CHECK_THROWS_AS(annealed_importance_sampling(target, options_of(5, -1)), InvalidArgument);
  for (const int islands : {-1, 1, 6})
    CHECK_THROWS_AS(annealed_smc(target, {.annealing = options_of(5, 5), .islands = islands}),
                    InvalidArgument);
  for (const double share : {-0.1, 1.1, std::nan("")})
    CHECK_THROWS_AS(annealed_smc(target, {.annealing = options_of(5, 5), .resample_below = share}),
                    InvalidArgument);
}

TEST_CASE("SMC that never resamples is AIS, rung by rung") {
  const TableTarget target(peaked_model(), sloped_base());
  const AnnealingOptions options = options_of(40, 13);
  const SmcResult smc = annealed_smc(target, {.annealing = options, .resample_below = 0});
  const AnnealingResult ais = annealed_importance_sampling(target, options);
  CHECK(smc.resamplings == 0);
  CHECK(smc.log_weights == ais.log_weights);
  CHECK(smc.estimate.log_z == Approx(ais.estimate.log_z).epsilon(1e-13));
  CHECK(smc.estimate.log_z_rungs[0] == 0);
  CHECK(smc.estimate.log_z_rungs[5] == Approx(smc.estimate.log_z).epsilon(1e-14));
}

TEST_CASE("SMC that is told nothing else resamples below half of the chains' number") {
  // Chains 0 to 19 of an island weigh e^(0.3 b c): as many as tanh(3 b) / tanh(0.15 b) are
  // effective, 0.72 of them at b = 3/8 and 0.44 at 3/4. From there to 1 weights differ by e^1.43
  // at most: 0.62.
  CHECK(SmcOptions{}.resample_below == 0.5);
  AnnealingOptions options = options_of(40, 5);
  options.ladder = Ladder({0, 0.375, 0.75, 1});
  CHECK(annealed_smc(StillTarget(), {.annealing = options, .islands = 2}).resamplings == 2);
}

TEST_CASE("SMC tells one state of each family, with the weight of all its copies") {
  const StillTarget target;
  constexpr int kChains = 40, kIsland = 20;
  for (const double below : {0.0, 0.9}) {
    AnnealingOptions options = options_of(kChains, 5);
    TopStates top(target, kChains, options.key);
    options.top_states = &top;
    SmcResult smc =
        annealed_smc(target, {.annealing = options, .resample_below = below, .islands = 2});
    std::vector<double> families(kChains, 0), told(kChains, 0);
    const std::vector<int> states = states_of(smc.populations), kept = states_of(top.states);
    for (int c = 0; c < kChains; ++c) families[states[c]] += std::exp(smc.log_weights[c]);
    int tellers = 0;
    for (int c = 0; c < kChains; ++c) {
      if (top.visits[c] == 0) continue;
      ++tellers;
      CHECK(kept[c] == states[c]);
      CHECK(told[kept[c]] == 0);
      told[kept[c]] = top.visits[c];
    }
    CHECK((smc.resamplings > 0) == (below > 0));
    CHECK(tellers == kChains - std::count(families.begin(), families.end(), 0.0));
    CHECK((tellers < kChains) == (below > 0));
    // Within an island by the weights, between islands by their Z, whose jackknife has the ratio.
    const auto sum = [](const std::vector<double>& of, int island) {
      const auto first = of.begin() + island * kIsland;
      return std::accumulate(first, first + kIsland, 0.0);
    };
    for (int c = 0; c < kChains; ++c)
      CHECK(told[c] / sum(told, c / kIsland) ==
            Approx(families[c] / sum(families, c / kIsland)).margin(1e-15));
    CHECK(sum(told, 1) / sum(told, 0) ==
          Approx(std::exp(2 * smc.estimate.std_error)).epsilon(1e-10));
  }
}

TEST_CASE("SMC tells the same states to chains that are split among other threads than its own") {
  const StillTarget target;
  AnnealingOptions options = options_of(40, 5);
  // What it tells to chains made on so many threads, itself on so many.
  const auto told = [&](int threads_of_states, int threads) {
    std::optional<ThreadLimit> limit(threads_of_states);
    TopStates top(target, options.chains, options.key);
    limit.reset();
    limit.emplace(threads);
    options.top_states = &top;
    annealed_smc(target, {.annealing = options});
    return std::pair(top.visits, states_of(top.states));
  };
  const auto alone = told(1, 1);
  CHECK(told(1, 2) == alone);
  CHECK(told(2, 1) == alone);
}

TEST_CASE("resampling keeps the states that have offspring in their places") {
  const TableTarget target(peaked_model(), sloped_base());
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    Populations populations(target, 20, make_key(1));
    populations.for_each([](Population& population, int first) {
      auto& table = dynamic_cast<TablePopulation&>(population);
      for (int c = 0; c < table.chains(); ++c)
        table.set_state(c, static_cast<std::uint32_t>(first + c));
    });
    std::vector<int> offspring(20, 1);
    offspring[0] = offspring[3] = offspring[18] = offspring[19] = 0;
    offspring[2] = offspring[17] = 3;
    populations.resample(offspring);
    std::vector<std::uint32_t> states;
    for (int g = 0; g < populations.groups(); ++g)
      for (int c = 0; c < populations.group(g).chains(); ++c)
        states.push_back(dynamic_cast<TablePopulation&>(populations.group(g)).state(c));
    CHECK(states == std::vector<std::uint32_t>{2,  1,  2,  2,  4,  5,  6,  7,  8,  9,
                                               10, 11, 12, 13, 14, 15, 16, 17, 17, 17});
    offspring[1] = 2;
    CHECK_THROWS_AS(populations.resample(offspring), InvalidArgument);
  }
}

TEST_CASE("systematic resampling gives each chain n w offspring in the mean, within one") {
  const std::vector<double> weights = {0.05, 0.5, 0, 0.19, 0.26};
  std::vector<double> sums(5, 0);
  std::vector<int> offspring(5);
  // The midpoints of equal steps integrate exactly where the jumps are at multiples of 1/100.
  for (int i = 0; i < 100; ++i) {
    systematic_offspring(weights, (i + 0.5) / 100, offspring);
    int total = 0;
    for (int c = 0; c < 5; ++c) {
      CHECK(std::abs(offspring[c] - 5 * weights[c]) < 1);
      sums[c] += offspring[c] / 100.0;
      total += offspring[c];
    }
    CHECK(total == 5);
  }
  for (int c = 0; c < 5; ++c) CHECK(sums[c] == Approx(5 * weights[c]).margin(1e-12));
}

TEST_CASE("islands are eight chains each, two at least and ten at most") {
  CHECK(default_islands(5) == 2);
  CHECK(default_islands(23) == 2);
  CHECK(default_islands(79) == 9);
  CHECK(default_islands(1000) == 10);
}
