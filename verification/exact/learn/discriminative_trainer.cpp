// What training a discriminative RBM promises: the gradient's steps over each epoch's minibatches,
// the same bytes for any threads and after a resume, and a clear end when it diverges.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;
using small_trainers::steps;

namespace {

/// Two inputs of noise, and a class that depends on the signs of both: no linear rule finds it.
LabelledCases exclusive_or(int cases) {
  Stream stream(make_key(8), Purpose::test);
  Eigen::MatrixXf inputs(2, cases);
  std::vector<int> labels;
  for (int c = 0; c < cases; ++c) {
    for (int i = 0; i < 2; ++i) inputs(i, c) = static_cast<float>(stream.uniform(-1, 1));
    labels.push_back(inputs(0, c) * inputs(1, c) > 0 ? 1 : 0);
  }
  return {inputs, labels, 2};
}

DiscriminativeRbm start(Unit unit, int hidden = 10) {
  return xavier_discriminative(unit, 2, hidden, 2, make_key(5));
}

bool same_bytes(const DiscriminativeRbm& a, const DiscriminativeRbm& b) {
  return a.input_weights() == b.input_weights() && a.class_weights() == b.class_weights() &&
         a.hidden_bias() == b.hidden_bias() && a.class_bias() == b.class_bias();
}

const Optimiser kOptimisers[] = {Optimiser::sgd(), Optimiser::adam(), Optimiser::adamax()};

}  // namespace

TEST_CASE("training learns what no linear rule can, with every unit and optimiser") {
  const LabelledCases cases = exclusive_or(200);
  for (const Unit unit :
       {Unit::bernoulli(), Unit::multivalued(1), Unit::multivalued(4), Unit::continuous()})
    for (const Optimiser& optimiser : kOptimisers) {
      INFO(unit.name() << " " << optimiser.name());
      const double rate = optimiser == Optimiser::sgd() ? 0.5 : 0.05;
      DiscriminativeTrainer trainer(start(unit), cases,
                                    {.optimiser = optimiser, .learning_rate = rate, .batch = 50},
                                    make_key(1));
      CHECK(trainer.updates_per_epoch() == 4);
      const ClassScore before = score_classes(trainer.model(), cases);
      steps(trainer, 2000);
      const ClassScore after = score_classes(trainer.model(), cases);
      // A linear rule errs on a quarter of the square at least.
      CHECK(after.error_rate() < 0.2);
      CHECK(after.mean_log_likelihood > before.mean_log_likelihood + 0.3);
    }
}

TEST_CASE("an update is the optimiser's step of the minibatch's gradient") {
  const LabelledCases cases = exclusive_or(23);
  const StreamKey key = make_key(1);
  DiscriminativeTrainer trainer(start(Unit::continuous()), cases, {.batch = 5}, key);
  DiscriminativeRbm model = start(Unit::continuous());
  const auto steps_of = start_steps(Optimiser::adamax(), 0.002, model.zero_parameters());
  Minibatches minibatches(23, 5, key);
  Parameters gradient = model.zero_parameters();
  for (std::uint64_t update = 0; update < 12; ++update) {
    class_gradient(model, cases, minibatches.cases(update), gradient);
    model.add(steps_of->step(gradient).direction, 1);
    trainer.step();
    REQUIRE(same_bytes(model, trainer.model()));
  }
}

TEST_CASE("training classes gives the same bytes for one thread and two") {
  const LabelledCases cases = exclusive_or(200);
  std::vector<DiscriminativeRbm> models;
  for (const int threads : {1, 2}) {
    const ThreadLimit limit(threads);
    DiscriminativeTrainer trainer(start(Unit::multivalued(4), 150), cases, {.batch = 70},
                                  make_key(1));
    steps(trainer, 20);
    models.push_back(trainer.model());
  }
  CHECK(same_bytes(models[0], models[1]));
}

