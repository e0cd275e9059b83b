// Inputs that are summed from tables, tiles and rows against those summed from products.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/kernels/panel.hpp"
#include "boltzmark/transition/kernels/tile_products.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "verification/exact/support/drawn_network.hpp"
#include "verification/exact/support/every_path.hpp"
#include "verification/skip.hpp"

using namespace boltzmark;

namespace {

constexpr Packing kMany{.chains = 100, .sweeps = 1000}, kFew{.chains = 1, .sweeps = 1000},
    kOnce{.chains = 100, .sweeps = 1};

// Multiples of 2^-8 below 1, so that sums in any order are exact.
Layered short_model(const std::vector<int>& sizes, Unit unit, std::uint64_t seed) {
  Stream stream(make_key(21), Purpose::test, seed);
  const auto multiple = [&] { return static_cast<double>(stream.below(511)) / 256 - 255.0 / 256; };
  return drawn_network(std::vector<int>(sizes.size(), unit.code()), sizes, multiple, multiple);
}

std::vector<float> inputs_of(const PackedModel& packed, Chains& chains, int layer) {
  const auto panels = static_cast<std::size_t>((packed.size(layer) + kPanel - 1) / kPanel);
  std::vector<float> inputs(panels * chains.blocks() * kPanelSize);
  fill_inputs({.model = &packed,
               .layer = layer,
               .chains = &chains,
               .first_block = 0,
               .last_block = chains.blocks()},
              inputs.data());
  return inputs;
}

}  // namespace

TEST_CASE("a model is packed in tables for many sweeps of many chains of two-valued units") {
  const auto tables = [](const Layered& model, const Packing& packing) {
    return PackedModel(model, packing).layer(0).form == PackedModel::Form::tables;
  };
  const Layered model = short_model({5, 3}, Unit::bernoulli(), 1);
  CHECK(tables(model, kMany) == takes_avx512());
  CHECK_FALSE(tables(model, {.chains = 32, .sweeps = 1000}));
  CHECK_FALSE(tables(model, {.chains = 100, .sweeps = 29}));
  CHECK_FALSE(tables(short_model({5, 3}, Unit::multivalued(2), 1), kMany));
  CHECK_FALSE(tables(short_model({5, 3}, Unit::continuous(), 1), kMany));
}

TEST_CASE("where AMX is taken, tiles stand in for tables and serve units of up to 257 values") {
  const auto form = [](Unit unit, const Packing& packing) {
    return PackedModel(short_model({5, 3}, unit, 1), packing).layer(0).form;
  };
  using Form = PackedModel::Form;
  on_every_path([&] {
    const Form many = takes_tiles() ? Form::tiles : Form::products;
    CHECK((form(Unit::bernoulli(), kMany) == Form::tiles) == takes_tiles());
    CHECK(form(Unit::multivalued(256), kMany) == many);
    CHECK(form(Unit::multivalued(257), kMany) == Form::products);
    CHECK(form(Unit::continuous(), kMany) == Form::products);
    CHECK(form(Unit::bernoulli(), kOnce) == (takes_avx512() ? Form::fresh_tables : Form::products));
    CHECK(form(Unit::bernoulli(), kFew) == Form::rows);
  });
}

TEST_CASE("tables are made afresh for few sweeps of many chains, and where they are large") {
  const auto form = [](const Layered& model, const Packing& packing) {
    return PackedModel(model, packing).layer(0).form;
  };
  using Form = PackedModel::Form;
  const Form fresh = takes_avx512() ? Form::fresh_tables : Form::products;
  const Layered model = short_model({5, 3}, Unit::bernoulli(), 1);
  CHECK(form(model, kOnce) == fresh);
  CHECK(form(short_model({2100, 2000}, Unit::bernoulli(), 1), kMany) == fresh);
  CHECK(form(model, {.chains = 32}) == Form::products);
  CHECK(form(model, {.chains = 100, .values = false}) == Form::products);
  CHECK(form(model, {.chains = 100, .sweeps = 1000, .values = false}) == Form::products);
  CHECK(form(short_model({5, 3}, Unit::multivalued(2), 1), kOnce) == Form::products);
}

TEST_CASE("a model is packed in rows for many sweeps of a few chains") {
  const Layered model = short_model({5, 3}, Unit::bernoulli(), 1);
  CHECK(PackedModel(model, kFew).layer(0).form == PackedModel::Form::rows);
  CHECK(PackedModel(model).layer(0).form == PackedModel::Form::products);
  CHECK(PackedModel(model, {.chains = 5, .sweeps = 1000}).layer(1).form ==
        PackedModel::Form::products);
}

