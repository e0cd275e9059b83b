// The parameters that short training runs end with, to the last bit: what a change of the trainers'
// code must keep. On the path that every CPU has, for each path has bytes of its own.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "boltzmark/core/simd.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/tempering/tracked_tempering.hpp"
#include "verification/exact/support/small_trainers.hpp"

using namespace boltzmark;

namespace {

std::uint64_t digest(const Parameters& parameters) {
  CheckpointWriter bytes;
  for (const Eigen::MatrixXd& weights : parameters.weights) bytes.write(weights);
  for (const Eigen::VectorXd& biases : parameters.biases) bytes.write(biases);
  const std::string whole = bytes.finish();  // between a magic word and a hash of 8 bytes each
  return hash_bytes(std::string_view(whole).substr(8, whole.size() - 16));
}

std::uint64_t digest(const Layered& model) {
  Parameters parameters = model.zero_parameters();
  parameters.weights = model.weights();
  for (int l = 0; l < model.layers(); ++l) parameters.biases[l] = model.bias(l);
  return digest(parameters);
}

Eigen::MatrixXf trained_cases() {
  return small_trainers::random_cases(20, 50, make_key(17, "trained bytes"));
}

Layered start() { return initial_rbm(20, 12, 0.1, make_key(5)); }

std::uint64_t train(const TrainOptions& options) {
  const Eigen::MatrixXf data = trained_cases();
  Trainer trainer(start(), data, options, make_key(1));
  for (int update = 0; update < 30; ++update) trainer.step();
  return digest(trainer.model());
}

std::uint64_t train_classes() {
  std::vector<int> labels(50);
  for (int c = 0; c < 50; ++c) labels[c] = c % 3;
  const LabelledCases cases(trained_cases(), labels, 3);
  DiscriminativeTrainer trainer(xavier_discriminative(Unit::multivalued(3), 20, 12, 3, make_key(5)),
                                cases, {.batch = 20}, make_key(1));
  for (int update = 0; update < 30; ++update) trainer.step();
  return digest(trainer.model().parameters());
}

std::uint64_t train_tracked() {
  const Eigen::MatrixXf data = trained_cases();
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
  CHECK(train({.negative = Negative::cd(2)}) == 0xc2d356b709cc78e6U);
  CHECK(train({.negative = Negative::cd(2), .rule = flip, .batch = 20}) == 0x4548ceff869c8847U);
  CHECK(train({.negative = Negative::pcd(2), .batch = 20}) == 0x0860ec368d821969U);
  CHECK(train({.negative = Negative::pcd(2), .rule = flip, .optimiser = Optimiser::adam()}) ==
        0x4db817cbf08a277cU);
  CHECK(train({.negative = Negative::pt(4, 2), .batch = 20}) == 0x8831bfe4ae34a28eU);
  CHECK(train({.negative = Negative::pt(4, 1), .rule = flip}) == 0x5f62f851bd6c34b9U);
  Negative coupled = Negative::cast(4, 0.3);
  set_negative_option(coupled, "--lag", "7");
  CHECK(train({.negative = coupled, .batch = 20}) == 0xd6c707ed372ebcfeU);
  coupled.coupling.swap = SwapRule::each;
  CHECK(train({.negative = coupled, .rule = flip}) == 0x83f80b3e56d7da9cU);
  Negative runs = Negative::st(4, 0.3);
  set_negative_option(runs, "--every", "5");
  CHECK(train({.negative = runs, .batch = 20}) == 0xc634597895725f83U);
  CHECK(train({.negative = Negative::fpcd(2), .batch = 20}) == 0x9ffa7d4a50c977c2U);
  CHECK(train({.negative = Negative::tt(4, 0.5), .rule = flip, .batch = 20}) ==
        0xb44a6b2eb3d294c1U);
  CHECK(train_classes() == 0x28afce59a70203dcU);
  CHECK(train_tracked() == 0xe2f60e96058fc87cU);
}