TEST_CASE("a resumed discriminative run ends with the bytes of an uninterrupted one") {
  const LabelledCases cases = exclusive_or(30);
  for (const Optimiser& optimiser : kOptimisers) {
    const DiscriminativeOptions options{.optimiser = optimiser, .learning_rate = 0.1, .batch = 7};
    DiscriminativeTrainer whole(start(Unit::continuous()), cases, options, make_key(1));
    steps(whole, 20);
    DiscriminativeTrainer first(start(Unit::continuous()), cases, options, make_key(1));
    steps(first, 9);
    DiscriminativeTrainer second(start(Unit::continuous()), cases, options, make_key(1));
    second.restore(first.checkpoint());
    CHECK(second.updates() == 9);
    steps(second, 11);
    CHECK(same_bytes(whole.model(), second.model()));
    CHECK(whole.checkpoint() == second.checkpoint());
  }
}

TEST_CASE("a discriminative checkpoint cut short, damaged, or of other inputs is refused") {
  const LabelledCases cases = exclusive_or(12), others = exclusive_or(13);
  const DiscriminativeOptions options{.batch = 4};
  DiscriminativeTrainer trainer(start(Unit::continuous()), cases, options, make_key(1));
  steps(trainer, 3);
  const std::string bytes = trainer.checkpoint();
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    CHECK_THROWS_AS(trainer.restore(bytes.substr(0, size)), DataError);
  CHECK_THROWS_AS(trainer.restore(bytes + "x"), DataError);
  const auto refuses = [&](Unit unit, const LabelledCases& data, const DiscriminativeOptions& other,
                           StreamKey key) {
    DiscriminativeTrainer stranger(start(unit), data, other, key);
    CHECK_THROWS_WITH(stranger.restore(bytes), Catch::Contains("other inputs"));
  };
  refuses(Unit::multivalued(4), cases, options, make_key(1));
  refuses(Unit::continuous(), others, options, make_key(1));
  refuses(Unit::continuous(), cases, {.batch = 5}, make_key(1));
  refuses(Unit::continuous(), cases, {.optimiser = Optimiser::adam(), .batch = 4}, make_key(1));
  refuses(Unit::continuous(), cases, options, make_key(2));
  refuses(Unit::continuous(), cases, {.learning_rate = 2 * options.learning_rate, .batch = 4},
          make_key(1));
  refuses(Unit::continuous(), cases, options, {.low = make_key(1).low, .high = ~make_key(1).high});
  for (double Optimiser::*setting :
       {&Optimiser::mean_decay, &Optimiser::scale_decay, &Optimiser::epsilon}) {
    DiscriminativeOptions other = options;
    other.optimiser.*setting *= 0.5;
    refuses(Unit::continuous(), cases, other, make_key(1));
  }
  // One label and one input alone.
  std::vector<int> labels(12);
  Eigen::MatrixXf inputs(2, 12);
  for (int c = 0; c < 12; ++c) {
    labels[static_cast<std::size_t>(c)] = cases.label(c);
    for (int i = 0; i < 2; ++i) inputs(i, c) = cases.input(c).values[static_cast<std::size_t>(i)];
  }
  const LabelledCases same(inputs, labels, 2);
  CHECK(same.hash() == cases.hash());
  inputs(1, 7) *= 0.5F;
  refuses(Unit::continuous(), {inputs, labels, 2}, options, make_key(1));
  inputs(1, 7) *= 2;
  labels[5] = 1 - labels[5];
  refuses(Unit::continuous(), {inputs, labels, 2}, options, make_key(1));
  DiscriminativeTrainer wider(start(Unit::continuous(), 11), cases, options, make_key(1));
  CHECK_THROWS_WITH(wider.restore(bytes), Catch::Contains("other inputs"));
  CHECK_NOTHROW(trainer.restore(bytes));
}

TEST_CASE("discriminative training that leaves the finite numbers says at which update") {
  const LabelledCases cases = exclusive_or(12);
  DiscriminativeTrainer trainer(start(Unit::multivalued(1)), cases,
                                {.optimiser = Optimiser::sgd(), .learning_rate = 1e301},
                                make_key(1));
  try {
    steps(trainer, 100);
    FAIL("never diverged");
  } catch (const Diverged& stop) {
    CHECK(stop.update() == trainer.updates());
  }
  for (const int batch : {-1, 13})
    CHECK_THROWS_AS(
        DiscriminativeTrainer(start(Unit::bernoulli()), cases, {.batch = batch}, make_key(1)),
        InvalidArgument);
}
