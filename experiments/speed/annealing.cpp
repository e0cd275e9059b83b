#include "boltzmark/estimate/annealing.hpp"

#include <fmt/format.h>

#include "boltzmark/estimate/layered_target.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {

void add_annealing() {
  constexpr int kTemperatures = 50;
  for (const Size& size : {Size{784, 500, 100}, Size{784, 20, 100}}) {
    const std::string work = fmt::format("{} temperatures of AIS/{}", kTemperatures, size.name());
    for (const int threads : thread_counts())
      add({.work = work, .name = "boltzmark", .threads = threads, .make = [=] {
             const Layered model = random_rbm(size);
             const auto target = std::make_shared<LayeredTarget>(model, Base::uniform(model));
             return [=] {
               annealed_importance_sampling(*target, {.ladder = Ladder::linear(kTemperatures + 1),
                                                      .chains = size.chains,
                                                      .sweeps = kTemperatures,
                                                      .key = make_key(1, "speed")});
             };
           }});
    add({.work = work, .name = "Eigen", .make = [=] {
           return [rbm = baseline_rbm(size)] {
             constexpr float kStep = 1.0F / kTemperatures;
             for (int k = 0; k < kTemperatures; ++k)
               baseline::anneal(*rbm, static_cast<float>(k) * kStep, kStep);
           };
         }});
    add_numpy(work, fmt::format("anneal {} {} {} {}", size.visible, size.hidden, size.chains,
                                kTemperatures));
  }
}

}  // namespace boltzmark::speed
