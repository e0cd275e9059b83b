// What a training run promises beside its gradient: the same bytes for any threads, pairs that share their
// start and minibatches, and a clear end when it diverges.
#include "boltzmark/learn/trainer.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/chains/contrastive_divergence.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "oracle/learn_enumeration.hpp"
#include "verification/exact/support/every_path.hpp"
#include "verification/exact/support/small_data.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;
using namespace small_trainers;

namespace {

const Negative kRbmNegatives[] = {Negative::cd(2), Negative::pcd(2), Negative::pt(3, 1)};

double log_likelihood(const Layered& model, const Eigen::MatrixXf& data) {
  return oracle::mean_log_likelihood({model.weights(0), model.bias(0), model.bias(1)}, data);
}

}  // namespace

TEST_CASE("training raises the exact log-likelihood of Bars and Stripes, below its ceiling") {
  const Eigen::MatrixXf data = bars_and_stripes_patterns();
  for (const Negative& negative : {Negative::cd(5), Negative::pcd(5), Negative::pt(5, 1)})
    for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
      INFO(negative.name() << " " << rule.name());
      Trainer trainer(start(16, 10), data,
                      {.negative = negative, .rule = rule, .learning_rate = 0.1}, make_key(1));
      const double before = log_likelihood(trainer.model(), data);
      CHECK(before == Approx(-16 * std::log(2.0)).margin(0.1));  // near-zero weights: uniform
      steps(trainer, 2000);
      const double after = log_likelihood(trainer.model(), data);
      // A tenth of the way to the ceiling; independent pixels cannot leave -16 log 2 at all.
      CHECK(after > before + 0.1 * (-3.379093 - before));
      CHECK(after < -3.379093);
    }
}

TEST_CASE("training gives the same bytes for one thread and two") {
  const Eigen::MatrixXf data = random_cases(200, 400);
  for (const Negative& negative : registered_negatives()) {
    INFO(negative.name());
    std::vector<Layered> models;
    for (int threads : {1, 2}) {
      const ThreadLimit limit(threads);
      Trainer trainer(start(200, 50), data,
                      {.negative = negative, .rule = Rule::flip(), .batch = 200}, make_key(1));
      steps(trainer, 5);
      models.push_back(trainer.model());
    }
    CHECK(same_bytes(models[0], models[1]));
  }
}

TEST_CASE("parallel tempering with one temperature is PCD") {
  const Eigen::MatrixXf data = random_cases(9, 20);
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    Trainer pcd(start(9, 4), data, {.negative = Negative::pcd(3), .rule = rule}, make_key(1));
    Trainer pt(start(9, 4), data, {.negative = Negative::pt(1, 3), .rule = rule}, make_key(1));
    steps(pcd, 30);
    steps(pt, 30);
    CHECK(same_bytes(pcd.model(), pt.model()));
  }
}

TEST_CASE("a tempered gradient reads the b = 1 state of every ladder") {
  const Eigen::MatrixXf data = random_cases(6, 20);
  const Layered model = start(6, 3, 1.0);
  auto sampler = std::make_unique<PersistentLadders>(
      SamplerSetup{.model = model,
                   .packing = {.chains = 20},
                   .key = make_key(1),
                   .draws = std::make_shared<PhiloxDraws>(make_key(1))},
      uniform_ladder(4), 1);
  const ParallelTempering& ladders = sampler->ladders();
  Trainer trainer(model, data, {.negative = Negative::pt(4, 1)}, make_key(1), std::move(sampler));
  int moved = 0;
  for (int update = 0; update < 20; ++update) {
    trainer.step();
    for (int bundle = 0; bundle < 20; ++bundle) {
      const int chain = ladders.chain_at(bundle, 3);
      CHECK(ladders.rung(chain) == 3);
      moved += chain != bundle * 4 + 3;
      for (int i = 0; i < 6; ++i)
        CHECK(trainer.negative().get(0, i, bundle) == ladders.chains().get(0, i, chain));
    }
  }
  CHECK(moved > 0);
}

