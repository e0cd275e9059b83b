#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <vector>

#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/workload.hpp"

namespace boltzmark::speed {
namespace {

struct Swept {
  Size size;
  Rule rule;
  int sweeps;  ///< in one call: a call's own cost is part of no sweep
};

std::function<void()> prepare(const Swept& swept) {
  const Layered model = random_rbm(swept.size);
  const auto packed =
      std::make_shared<PackedModel>(model, Packing{.chains = swept.size.chains, .sweeps = 1000});
  const auto chains = std::make_shared<Chains>(model, swept.size.chains);
  const auto draws = std::make_shared<PhiloxDraws>(make_key(1, "speed"));
  return [=, done = std::uint64_t{0}]() mutable {
    sweep(*packed, *chains, *draws,
          {.rule = swept.rule, .first_sweep = done, .sweeps = swept.sweeps});
    done += static_cast<std::uint64_t>(swept.sweeps);
  };
}

/// Draws as many numbers as the sweeps do, and nothing else.
std::function<void()> draws_alone(const Size& size, int sweeps) {
  return [=, draws = PhiloxDraws(make_key(1, "speed")), done = std::uint64_t{0},
          out = std::vector<std::uint32_t>(8 * 16)]() mutable {
    for (int s = 0; s < sweeps; ++s, ++done)
      for (const int units : {size.hidden, size.visible})
        for (int u = 0; u < units; u += 8)
          for (int c = 0; c < size.chains; c += 16)
            draws.fill(out.data(), {.first_unit = static_cast<std::uint32_t>(u),
                                    .units = 8,
                                    .first_chain = static_cast<std::uint32_t>(c),
                                    .chains = 16,
                                    .sweep = done});
  };
}

/// Does as many multiply-adds as the sweeps' products have, from registers.
std::function<void()> products_alone(const Size& size, int sweeps) {
  const auto count = static_cast<std::int64_t>(size.multiply_adds(sweeps));
  return [=] { benchmark::DoNotOptimize(baseline::multiply_adds(count)); };
}

void add_sweep(const std::string& work, const Size& size, int sweeps, int threads) {
  add({.work = work, .name = "boltzmark", .threads = threads, .make = [=] {
         return prepare({size, Rule::gibbs(), sweeps});
       }});
}

void add_eigen(const std::string& work, const Size& size, int sweeps) {
  add({.work = work, .name = "Eigen", .make = [=] {
         return [=, rbm = baseline_rbm(size)] {
           for (int s = 0; s < sweeps; ++s) baseline::sweep(*rbm);
         };
       }});
}

}  // namespace

void add_scaling() {
  for (const int chains : {1, 4, 16, 32, 100, 400, 1600})
    for (const std::string work = fmt::format("{}/{} chains", kChainScaling, chains);
         const int threads : thread_counts())
      add_sweep(work, {784, 500, chains}, 1, threads);
  for (const int chains : {1, 4, 16, 32, 100, 400, 1600})
    add_eigen(fmt::format("{}/{} chains", kChainScaling, chains), {784, 500, chains}, 1);
  for (const int units : {16, 64, 256, 512, 1024})
    for (const std::string work = fmt::format("{}/{} units", kSizeScaling, units);
         const int threads : thread_counts())
      add_sweep(work, {units, units, 100}, 1, threads);
  for (const int units : {16, 64, 256, 512, 1024})
    add_eigen(fmt::format("{}/{} units", kSizeScaling, units), {units, units, 100}, 1);
}

void add_sweeps() {
  for (const auto& [size, sweeps] : {std::pair(Size{784, 500, 100}, 4),
                                     {{784, 10, 100}, 50},
                                     {{16, 16, 100}, 500},
                                     {{784, 500, 1}, 50}}) {
    const std::string work = fmt::format("{} sweeps/{}", sweeps, size.name());
    for (const int threads : thread_counts()) add_sweep(work, size, sweeps, threads);
    add({.work = work, .name = "boltzmark, T", .make = [=] {
           return prepare({size, Rule::flip(), sweeps});
         }});
    add({.work = work, .name = kDrawsAlone, .make = [=] { return draws_alone(size, sweeps); }});
    add({.work = work, .name = kArithmeticAlone, .make = [=] {
           return products_alone(size, sweeps);
         }});
    add_eigen(work, size, sweeps);
    add({.work = work, .name = "Eigen's products alone", .make = [=] {
           return [=, rbm = baseline_rbm(size)] {
             for (int s = 0; s < sweeps; ++s) baseline::products(*rbm);
           };
         }});
    add_numpy(work,
              fmt::format("sweep {} {} {} {}", size.visible, size.hidden, size.chains, sweeps));
  }
}

}  // namespace boltzmark::speed