TEST_CASE("sweeps by rows have the bytes of sweeps by products, whatever units and weights") {
  std::uint64_t seed = 100;
  for (const Unit unit :
       {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(3), Unit::continuous()})
    for (const std::vector<int>& sizes :
         {std::vector{1, 1}, {3, 9}, {33, 140}, {70, 31}, {5, 6, 7}, {32, 65, 4, 12}})
      for (const int count : {1, 2, 4, 17}) {
        Layered model = short_model(sizes, unit, ++seed);
        Parameters odd = model.zero_parameters();
        odd.weights = model.weights();
        model.add(odd, 0.1);  // no multiples of a power of two any more
        Chains products(model, count), rows(model, count);
        products.randomise(make_key(seed));
        rows.randomise(make_key(seed));
        const PhiloxDraws draws(make_key(seed));
        std::vector<float> betas;
        for (int c = 0; c < count; ++c) betas.push_back(1 / (1 + 0.1F * static_cast<float>(c)));
        const SweepOptions options{
            .rule = Rule::flip(), .inverse_temperatures = betas, .sweeps = 7};
        sweep(PackedModel(model), products, draws, options);
        sweep(PackedModel(model, kFew), rows, draws, options);
        for (int l = 0; l < model.layers(); ++l)
          REQUIRE(rows.get_layer(l) == products.get_layer(l));
      }
}

TEST_CASE("sweeps by tables and by products are the same where sums are exact") {
  on_every_path([] {
    std::uint64_t seed = 0;
    for (const Unit unit : {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(4)})
      for (const std::vector<int>& sizes :
           {std::vector{1, 1}, {3, 9}, {33, 40}, {150, 31}, {5, 6, 7}, {32, 65, 4, 12}})
        for (const int count : {1, 16, 33, 70, 100}) {
          const Layered model = short_model(sizes, unit, ++seed);
          Chains products(model, count), tables(model, count);
          products.randomise(make_key(seed));
          tables.randomise(make_key(seed));
          const PhiloxDraws draws(make_key(seed));
          sweep(PackedModel(model), products, draws, {.sweeps = 7});
          for (const Packing& packing : {kMany, kOnce})
            for (const int threads : {1, 2, 5}) {
              const ThreadLimit limit(threads);
              Chains again = tables;
              sweep(PackedModel(model, packing), again, draws, {.sweeps = 7});
              for (int l = 0; l < model.layers(); ++l)
                REQUIRE(again.get_layer(l) == products.get_layer(l));
            }
        }
  });
}

// An input is a sum of n terms; each form rounds at most n + 3 times (four terms of a fresh table
// three times, and once when their sum is added; tiles at most three times more than terms), by
// 2^-24 of a partial sum that is no larger than the sum of sizes.
TEST_CASE("inputs by tables, tiles and products differ by their roundings at most") {
  Stream stream(make_key(22), Purpose::test);
  Eigen::MatrixXd weights(190, 77);
  for (double& w : weights.reshaped()) w = stream.normal();
  const Layered model =
      Layered::rbm(weights, Eigen::VectorXd::Ones(190), Eigen::VectorXd::Ones(77));
  Chains chains(model, 100);
  chains.randomise(make_key(3));
  const PackedModel products(model);
  on_every_path([&] {
    const PackedModel many(model, kMany), once(model, kOnce);
    for (const auto& [layer, packed] : {std::pair(0, &many), {1, &many}, {0, &once}, {1, &once}}) {
      const std::vector<float> a = inputs_of(products, chains, layer);
      const std::vector<float> b = inputs_of(*packed, chains, layer);
      const Eigen::VectorXd sizes =
          (layer == 0 ? weights.cwiseAbs().rowwise().sum().eval()
                      : weights.cwiseAbs().colwise().sum().transpose().eval());
      const double terms = layer == 0 ? 78 : 191;
      const double bound = 2 * (terms + 3) * 0x1p-24 * (1 + sizes.maxCoeff());
      double largest = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, static_cast<double>(std::abs(a[i] - b[i])));
      CHECK(largest <= bound);
      CHECK(largest < 2e-5);
    }
  });
}

TEST_CASE("the bf16 parts of a weight above 2^-100 add up to it") {
  Stream stream(make_key(23), Purpose::test);
  std::vector<float> weights = {0, -0.0F, 1, -1, 3.4028234e38F, -3.4028234e38F, 1e-30F};
  for (int exponent = -100; exponent < 127; ++exponent)
    weights.push_back(std::ldexp(static_cast<float>(stream.normal()), exponent));
  for (const float weight : weights) {
    float sum = 0;
    for (const Bfloat16 part : split_weight(weight))
      sum += std::bit_cast<float>(static_cast<std::uint32_t>(part) << 16U);
    CHECK(sum == weight);
  }
}