TEST_CASE("runs of different rules share start, minibatches and initial chains") {
  const Eigen::MatrixXf data = random_cases(6, 25);
  Trainer gibbs(start(6, 3), data, {.negative = Negative::pcd(1), .batch = 10}, make_key(1));
  Trainer flip(start(6, 3), data, {.negative = Negative::pcd(1), .rule = Rule::flip(), .batch = 10},
               make_key(1));
  CHECK(same_bytes(gibbs.model(), flip.model()));
  Chains states(gibbs.model(), 10), others = states;
  gibbs.sampler().copy_states(states);
  flip.sampler().copy_states(others);
  for (const int layer : {0, 1}) CHECK(states.get_layer(layer) == others.get_layer(layer));
  for (int update = 0; update < 9; ++update) {
    gibbs.step();
    flip.step();
    CHECK(gibbs.cases() == flip.cases());
  }
}

TEST_CASE("a smaller last minibatch counts its own cases only") {
  // Zero rate and zero weights: the positive means alone tell which cases were counted.
  Eigen::MatrixXf data = Eigen::MatrixXf::Zero(1, 5);
  data(0, 4) = 1;
  for (const Negative& negative : kRbmNegatives) {
    Trainer trainer(start(1, 1, 0), data, {.negative = negative, .learning_rate = 0, .batch = 3},
                    make_key(1));
    for (int update = 0; update < 6; ++update) {
      trainer.step();
      const std::vector<int>& cases = trainer.cases();
      REQUIRE(cases.size() == (update % 2 == 0 ? 3U : 2U));
      double positive = 0, drawn = 0;
      for (const int c : cases) positive += static_cast<double>(data(0, c));
      const int samples = negative.kind == "cd" ? static_cast<int>(cases.size()) : 3;
      for (int c = 0; c < samples; ++c)
        drawn += static_cast<double>(trainer.negative().get(0, 0, c));
      const double expected = positive / static_cast<double>(cases.size()) - drawn / samples;
      CHECK(trainer.gradient().biases[0][0] == Approx(expected).margin(1e-12));
    }
  }
}

// The weights are multiples of 2^-8 and the levels of 1/4, so that inputs are exact on every path
// and the same samples are drawn; each phase's means are within 2^-20 of the law's.
TEST_CASE("a gradient of grey levels is the same on every SIMD path") {
  Eigen::MatrixXd weights = start(40, 40, 0.5).weights(0);
  weights = (weights.array() * 256).round() / 256;
  const Layered model = Layered::rbm(weights, Eigen::VectorXd::Zero(40), Eigen::VectorXd::Zero(40));
  Stream stream(make_key(8, "learn"), Purpose::test);
  Eigen::MatrixXf data(40, 40);
  for (float& x : data.reshaped()) x = static_cast<float>(stream.below(5)) / 4;
  std::vector<Eigen::MatrixXd> gradients;
  on_every_path([&] {
    Trainer trainer(model, data, {}, make_key(1));
    trainer.step();
    gradients.push_back(trainer.gradient().weights[0]);
    CHECK((gradients.back() - gradients.front()).cwiseAbs().maxCoeff() <= 4 * 0x1p-20);
  });
}

TEST_CASE("a sampler of one's own that is packed for states alone is refused cases that are none") {
  const Layered model = start(6, 3);
  const auto make = [&](const Eigen::MatrixXf& data, bool values) {
    return Trainer(
        model, data, {}, make_key(1),
        std::make_unique<PersistentChains>(SamplerSetup{
            .model = model, .packing = {.chains = 12, .values = values}, .key = make_key(2)}));
  };
  const Eigen::MatrixXf bits = random_cases(6, 12), grey = 0.25F * bits;
  CHECK_NOTHROW(make(bits, true));
  CHECK_NOTHROW(make(grey, false));
  CHECK_THROWS_WITH(make(grey, true), Catch::Contains("values = false"));
}

TEST_CASE("a diverging run names the update that failed and keeps the last finite model") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  // The first update leaves parameters near 1e39, which float32 does not hold.
  Trainer trainer(start(6, 3), data, {.negative = Negative::cd(1), .learning_rate = 1e40},
                  make_key(1));
  try {
    steps(trainer, 3);
    FAIL("a rate of 1e40 must leave the range of float32");
  } catch (const Diverged& diverged) {
    CHECK(diverged.update() == 1);
    CHECK(trainer.updates() == 1);
    CHECK(std::string(diverged.what()).find("update 1:") != std::string::npos);
    CHECK(trainer.model().weights(0).allFinite());
  }
}

