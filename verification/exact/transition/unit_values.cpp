// Means, statistics and stored values of every kind of unit.
#include <tbb/task_arena.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/log_density.hpp"
#include "boltzmark/transition/statistics.hpp"
#include "verification/exact/support/unit_updates.hpp"

using namespace unit_test;

namespace {

Layered zero_model(const std::vector<int>& sizes, Unit unit) {
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (const int size : sizes) {
    if (!layers.empty())
      weights.emplace_back(Eigen::MatrixXd::Zero(layers.back().bias.size(), size));
    layers.push_back({.unit = unit, .bias = Eigen::VectorXd::Zero(size), .sigma0 = {}});
  }
  return {std::move(layers), std::move(weights)};
}

// Tells whether add_statistics gives what the sum over the chains is, one after another.
bool statistics_are_sums(const Chains& chains, const std::vector<float>& weights) {
  Parameters sum, expected;
  for (int l = 0; l < chains.layers(); ++l) {
    const Eigen::MatrixXd x = chains.get_layer(l).cast<double>();
    Eigen::VectorXd w = Eigen::VectorXd::Ones(chains.chains());
    for (std::size_t c = 0; c < weights.size(); ++c) w[c] = static_cast<double>(weights[c]);
    expected.biases.emplace_back(0.5 * x * w);
    if (l + 1 < chains.layers())
      expected.weights.emplace_back(0.5 * x * w.asDiagonal() *
                                    chains.get_layer(l + 1).cast<double>().transpose());
  }
  for (const auto& b : expected.biases) sum.biases.emplace_back(Eigen::VectorXd::Zero(b.size()));
  for (const auto& w : expected.weights)
    sum.weights.emplace_back(Eigen::MatrixXd::Zero(w.rows(), w.cols()));
  add_statistics(chains, weights, 0.5, sum);
  return sum.biases == expected.biases && sum.weights == expected.weights;
}

}  // namespace

TEST_CASE("set_means gives every unit's mean given its neighbours") {
  std::vector<float> biases = inputs();
  for (float x = -6; x < 6; x += 0.0625F) biases.push_back(x);
  std::vector<Unit> units = {Unit::bernoulli(), Unit::continuous()};
  for (const int steps : {1, 2, 3, 4, 8, 100, 65535}) units.push_back(Unit::multivalued(steps));
  for (const Unit unit : units) {
    const Layered model = isolated(unit, biases);
    Chains chains(model, 1);
    set_means(PackedModel(model), chains, 1);
    for (std::size_t i = 0; i < biases.size(); ++i) {
      CAPTURE(unit.name(), biases[i]);
      const double mean = mean_value(unit, static_cast<double>(biases[i]));
      const auto found = static_cast<double>(chains.get(1, static_cast<int>(i), 0));
      // Langevin's function is good to some 5 u, and X(s) takes at most twice one less another.
      CHECK(std::abs(found - mean) <= 16 * kRoundoff);
    }
  }
}

TEST_CASE("statistics and log ratios are those of the values, however they are stored") {
  Stream stream(make_key(45), Purpose::test);
  const auto draw = [&stream](Eigen::Index rows, Eigen::Index columns) {
    Eigen::MatrixXd values(rows, columns);
    for (double& x : values.reshaped()) x = stream.uniform(-2, 2);
    return values;
  };
  const Layered model({{.unit = Unit::multivalued(3), .bias = draw(5, 1), .sigma0 = {}},
                       {.unit = Unit::continuous(), .bias = draw(4, 1), .sigma0 = {}},
                       {.unit = Unit::multivalued(6), .bias = draw(3, 1), .sigma0 = {}}},
                      {draw(5, 4), draw(4, 3)});
  const Base base{.logits = {draw(5, 1), draw(4, 1), draw(3, 1)}};
  constexpr int kChains = 21;
  Chains chains(model, kChains);
  chains.randomise(make_key(46));
  Parameters sum = model.zero_parameters(), expected = sum;
  add_statistics(chains, {}, 0.5, sum);
  const std::vector<double> ratios = log_ratio(PackedModel(model, base), chains);
  for (int c = 0; c < kChains; ++c) {
    const State x = chains.get_chain(c);
    double ratio = log_normaliser(model, base) - energy(model, x);
    for (int l = 0; l < 3; ++l) {
      for (const double value : x[l]) CHECK(std::abs(value) <= 1);
      expected.biases[l] += 0.5 * x[l];
      if (l < 2) expected.weights[l] += 0.5 * x[l] * x[l + 1].transpose();
      ratio -= base.logits[l].dot(x[l]);
    }
    // Values, parameters and inputs are float32 here: 8 inputs of the even layers, sums of at most 5
    // terms to 10 in all, and 60 terms below 4.
    CHECK(ratios[c] == Approx(ratio).epsilon(0).margin((8 * 5 * 10 + 60 * 4) * kRoundoff));
  }
  for (int l = 0; l < 3; ++l) {
    CHECK((sum.biases[l] - expected.biases[l]).cwiseAbs().maxCoeff() <= kChains * kRoundoff);
    if (l < 2)
      CHECK((sum.weights[l] - expected.weights[l]).cwiseAbs().maxCoeff() <= kChains * kRoundoff);
  }
}

