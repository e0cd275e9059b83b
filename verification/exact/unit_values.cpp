// Means, statistics and stored values of every kind of unit.

#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/statistics.hpp"
#include "unit_updates.hpp"

using namespace unit_test;

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
  const std::vector<double> ratios = log_ratio(model, base, chains);
  for (int c = 0; c < kChains; ++c) {
    const State x = chains.get_chain(c);
    double ratio = log_normaliser(model, base) - energy(model, x);
    for (int l = 0; l < 3; ++l) {
      for (const double value : x[l]) CHECK(std::abs(value) <= 1);
      expected.biases[l] += 0.5 * x[l];
      if (l < 2) expected.weights[l] += 0.5 * x[l] * x[l + 1].transpose();
      ratio -= base.logits[l].dot(x[l]);
    }
    // Values are float32 here, and exact multiples of 1/s there.
    CHECK(ratios[c] == Approx(ratio).margin(100 * kRoundoff));
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