TEST_CASE("a run records its start, every n-th update and its end") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  Trainer trainer(start(6, 3), data, {.updates = 25}, make_key(1));
  std::vector<std::uint64_t> recorded;
  trainer.run(10, [&](const Trainer& now) { recorded.push_back(now.updates()); });
  CHECK(recorded == std::vector<std::uint64_t>{0, 10, 20, 25});
  CHECK_THROWS_AS(trainer.run(0, [](const Trainer&) {}), InvalidArgument);
}

TEST_CASE("a run that goes on does not record its start again") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  const TrainOptions options{.updates = 25};
  Trainer first(start(6, 3), data, options, make_key(1)),
      second(start(6, 3), data, options, make_key(1));
  first.advance(10);
  second.restore(first.checkpoint());
  std::vector<std::uint64_t> recorded;
  second.run(10, [&](const Trainer& now) { recorded.push_back(now.updates()); });
  CHECK(recorded == std::vector<std::uint64_t>{20, 25});
}

TEST_CASE(
    "between sampling and the update there is no checkpoint, and one that is read undoes it") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  const TrainOptions options{.negative = Negative::pcd(1), .updates = 25};
  Trainer trainer(start(6, 3), data, options, make_key(1)),
      fresh(start(6, 3), data, options, make_key(1));
  trainer.advance(3);
  const std::string bytes = trainer.checkpoint();
  trainer.sample();
  CHECK_THROWS_AS(trainer.checkpoint(), InvalidArgument);
  trainer.restore(bytes);
  fresh.restore(bytes);
  trainer.step();
  fresh.step();
  CHECK(same_bytes(trainer.model(), fresh.model()));
}

TEST_CASE("a trainer refuses what it cannot train") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  const Eigen::MatrixXf none(6, 0), grey = 2 * data;
  CHECK_THROWS_AS(Trainer(start(5, 3), data, {}, {}), InvalidArgument);
  CHECK_THROWS_AS(Trainer(start(6, 3), none, {}, {}), InvalidArgument);
  CHECK_THROWS_AS(Trainer(start(6, 3), grey, {}, {}), InvalidArgument);
  CHECK_THROWS_AS(Trainer(start(6, 3), data, {.batch = 13}, {}), InvalidArgument);
  CHECK_THROWS_AS(Trainer(start(6, 3), data, {.batch = -1}, {}), InvalidArgument);
  CHECK_THROWS_AS(Trainer(start(6, 3), data, {.learning_rate = std::nan("")}, {}), InvalidArgument);
  // Nor with a sampler of its own that would not be advanced.
  TrainOptions still;
  still.negative.sweeps = 0;
  const Layered model = start(6, 3);
  const SamplerSetup setup{.model = model,
                           .packing = {.chains = 12},
                           .draws = std::make_shared<PhiloxDraws>(make_key(1))};
  CHECK_THROWS_WITH(
      Trainer(model, data, still, {}, std::make_unique<TiedDivergence>(setup, TiedCopies{1, 1})),
      Catch::Contains("sweeps = 0"));
  std::vector<Layer> layers(3);
  layers[0].bias = Eigen::VectorXd::Zero(6);
  layers[1].bias = layers[2].bias = Eigen::VectorXd::Zero(2);
  const Layered deep(layers, {Eigen::MatrixXd::Zero(6, 2), Eigen::MatrixXd::Zero(2, 2)});
  CHECK_THROWS_AS(Trainer(deep, data, {}, {}), InvalidArgument);
}

TEST_CASE("a negative phase's name reads back as itself and nonsense is refused") {
  for (const char* name :
       {"cd:1", "cd:25", "pcd:10", "pt:10:1", "pt:20:10", "fpcd:2", "tt:2:0", "tt:20:0.9"})
    CHECK(parse_negative(name).name() == name);
  CHECK(parse_negative("pt:10:3") == Negative::pt(10, 3));
  for (const char* text : {"",           "cd",
                           "cd:",        "cd:0",
                           "cd:-1",      "cd:1.5",
                           "cd:5:1",     "cd:99999999999",
                           "pcd:x",      "pt:10",
                           "pt:0:1",     "pt:10:0",
                           "pt:1:1:1",   "gibbs:1",
                           "cd:5 ",      "pt:5:1:",
                           "pt:5:1:1",   "pt:5:1:-0.1",
                           "pt:5:1:nan", "pt:5:1:0.5:1",
                           "pt:1:1:0.5", "pt:5:1:0.99999999",
                           "fpcd",       "fpcd:0",
                           "fpcd:1:1",   "tt:20",
                           "tt:1:0",     "tt:0:0.5",
                           "tt:20:1",    "tt:20:-0.1",
                           "tt:20:nan",  "tt:20:0.9:1",
                           "tt:20:",     "tt:20:0.9999999"})
    CHECK_THROWS_AS(parse_negative(text), InvalidArgument);
  // Fields that are good each, but not together: of one temperature, or none below 1 in single precision.
  for (const std::string text : {"pt:1:1:0.5", "pt:5:1:0.99999999", "tt:20:0.9999999"}) {
    CHECK_THROWS_WITH(parse_negative(text), Catch::StartsWith("negative = " + text + ": "));
    CHECK_THROWS_WITH(parse_sampler(text), Catch::StartsWith("sampler = " + text + ": "));
  }
}

