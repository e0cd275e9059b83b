// A training run that goes on from its checkpoint ends as one that was not stopped, and goes on from no
// other's.
#include "boltzmark/core/checkpoint.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;
using namespace small_trainers;

TEST_CASE("a resumed run ends with the bytes of an uninterrupted one") {
  const Eigen::MatrixXf data = random_cases(9, 50);
  for (const Negative& negative : registered_negatives()) {
    INFO(negative.name());
    const TrainOptions options{.negative = negative, .rule = Rule::flip(), .batch = 20};
    Trainer whole(start(9, 4), data, options, make_key(1));
    steps(whole, 40);
    Trainer first(start(9, 4), data, options, make_key(1));
    steps(first, 17);
    Trainer second(start(9, 4, 0), data, options, make_key(1));
    second.restore(first.checkpoint());
    CHECK(second.updates() == 17);
    steps(second, 23);
    CHECK(same_bytes(whole.model(), second.model()));
    CHECK(whole.checkpoint() == second.checkpoint());
  }
}

TEST_CASE("a checkpoint cut short, damaged, or of other inputs is refused") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  const TrainOptions options{.negative = Negative::pt(2, 1), .batch = 4};
  Trainer trainer(start(6, 3), data, options, make_key(1));
  steps(trainer, 3);
  const std::string bytes = trainer.checkpoint();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(trainer.restore(bytes.substr(0, size)), DataError);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    CHECK_THROWS_AS(trainer.restore(damaged), DataError);
  }
  CHECK_THROWS_AS(trainer.restore(bytes + "x"), DataError);
  const auto refuses = [&](const TrainOptions& other, const Eigen::MatrixXf& cases, int hidden,
                           StreamKey key) {
    Trainer stranger(start(6, hidden), cases, other, key);
    CHECK_THROWS_WITH(stranger.restore(bytes), Catch::Contains("other inputs"));
  };
  TrainOptions other = options;
  other.rule = Rule::flip();
  refuses(other, data, 3, make_key(1));
  other = options;
  other.learning_rate = 0.01;
  refuses(other, data, 3, make_key(1));
  other = options;
  other.negative = Negative::pt(2, 2);
  refuses(other, data, 3, make_key(1));
  other.negative = Negative::pt(2, 1, 0.5);
  refuses(other, data, 3, make_key(1));
  other.negative = options.negative;
  set_negative_option(other.negative, "--chains", "2");
  refuses(other, data, 3, make_key(1));
  Eigen::MatrixXf changed = data;
  changed(2, 3) = 1 - changed(2, 3);
  refuses(options, changed, 3, make_key(1));
  refuses(options, data, 4, make_key(1));
  refuses(options, data, 3, make_key(2));
  CHECK_NOTHROW(trainer.restore(bytes));
}

TEST_CASE("a checkpoint is refused where one input alone of the training is another") {
  struct Inputs {
    std::vector<int> sizes = {6, 3, 2};
    NetworkUnits units = {};
    Eigen::MatrixXf data = random_cases(6, 12);
    TrainOptions options = {.negative = Negative::pcd(2),
                            .optimiser = {.momentum = 0.5, .rate_decay = 100},
                            .weight_decay = 0.01,
                            .batch = 4};
    StreamKey key = make_key(1);

    Trainer trainer() const {
      return Trainer(initial_network(sizes, 0.01, make_key(5), units), data, options, key);
    }
  };
  const Inputs inputs;
  Trainer trainer = inputs.trainer();
  steps(trainer, 3);
  const std::string bytes = trainer.checkpoint();
  using Change = std::function<void(Inputs&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {"sweeps", [](Inputs& i) { i.options.negative = Negative::pcd(3); }},
      {"phase", [](Inputs& i) { i.options.negative = Negative::pt(2, 2); }},
      {"rule", [](Inputs& i) { i.options.rule = Rule::flip(); }},
      {"rate", [](Inputs& i) { i.options.learning_rate *= 1 + 1e-12; }},
      {"optimiser", [](Inputs& i) { i.options.optimiser = Optimiser::adam(); }},
      {"momentum", [](Inputs& i) { i.options.optimiser.momentum = 0.6; }},
      {"no momentum", [](Inputs& i) { i.options.optimiser.momentum = 0; }},
      {"rate decay", [](Inputs& i) { i.options.optimiser.rate_decay = 101; }},
      {"weight decay", [](Inputs& i) { i.options.weight_decay = 0.02; }},
      {"no weight decay", [](Inputs& i) { i.options.weight_decay = 0; }},
      {"batch", [](Inputs& i) { i.options.batch = 3; }},
      {"mean field", [](Inputs& i) { i.options.mean_field.updates = 6; }},
      {"tolerance", [](Inputs& i) { i.options.mean_field.tolerance = 0.1F; }},
      {"start", [](Inputs& i) { i.options.start_at_cases = true; }},
      {"layer", [](Inputs& i) { i.sizes[2] = 3; }},
      {"visible units", [](Inputs& i) { i.units.visible = Unit::multivalued(1); }},
      {"hidden units", [](Inputs& i) { i.units.hidden = Unit::multivalued(1); }},
      {"a case", [](Inputs& i) { i.data(2, 3) = 1 - i.data(2, 3); }},
      {"the order of cases", [](Inputs& i) { i.data.col(0).swap(i.data.col(1)); }},
      {"key", [](Inputs& i) { i.key.low ^= 1; }},
      {"other half of the key", [](Inputs& i) { i.key.high ^= 1; }}};
  for (const auto& [what, change] : changes) {
    INFO(what);
    Inputs other = inputs;
    change(other);
    Trainer stranger = other.trainer();
    CHECK_THROWS_WITH(stranger.restore(bytes), Catch::Contains("other inputs"));
  }
  Trainer same = inputs.trainer();
  CHECK_NOTHROW(same.restore(bytes));
  CHECK(same.checkpoint() == bytes);
  // Settings of other optimisers, whose checkpoints have another length.
  for (const Optimiser& optimiser :
       {Optimiser::adam(), Optimiser::adamax(), Optimiser::rms_spectral()}) {
    Inputs first;
    first.options.optimiser = optimiser;
    const std::string kept = first.trainer().checkpoint();
    for (double Optimiser::*setting :
         {&Optimiser::mean_decay, &Optimiser::scale_decay, &Optimiser::epsilon}) {
      Inputs other = first;
      other.options.optimiser.*setting *= 0.5;
      Trainer stranger = other.trainer();
      CHECK_THROWS_WITH(stranger.restore(kept), Catch::Contains("other inputs"));
    }
  }
}