TEST_CASE("inputs from one neighbour are its whole float32 weight, by every form") {
  Stream stream(make_key(24), Purpose::test);
  Eigen::MatrixXd weights(1, 300);
  for (double& w : weights.reshaped())
    w = std::ldexp(stream.normal(), static_cast<int>(stream.below(100)) - 50);
  weights(0, 0) = 3.4e38;
  const Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(300));
  Chains chains(model, 100);
  for (int c = 0; c < 100; ++c) chains.set(0, 0, c, static_cast<float>(c % 2));
  on_every_path([&] {
    for (const Packing& packing : {kMany, kOnce, kFew, Packing{}}) {
      const PackedModel packed(model, packing);
      const std::vector<float> inputs = inputs_of(packed, chains, 1);
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::size_t panel = i / kPanelSize % 38,
                          unit = panel * kPanel + i % kPanelSize / kChainBlock;
        const std::size_t chain = i / kPanelSize / 38 * kChainBlock + i % kChainBlock;
        if (unit >= 300 || chain >= 100) continue;
        const double weight = weights(0, static_cast<Eigen::Index>(unit));
        REQUIRE(inputs[i] == (chain % 2 == 0 ? 0 : static_cast<float>(weight)));
      }
    }
  });
}

TEST_CASE("every form sums the states of X(256) exactly where sums are exact") {
  const Layered model = short_model({70, 40}, Unit::multivalued(256), 5);
  Chains chains(model, 100);
  chains.randomise(make_key(25));
  const PackedModel products(model);
  on_every_path([&] {
    const PackedModel many(model, kMany);
    for (const int layer : {0, 1})
      REQUIRE(inputs_of(many, chains, layer) == inputs_of(products, chains, layer));
  });
}

TEST_CASE("an update that is refused leaves a packed model as it was") {
  const Layered model = short_model({5, 3}, Unit::bernoulli(), 31),
                other = short_model({5, 3}, Unit::bernoulli(), 32);
  PackedModel packed(model);
  // More than a float holds, in the last of the numbers.
  Eigen::MatrixXd weights = other.weights(0);
  weights(4, 2) = 1e39;
  Eigen::VectorXd bias = other.bias(1);
  bias[2] = 1e39;
  for (const Layered& bad : {Layered::rbm(weights, other.bias(0), other.bias(1)),
                             Layered::rbm(other.weights(0), other.bias(0), bias)}) {
    CHECK_THROWS_AS(packed.update(bad), InvalidArgument);
    Chains chains(model, 100), expected(model, 100);
    sweep(packed, chains, PhiloxDraws(make_key(31)), {.sweeps = 7});
    sweep(PackedModel(model), expected, PhiloxDraws(make_key(31)), {.sweeps = 7});
    for (int l = 0; l < 2; ++l) CHECK(chains.get_layer(l) == expected.get_layer(l));
  }
}

TEST_CASE("a model that was packed for another SIMD path is refused") {
  const TileEmulator emulator;
  const Layered model = short_model({5, 3}, Unit::bernoulli(), 1);
  Chains chains(model, 100);
  const std::vector<std::string> paths = simd_paths();
  for (const auto& [path, another] : {std::pair("amx", "avx512"), {"avx512", "sse4"}}) {
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) continue;
    const ForcedSimdPath first(path);
    const PackedModel packed(model, kMany);
    const ForcedSimdPath forced(another);
    CHECK_THROWS_AS(sweep(packed, chains, PhiloxDraws(make_key(1)), {.sweeps = 1}),
                    InvalidArgument);
  }
  // Products are the same wherever there are no tables.
  if (std::find(paths.begin(), paths.end(), "avx2") == paths.end())
    return skip("this CPU has no AVX2");
  const ForcedSimdPath first("avx2");
  const PackedModel packed(model, kMany);
  const ForcedSimdPath forced("sse4");
  CHECK_NOTHROW(sweep(packed, chains, PhiloxDraws(make_key(1)), {.sweeps = 1}));
}

TEST_CASE("how far float32 rounds what a unit is drawn by is half a place of its largest input") {
  // |b| + |w| of the hidden unit: 3 + 8 + 5; of the visible ones 1 + 8 and 2 + 5.
  std::vector<Layer> layers(2);
  layers[0].bias = Eigen::Vector2d(-1, 2);
  layers[1].bias = Eigen::VectorXd::Constant(1, 3);
  const Layered model(layers, {Eigen::Vector2d(8, -5)});
  CHECK(input_rounding(model) == 16 * 0x1p-24);
  // A Gaussian unit's mean a + sigma^2 w h in deviations: 600 / 0.5 + 0.5 * 8; the hidden unit's input has
  // at most six deviations of it besides, 3 + 8 (602 + 3) + 5 (2 + 0.5 * 0.5 * 5 + 3).
  layers[0] = {.unit = Unit::gaussian(),
               .bias = Eigen::Vector2d(600, 2),
               .sigma0 = Eigen::Vector2d(0.5, 0.5)};
  const Layered gaussian(layers, {Eigen::Vector2d(8, -5)});
  CHECK(input_rounding(gaussian) == Approx((3 + 8 * 605 + 5 * 6.25) * 0x1p-24).epsilon(1e-12));
  layers[0].bias = Eigen::Vector2d(6e4, 0);
  layers[0].sigma0 = Eigen::Vector2d(1e-3, 1);
  CHECK(input_rounding(Layered(layers, {Eigen::Vector2d(0, 0)})) ==
        Approx(6e7 * 0x1p-24).epsilon(1e-12));
}