TEST_CASE("a ladder from LOW to 1 is equally spaced, and one from 0 has its old name") {
  CHECK(uniform_ladder(3, 0.5) == std::vector<float>{0.5F, 0.75F, 1.0F});
  CHECK(uniform_ladder(2, 0.9) == std::vector<float>{0.9F, 1.0F});
  CHECK(parse_negative("pt:5:2:0.9") == Negative::pt(5, 2, 0.9));
  CHECK(Negative::pt(5, 2, 0.9).name() == "pt:5:2:0.9");
  CHECK(parse_negative("pt:5:2:0").name() == "pt:5:2");
  const Layered model = start(6, 3);
  const auto sampler = make_sampler(Negative::pt(3, 1, 0.5),
                                    {.model = model, .packing = {.chains = 2}, .key = make_key(1)});
  CHECK(dynamic_cast<const PersistentLadders&>(*sampler).ladders().options().inverse_temperatures ==
        std::vector<float>{0.5F, 0.75F, 1.0F});
}

TEST_CASE("the option --chains counts the chains of every temperature") {
  const Layered model = start(6, 3);
  const SamplerSetup setup{.model = model, .packing = {.chains = 10}, .key = make_key(1)};
  const auto made = [&](const char* phase, const char* chains) {
    Negative negative = parse_negative(phase);
    set_negative_option(negative, "--chains", chains);
    return make_sampler(negative, setup);
  };
  CHECK(made("pcd:1", "6")->chains() == 6);
  CHECK(made("pcd:1", "6")->chain_sweeps(2) == 12);
  CHECK(made("pt:3:2", "6")->chains() == 2);
  CHECK(made("pt:3:2", "6")->chain_sweeps(2) == 12);
  CHECK(make_sampler(Negative::pt(3, 2), setup)->chain_sweeps(2) == 60);
  CHECK_THROWS_AS(made("pt:3:1", "7"), InvalidArgument);  // no whole ladders
  CHECK_THROWS_AS(made("cd:1", "6"), InvalidArgument);    // its chains start at the cases
  for (const char* value : {"0", "-1", "1.5", "x", ""})
    CHECK_THROWS_AS(made("pcd:1", value), InvalidArgument);
  Negative negative = Negative::pcd(1);
  CHECK_THROWS_AS(set_negative_option(negative, "--chain", "6"), InvalidArgument);
  CHECK(negative.description() == "pcd:1");
  set_negative_option(negative, "--chains", "6");
  CHECK(negative.description() == "pcd:1 --chains 6");
  CHECK(parse_negative_description("pcd:1 --chains 6") == negative);
  CHECK(parse_negative_description("pcd:1") == Negative::pcd(1));
  for (const char* text : {"", " pcd:1", "pcd:1 --chains", "pcd:1 --chains 6 7", "cd:1 --chains 6",
                           "pcd:1  --chains 6"})
    CHECK_THROWS_AS(parse_negative_description(text), InvalidArgument);
}

TEST_CASE("the option --every is the sweeps from one tempered transition to the next") {
  const Layered model = start(6, 3);
  const SamplerSetup setup{.model = model, .packing = {.chains = 10}, .key = make_key(1)};
  // From 1 to 0.5 by way of 0.75 and back: four sweeps a transition.
  CHECK(make_sampler(Negative::tt(3, 0.5), setup)->chain_sweeps(4) == 10 * 4 * (1 + 4));
  CHECK(make_sampler(parse_negative_description("tt:3:0.5 --every 4"), setup)->chain_sweeps(4) ==
        10 * 4 * (1 + 1));
}

