// The parameters that short training runs end with, to the last bit: what a change of the trainers'
// code must keep. On the path that every CPU has, for each path has bytes of its own.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "boltzmark/core/simd.hpp"
#include "boltzmark/learn/discriminative_trainer.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/tempering/tracked_tempering.hpp"

using namespace boltzmark;

namespace {

std::uint64_t digest(const Parameters& parameters) {
  CheckpointWriter bytes;
  for (const Eigen::MatrixXd& weights : parameters.weights) bytes.write(weights);
  for (const Eigen::VectorXd& biases : parameters.biases) bytes.write(biases);
  return hash_bytes(bytes.finish());
}

std::uint64_t digest(const Layered& model) {
  Parameters parameters = model.zero_parameters();
  parameters.weights = model.weights();
  for (int l = 0; l < model.layers(); ++l) parameters.biases[l] = model.bias(l);
  return digest(parameters);
}

Eigen::MatrixXf trained_cases(int units, int cases) {
  Eigen::MatrixXf values(units, cases);
  Stream stream(make_key(17, "trained bytes"), Purpose::test);
  for (float& value : values.reshaped()) value = stream.uniform() < 0.3 ? 1.0F : 0.0F;
  return values;
}

Layered start() { return initial_rbm(20, 12, 0.1, make_key(5)); }

std::uint64_t train(const TrainOptions& options) {
  const Eigen::MatrixXf data = trained_cases(20, 50);
  Trainer trainer(start(), data, options, make_key(1));
  for (int update = 0; update < 30; ++update) trainer.step();
  return digest(trainer.model());
}

std::uint64_t train_classes() {
  std::vector<int> labels(50);
  for (int c = 0; c < 50; ++c) labels[c] = c % 3;
  const LabelledCases cases(trained_cases(20, 50), labels, 3);
  DiscriminativeTrainer trainer(xavier_discriminative(Unit::multivalued(3), 20, 12, 3, make_key(5)),
                                cases, {.batch = 20}, make_key(1));
  for (int update = 0; update < 30; ++update) trainer.step();
  return digest(trainer.model().parameters());
}

std::uint64_t train_tracked() {
  const Eigen::MatrixXf data = trained_cases(20, 50);
  const Layered model = start();
  const auto tempered =
      std::make_shared<const TemperedModel>(model, Base::from_data(model, data, 5));
  auto sampler = std::make_unique<TrackedTempering>(
      tempered, TrackingOptions{.chains = 37, .ladder = Ladder::linear(6), .key = make_key(1)},
      Eigen::VectorXd::LinSpaced(6, 0, 1), 5);
  Trainer trainer(
      model, data,
      {.negative = {.sweeps = 3}, .optimiser = Optimiser::rms_spectral(), .learning_rate = 1e-3},
      {}, std::move(sampler));
  trainer.advance(30);
  return digest(trainer.model());
}

}  // namespace

TEST_CASE("trained parameters keep their bytes, whatever the negative phase") {
  const ForcedSimdPath first(simd_paths().back());
  const Rule flip = Rule::flip();
  CHECK(train({.negative = Negative::cd(2)}) == 0x207b2155dc595381U);
  CHECK(train({.negative = Negative::cd(2), .rule = flip, .batch = 20}) == 0xabd231dfd15e59f5U);
  CHECK(train({.negative = Negative::pcd(2), .batch = 20}) == 0xe56cb2b73455ecb2U);
  CHECK(train({.negative = Negative::pcd(2), .rule = flip, .optimiser = Optimiser::adam()}) ==
        0x3ed009fb22f854c0U);
  CHECK(train({.negative = Negative::pt(4, 2), .batch = 20}) == 0x57d0e9f6987b4d16U);
  CHECK(train({.negative = Negative::pt(4, 1), .rule = flip}) == 0x7d579c4cc1764403U);
  Negative coupled = Negative::cast(4, 0.3);
  set_negative_option(coupled, "--lag", "7");
  CHECK(train({.negative = coupled, .batch = 20}) == 0x8a53e434425583c0U);
  coupled.coupling.swap = SwapRule::each;
  CHECK(train({.negative = coupled, .rule = flip}) == 0xa87e5cee4695fd83U);
  Negative runs = Negative::st(4, 0.3);
  set_negative_option(runs, "--every", "5");
  CHECK(train({.negative = runs, .batch = 20}) == 0x3d50c99485b66c81U);
  CHECK(train({.negative = Negative::fpcd(2), .batch = 20}) == 0x049b6d6231a55939U);
  CHECK(train({.negative = Negative::tt(4, 0.5), .rule = flip, .batch = 20}) ==
        0x107b7c781f4493dbU);
  CHECK(train_classes() == 0x57dd524f274e1c5aU);
  CHECK(train_tracked() == 0xdb65aa67557810caU);
}
