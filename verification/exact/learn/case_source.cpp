// Where a trainer's cases come from: draws of grey levels that follow from the case and the update
// alone, whatever the minibatch, the threads and the resumes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <numeric>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"

using namespace boltzmark;

namespace {

constexpr int kDrawnUnits = 37, kDrawnCases = 45;

Eigen::MatrixXf drawing_levels(float low) {
  Eigen::MatrixXf levels(kDrawnUnits, kDrawnCases);
  Stream stream(make_key(11, "grey"), Purpose::test);
  for (float& x : levels.reshaped())
    x = low + (1 - low) * static_cast<float>(stream.below(256)) / 255;
  return levels;
}

Layered drawing_network(Unit visible) {
  return initial_network(std::vector{kDrawnUnits, 9}, 0.1, make_key(5), {.visible = visible});
}

Eigen::MatrixXf cases_drawn(DrawnCases& source, const Layered& model, const std::vector<int>& cases,
                            std::uint64_t update) {
  Chains chains(model, static_cast<int>(cases.size()));
  source.fill(chains, cases, update);
  return chains.get_layer(0);
}

std::uint64_t bytes_of_drawing(const Layered& model) {
  CheckpointWriter bytes;
  for (const Eigen::MatrixXd& weights : model.weights()) bytes.write(weights);
  for (int l = 0; l < model.layers(); ++l) bytes.write(model.bias(l));
  return hash_bytes(bytes.finish());
}

const TrainOptions kDrawnOptions{.negative = Negative::pcd(1), .batch = 20};

}  // namespace

TEST_CASE("a drawn case follows from its levels, its number and the update alone") {
  for (const Unit unit : {Unit::bernoulli(), Unit::multivalued(4), Unit::continuous()}) {
    const auto low = static_cast<float>(unit.lowest());
    const Eigen::MatrixXf levels = drawing_levels(low);
    const Layered model = drawing_network(unit);
    const StreamKey key = make_key(3);
    DrawnCases source(levels, unit, key);
    for (const std::uint64_t update :
         {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{1} << 40}) {
      std::vector<int> all(kDrawnCases);
      std::iota(all.begin(), all.end(), 0);
      const Eigen::MatrixXf values = cases_drawn(source, model, all, update);
      for (const int c : all) {
        Stream stream(key, Purpose::drawn_case,
                      update * kDrawnCases + static_cast<std::uint64_t>(c));
        for (int u = 0; u < kDrawnUnits; ++u) {
          const double p =
              (static_cast<double>(levels(u, c)) - unit.lowest()) / (1 - unit.lowest());
          CHECK(values(u, c) == (stream() < p * 0x1p32 ? 1 : low));
        }
      }
      // Another minibatch, in another order, on one thread.
      const ThreadLimit limit(1);
      const std::vector<int> some{30, 2, 44, 2};
      const Eigen::MatrixXf again = cases_drawn(source, model, some, update);
      for (int k = 0; k < 4; ++k)
        CHECK(again.col(k) == values.col(some[static_cast<std::size_t>(k)]));
    }
    CHECK(cases_drawn(source, model, {4}, 0) != cases_drawn(source, model, {4}, 1));
    const Eigen::MatrixXf beyond = levels.array() + 1;
    CHECK_THROWS_AS(DrawnCases(beyond, unit, key), InvalidArgument);
  }
}

TEST_CASE("levels of least and greatest are drawn as they are") {
  Eigen::MatrixXf levels(2, 1);
  levels << 0, 1;
  const Layered model = initial_rbm(2, 1, 0.1, make_key(5));
  DrawnCases source(levels, Unit::bernoulli(), make_key(3));
  for (std::uint64_t update = 0; update < 1000; ++update)
    REQUIRE(cases_drawn(source, model, {0}, update) == levels);
}

TEST_CASE("training on drawn cases has the same bytes for any threads and after a resume") {
  const Eigen::MatrixXf levels = drawing_levels(0);
  const auto trainer = [&] {
    return Trainer(drawing_network(Unit::bernoulli()),
                   std::make_shared<DrawnCases>(levels, Unit::bernoulli(), make_key(1)),
                   kDrawnOptions, make_key(1));
  };
  Trainer whole = trainer(), first = trainer(), second = trainer();
  whole.advance(20);
  {
    const ThreadLimit limit(1);
    Trainer one = trainer();
    one.advance(20);
    CHECK(bytes_of_drawing(one.model()) == bytes_of_drawing(whole.model()));
  }
  first.advance(7);
  second.restore(first.checkpoint());
  second.advance(13);
  CHECK(bytes_of_drawing(second.model()) == bytes_of_drawing(whole.model()));
  // The levels as they stand are other inputs, and train another model.
  Trainer grey(drawing_network(Unit::bernoulli()), levels, kDrawnOptions, make_key(1));
  CHECK_THROWS_AS(grey.restore(first.checkpoint()), DataError);
  grey.advance(20);
  CHECK(bytes_of_drawing(grey.model()) != bytes_of_drawing(whole.model()));
}

// Batch learning, which loads cases that stay once: with a rate of zero the gradient of the visible
// biases moves by that of the draws alone.
TEST_CASE("each update of batch learning draws its cases anew") {
  const Eigen::MatrixXf levels = drawing_levels(0);
  const Layered model = drawing_network(Unit::bernoulli());
  auto source = std::make_shared<DrawnCases>(levels, Unit::bernoulli(), make_key(1));
  Trainer trainer(model, source, {.negative = Negative::pcd(1), .learning_rate = 0}, make_key(1));
  std::vector<int> all(kDrawnCases);
  std::iota(all.begin(), all.end(), 0);
  for (std::uint64_t update = 0; update < 3; ++update) {
    trainer.step();
    const Eigen::VectorXf positive = cases_drawn(*source, model, all, update).rowwise().mean();
    const Eigen::VectorXf negative = trainer.negative().get_layer(0).rowwise().mean();
    // Sums of 45 bits in float32.
    CHECK((trainer.gradient().biases[0] - (positive - negative).cast<double>())
              .cwiseAbs()
              .maxCoeff() < 1e-6);
  }
}

TEST_CASE("chains of drawn cases are packed as bits, those of grey levels as means") {
  const Eigen::MatrixXf levels = drawing_levels(0);
  CHECK(DrawnCases(levels, Unit::bernoulli(), {}).are_values());
  CHECK_FALSE(GivenCases(levels, Unit::bernoulli()).are_values());
  const Eigen::MatrixXf bits = levels.array().round();
  CHECK(GivenCases(bits, Unit::bernoulli()).are_values());
}
