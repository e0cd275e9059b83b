#include <fmt/format.h>

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
  const auto packed = std::make_shared<PackedModel>(model);
  const auto chains = std::make_shared<Chains>(model, swept.size.chains);
  const auto draws = std::make_shared<PhiloxDraws>(make_key(1, "speed"));
  return [=, done = std::uint64_t{0}]() mutable {
    sweep(*packed, *chains, *draws,
          {.rule = swept.rule, .first_sweep = done, .sweeps = swept.sweeps});
    done += static_cast<std::uint64_t>(swept.sweeps);
  };
}

}  // namespace

void add_sweeps() {
  for (const auto& [size, sweeps] : {std::pair(Size{784, 500, 100}, 4),
                                     {{784, 10, 100}, 50},
                                     {{16, 16, 100}, 500},
                                     {{784, 500, 1}, 50}}) {
    const std::string work = fmt::format("{} sweeps/{}", sweeps, size.name());
    for (const int threads : thread_counts())
      add({.work = work, .name = "boltzmark", .threads = threads, .make = [=] {
             return prepare({size, Rule::gibbs(), sweeps});
           }});
    add({.work = work, .name = "boltzmark, T", .make = [=] {
           return prepare({size, Rule::flip(), sweeps});
         }});
    add({.work = work, .name = "Eigen", .make = [=] {
           return [=, rbm = baseline_rbm(size)] {
             for (int s = 0; s < sweeps; ++s) baseline::sweep(*rbm);
           };
         }});
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
