#include <fmt/format.h>

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

}  // namespace

void add_training() {
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
  }
}

}  // namespace boltzmark::speed
