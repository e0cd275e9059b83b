#include "boltzmark/sample/annealing/annealing.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {

namespace {

constexpr int kRungs = 100;
constexpr int kSweeps = kRungs - 2;  // AIS makes none at its ends

std::shared_ptr<const LayeredTarget> make_target(const Size& size) {
  const Layered model = random_rbm(size);
  return std::make_shared<const LayeredTarget>(model, Base::uniform(model));
}

// Chains spread over the rungs of a ladder, which the estimators' costs are held against.
void sweep_alone(const LayeredTarget& target, int chains) {
  const Ladder ladder = Ladder::linear(kRungs);
  Populations populations(target, chains, make_key(1, "speed"));
  populations.for_each([&](Population& population, int first) {
    std::vector<float> betas(static_cast<std::size_t>(population.chains()));
    population.draw_base();
    for (int s = 0; s < kSweeps; ++s) {
      for (std::size_t c = 0; c < betas.size(); ++c)
        betas[c] = ladder.single((first + static_cast<int>(c) + 37 * s) % kRungs);
      population.move(betas);
    }
  });
}

SimulatedTemperingOptions tempering(const Size& size, States states) {
  return {.chains = size.chains,
          .sweeps = kSweeps,
          .ladder = Ladder::linear(kRungs),
          .states = states,
          .start = Start::base,
          .max_rounds = 0,
          .key = make_key(1, "speed")};
}

// Zhat is near Z, so that chains are at all rungs.
std::function<void()> make_rts(const Size& size, States states) {
  const auto target = make_target(size);
  SimulatedTemperingOptions options = tempering(size, states);
  options.log_z_hat =
      smc_start(*target, options.ladder, size.chains, 3 * kRungs, options.key).log_z_hat;
  return [=] {
    const TemperedRun run = simulated_tempering(*target, options);
    rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  };
}

// The same number of sweeps bare, and as estimators make them.
void add_estimators() {
  const Size size{784, 500, 100};
  const std::string work = fmt::format("{} sweeps of estimators/{}", kSweeps, size.name());
  const auto contend = [&](const std::string& name, std::function<std::function<void()>()> make) {
    add({.work = work, .name = name, .make = std::move(make)});
  };
  contend(kSweepsAlone, [=] {
    return [target = make_target(size), size] { sweep_alone(*target, size.chains); };
  });
  contend("boltzmark, AIS", [=] {
    return [target = make_target(size), size] {
      annealed_importance_sampling(*target, {.ladder = Ladder::linear(kRungs),
                                             .chains = size.chains,
                                             .sweeps = kRungs - 1,
                                             .key = make_key(1, "speed")});
    };
  });
  contend("boltzmark, RTS joint", [=] { return make_rts(size, States::joint); });
  contend("boltzmark, RTS collapsed", [=] { return make_rts(size, States::collapsed); });
}

}  // namespace

void add_annealing() {
  add_estimators();
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
