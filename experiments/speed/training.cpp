#include <fmt/format.h>

#include <iterator>

#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {
namespace {

/// A trainer with the cases that it refers to.
struct Training {
  Eigen::MatrixXf cases;
  std::unique_ptr<Trainer> trainer;
};

std::shared_ptr<Training> make_training(const Size& size) {
  Stream stream(make_key(1, "speed"), Purpose::data);
  auto training = std::make_shared<Training>();
  training->cases.resize(size.visible, size.chains);
  for (float& x : training->cases.reshaped()) x = stream() & 1U ? 1.0F : 0.0F;
  training->trainer = std::make_unique<Trainer>(random_rbm(size), training->cases,
                                                TrainOptions{.learning_rate = 1e-6, .updates = 1},
                                                make_key(1, "speed"));
  return training;
}

// An update of salakhutdinov2010's DBM: five updates of mean field, CAST of 50 + 50 chains.
constexpr int kLayers[] = {784, 500, 1000}, kBatch = 100;

std::shared_ptr<Training> make_deep_training() {
  const StreamKey key = make_key(1, "speed");
  Stream stream(key, Purpose::data);
  auto training = std::make_shared<Training>();
  training->cases.resize(kLayers[0], 10 * kBatch);
  for (float& x : training->cases.reshaped()) x = stream.bernoulli(0.2) ? 1.0F : 0.0F;
  training->trainer = std::make_unique<Trainer>(
      initial_network({std::begin(kLayers), std::end(kLayers)}, 0.01, key), training->cases,
      TrainOptions{.negative = Negative::cast(20, 0.9),
                   .learning_rate = 1e-6,
                   .batch = kBatch,
                   .mean_field = {.updates = baseline::kMeanFieldUpdates}},
      key);
  return training;
}

void add_deep_training() {
  const std::string work =
      fmt::format("update of a DBM/{}, batch {}", fmt::join(kLayers, "-"), kBatch);
  for (const int threads : thread_counts())
    add({.work = work, .name = "boltzmark", .threads = threads, .make = [] {
           return [training = make_deep_training()] { training->trainer->step(); };
         }});
  add({.work = work, .name = kProductsAlone, .make = [] {
         const std::shared_ptr<baseline::Dbm> dbm(
             baseline::make_dbm(kLayers[0], kLayers[1], kLayers[2], kBatch), baseline::destroy_dbm);
         return [dbm] { baseline::update_products(*dbm); };
       }});
}

}  // namespace

void add_training() {
  add_deep_training();
  for (const auto& [size, updates] :
       {std::pair(Size{784, 500, 100}, 4), {{784, 10, 100}, 50}, {{16, 16, 100}, 200}}) {
    const std::string work =
        fmt::format("{} updates of CD-1/{}x{}, batch 100", updates, size.visible, size.hidden);
    for (const int threads : thread_counts())
      add({.work = work, .name = "boltzmark", .threads = threads, .make = [=] {
             return [=, training = make_training(size)] {
               for (int u = 0; u < updates; ++u) training->trainer->step();
             };
           }});
    add({.work = work, .name = "Eigen", .make = [=] {
           return [=, rbm = baseline_rbm(size)] {
             for (int u = 0; u < updates; ++u) baseline::contrastive_divergence(*rbm);
           };
         }});
    add_numpy(work, fmt::format("cd {} {} {} {}", size.visible, size.hidden, size.chains, updates));
  }
}

}  // namespace boltzmark::speed
