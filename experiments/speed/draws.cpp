#include "boltzmark/random/draws.hpp"

#include <memory>
#include <vector>

#include "experiments/speed/contender.hpp"
#include "experiments/speed/eigen_baseline.hpp"

namespace boltzmark::speed {
namespace {
constexpr std::uint32_t kUnits = 512, kChains = 16;
}  // namespace

void add_draws() {
  const std::string work = "8192 draws/Philox4x32-10";
  add({.work = work, .name = "boltzmark", .make = [=] {
         return [out = std::vector<std::uint32_t>(kUnits * kChains),
                 draws = PhiloxDraws(make_key(1, "speed")), sweep = std::uint64_t{0}]() mutable {
           draws.fill(out.data(), {.units = kUnits, .chains = kChains, .sweep = sweep++});
         };
       }});
  add({.work = work, .name = "Random123", .make = [=] {
         return [out = std::vector<std::uint32_t>(kUnits * kChains),
                 sweep = std::uint32_t{0}]() mutable {
           baseline::scalar_draws(out.data(), static_cast<int>(out.size()), sweep++);
         };
       }});
}

}  // namespace boltzmark::speed