TEST_CASE("a checkpoint is refused by what differs, and one of another version as that") {
  CheckpointInputs written, ours;
  written.add("rate", "0.1");
  written.add("batch", "10");
  written.add("decay", "0.5");
  written.add_hash("data", {1, 2});
  ours.add("rate", "0.3");
  ours.add("batch", "10");
  ours.add("lag", "50");
  ours.add_hash("data", {1, 3});
  CheckpointWriter out;
  written.write(out);
  const std::string bytes = out.finish();
  CheckpointReader same(bytes), other(bytes);
  CHECK_NOTHROW(written.check(same));
  same.finish();
  CHECK_THROWS_WITH(ours.check(other),
                    "checkpoint: of other inputs: rate = 0.3 (must be 0.1), lag = 50 (must be left "
                    "out), another data, no decay (must be 0.5)");
  std::string older = bytes;
  older[7] = '2';  // which told no SIMD path
  CHECK_THROWS_WITH(CheckpointReader(older), Catch::Contains("another version"));
  CHECK_THROWS_WITH(CheckpointReader("BMTRAINS"), Catch::Contains("not a training checkpoint"));
}

TEST_CASE("a run goes on along the SIMD path that it began on, and is refused on another by name") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  const auto trainer = [&] { return Trainer(start(6, 3), data, {.batch = 4}, make_key(1)); };
  for (const std::string& began : simd_paths()) {
    std::string bytes, name;
    {
      const ForcedSimdPath forced(began);
      bytes = trainer().checkpoint();
      name = simd_path();
    }
    for (const std::string& now : simd_paths()) {
      INFO(began << " " << now);
      const ForcedSimdPath forced(now);
      Trainer second = trainer();
      if (now == began)
        CHECK_NOTHROW(second.restore(bytes));
      else
        CHECK_THROWS_WITH(second.restore(bytes), "checkpoint: of other inputs: SIMD path = " +
                                                     simd_path() + " (must be " + name + ")");
    }
  }
}

TEST_CASE("a checkpoint of Gaussian units is refused where one sigma alone is another") {
  const Eigen::MatrixXf data = random_cases(6, 12);
  const auto trainer = [&](double sigma) {
    std::vector<Layer> layers(2);
    layers[0] = {Unit::gaussian(), Eigen::VectorXd::Zero(6), Eigen::VectorXd::Ones(6)};
    layers[0].sigma0[4] = sigma;
    layers[1].bias = Eigen::VectorXd::Zero(3);
    return Trainer(Layered(std::move(layers), {Eigen::MatrixXd::Constant(6, 3, 0.01)}), data,
                   {.negative = Negative::cd(1), .batch = 4}, make_key(1));
  };
  Trainer first = trainer(1);
  steps(first, 2);
  CHECK_NOTHROW(trainer(1).restore(first.checkpoint()));
  Trainer other = trainer(0.5);
  CHECK_THROWS_WITH(other.restore(first.checkpoint()), Catch::Contains("other inputs"));
}