TEST_CASE("values are stored and read back, and random starts are uniform on them") {
  for (const int steps : {1, 2, 3, 7, 10, 255, 65535}) {
    const Unit unit = Unit::multivalued(steps);
    const Layered model = isolated(unit, {0});
    Chains chains(model, 1);
    CHECK(chains.get(1, 0, 0) == -1);
    for (int k = 0; k <= steps; k += 1 + steps / 1000) {
      chains.set(1, 0, 0, static_cast<float>(unit.value(k)));
      CHECK(*chains.block(1, 0) == static_cast<float>(2 * k - steps));
      CHECK(unit.state(k) == *chains.block(1, 0));
      CHECK(unit.index(unit.state(k)) == k);
      CHECK(chains.get(1, 0, 0) == static_cast<float>(unit.value(k)));
    }
    chains.set(1, 0, 0, 0.1F / static_cast<float>(steps));
    CHECK(*chains.block(1, 0) == Approx(0.1F));
  }
  // 40,000 draws of 4 values: each share within 0.025 of 1/4 but for 2e-21, a mean of
  // (-1, 1) within 0.05 but for 4e-22 (Hoeffding).
  const Unit unit = Unit::multivalued(3);
  Chains chains(isolated(unit, {0}), 40000);
  chains.randomise(make_key(47));
  std::vector<int> counts(4);
  for (int c = 0; c < 40000; ++c) ++counts[index_of(unit, chains.get(1, 0, c))];
  for (const int count : counts) CHECK(std::abs(count / 40000.0 - 0.25) <= 0.025);
  Chains line(isolated(Unit::continuous(), {0}), 40000);
  line.randomise(make_key(48));
  CHECK(std::abs(line.get_layer(1).mean()) <= 0.05);
  CHECK(line.get_layer(1).cwiseAbs().maxCoeff() <= 1);
}

TEST_CASE("cases that are no states of a unit are refused") {
  const auto refused = [](Unit unit, float value) {
    try {
      require_states(unit, Eigen::MatrixXf::Constant(1, 1, value));
    } catch (const InvalidArgument&) {
      return true;
    }
    return false;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const int steps : {1, 2, 3, 10, 255, 65535}) {
    const Unit unit = Unit::multivalued(steps);
    for (int k = 0; k <= steps; k += 1 + steps / 1000)
      CHECK_FALSE(refused(unit, static_cast<float>(unit.value(k))));
    for (const double value : {unit.value(0) + unit.spacing() / 3, -1 - unit.spacing()})
      CHECK(refused(unit, static_cast<float>(value)));
    CHECK(refused(unit, nan));
  }
  for (const float value : {0.0F, 1.0F}) CHECK_FALSE(refused(Unit::bernoulli(), value));
  for (const float value : {0.5F, -1.0F, 2.0F, nan}) CHECK(refused(Unit::bernoulli(), value));
  for (const float value : {-1.0F, 0.3F, 1.0F}) CHECK_FALSE(refused(Unit::continuous(), value));
  for (const float value : {-1.5F, 2.0F, nan}) CHECK(refused(Unit::continuous(), value));
}

// States, weights and means are multiples of 2^-6 below 4 in size: sums of 300 products are exact.
TEST_CASE("statistics are exact where their sums are, by bits or not") {
  std::uint64_t seed = 0;
  for (const Unit unit : {Unit::bernoulli(), Unit::multivalued(1)})
    for (const std::vector<int>& sizes : {std::vector{70, 9}, {33, 50}, {100, 17, 40}, {16, 20}})
      for (const int count : {1, 16, 37, 300}) {
        const Layered model = zero_model(sizes, unit);
        Chains chains(model, count);
        chains.randomise(make_key(++seed));
        Stream stream(make_key(seed), Purpose::test);
        const int last = model.layers() - 1;
        for (int c = 0; c < count; ++c)
          for (int u = 0; u < sizes[last]; ++u)
            chains.set(last, u, c, static_cast<float>(stream.below(64)) / 64);
        std::vector<float> weights;
        for (int c = 0; c < count; ++c) weights.push_back(static_cast<float>(stream.below(4)));
        CHECK(statistics_are_sums(chains, {}));
        CHECK(statistics_are_sums(chains, weights));
        chains.set(0, sizes[0] - 1, count - 1, 0.25F);  // one mean among the values
        CHECK(statistics_are_sums(chains, weights));
      }
}

TEST_CASE("statistics that threads share are those of one, whatever units are left over") {
  // 5.1 million products: columns are shared, in 7 blocks that 2 and 3 threads do not divide.
  const Layered model = zero_model({200, 100}, Unit::bernoulli());
  Chains chains(model, 256);
  chains.randomise(make_key(7));
  for (const int threads : {1, 2, 3}) {
    tbb::task_arena arena(threads);
    arena.execute([&] {
      const ThreadLimit limit(threads);
      CHECK(statistics_are_sums(chains, {}));
    });
  }
}