TEST_CASE("options of negative phases have the defaults that their help tells") {
  struct Default {
    const char *phase, *option, *value;
  };
  for (const auto& [phase, name, value] :
       {Default{"tt:20:0.9", "--every", "1"}, Default{"st:20:0.9", "--every", "50"},
        Default{"st:20:0.9", "--factor", "constant:10"}, Default{"st:20:0.9", "--weights", "own"},
        Default{"cast:20:0.9", "--lag", "50"}, Default{"cast:20:0.9", "--swap", "last"},
        Default{"fpcd:1", "--fast-decay", "0.95"}})
    for (const NegativeOption& option : negative_options()) {
      if (option.name() != name) continue;
      INFO(phase << " " << name);
      CHECK(option.write(parse_negative(phase)) == value);
      CHECK(option.meaning.find(std::string("default: ") + value) != std::string_view::npos);
    }
}

TEST_CASE("an update with other chains than cases is the gradient of those chains") {
  const Eigen::MatrixXf data = random_cases(9, 50);
  const auto bytes_of = [&](const char* chains) {
    Negative negative = Negative::pcd(1);
    if (chains != nullptr) set_negative_option(negative, "--chains", chains);
    Trainer trainer(start(9, 4), data, {.negative = negative, .batch = 20}, make_key(1));
    trainer.advance(5);
    return trainer.checkpoint();
  };
  CHECK(bytes_of(nullptr) != bytes_of("21"));
  CHECK(bytes_of("21") == bytes_of("21"));
  Negative few = Negative::pcd(1);
  set_negative_option(few, "--chains", "3");
  Trainer trainer(start(9, 4), data, {.negative = few, .learning_rate = 0, .batch = 20},
                  make_key(1));
  trainer.step();
  // Of the visible biases: mean of the cases less mean of the three states.
  const Eigen::MatrixXf states = trainer.negative().get_layer(0);
  REQUIRE(states.cols() == 3);
  Eigen::VectorXd expected = -states.cast<double>().rowwise().mean();
  for (const int c : trainer.cases()) expected += data.col(c).cast<double>() / 20;
  CHECK((trainer.gradient().biases[0] - expected).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("every registered negative phase reads its own example and makes its sampler") {
  const Layered model = start(6, 3);
  for (const NegativePhase& phase : negative_phases()) {
    INFO(phase.form);
    const Negative negative = parse_negative(phase.example);
    CHECK(negative.kind == phase.name());
    CHECK(negative.name() == phase.example);
    CHECK(describe_negative_phases().find(phase.form) != std::string::npos);
    const auto sampler =
        make_sampler(negative, {.model = model, .packing = {.chains = 6}, .key = make_key(1)});
    CHECK(sampler->chains() == (negative.kind == "cast" ? 3 : 6));
    CHECK_FALSE(sampler->name().empty());
  }
}

TEST_CASE("sampling before an update changes no byte of it") {
  const Eigen::MatrixXf data = random_cases(9, 50);
  for (const Negative& negative : registered_negatives()) {
    INFO(negative.name());
    const TrainOptions options{.negative = negative, .batch = 20};
    Trainer plain(start(9, 4), data, options, make_key(1));
    Trainer sampled(start(9, 4), data, options, make_key(1));
    for (int update = 0; update < 10; ++update) {
      plain.step();
      sampled.sample();
      sampled.step();
    }
    CHECK(same_bytes(plain.model(), sampled.model()));
  }
}

TEST_CASE("initial parameters are normal with the scale asked for") {
  const Layered model = initial_rbm(200, 100, 0.01, make_key(9));
  // 20,000 squares: relative error of the variance sqrt(2 / 20000) = 1 %; 6 of those, 2e-9.
  CHECK(model.weights(0).squaredNorm() / 20000 == Approx(1e-4).epsilon(0.06));
  CHECK(std::abs(model.weights(0).mean()) < 6 * 0.01 / std::sqrt(20000.0));
  CHECK(model.bias(0).norm() > 0);
  CHECK(model.bias(1).norm() > 0);
  CHECK(same_bytes(model, initial_rbm(200, 100, 0.01, make_key(9))));
  CHECK_FALSE(same_bytes(model, initial_rbm(200, 100, 0.01, make_key(10))));
  CHECK_THROWS_AS(initial_rbm(0, 1, 1, {}), InvalidArgument);
  CHECK_THROWS_AS(initial_rbm(1, 1, -1, {}), InvalidArgument);
}
