#include "boltzmark/estimate/held/both_ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {
namespace {

// Sets chains to states one sweep on from modes. Blocks of chains have draws of their own, so that no state
// depends on how chains are grouped.
void put_near_modes(const LayeredTarget& target, const Modes& modes, std::span<const int> starts,
                    StreamKey key, Population& population, int first_chain) {
  for (int place = 0; place < population.chains(); place += kChainBlock) {
    const int count = std::min(kChainBlock, population.chains() - place);
    const int first = first_chain + place;
    const auto block = target.chains(first, count, key);
    const auto put = [&](const Chains& moved) {
      for (int layer = 0; layer < moved.layers(); ++layer)
        block->set_layer(layer, moved.get_layer(layer));
    };
    sweep_from_modes(target.tempered_model().model, modes, starts.subspan(first, count), 1,
                     derive_key(key, std::to_string(first)), put);
    for (int c = 0; c < count; ++c) population.copy_chain(place + c, *block, c);
  }
}

}  // namespace

double BothWays::gap_error() const { return std::hypot(forward.std_error, reverse.std_error); }

SetStates start_from_modes(const LayeredTarget& target, const Modes& modes, int chains,
                           StreamKey key) {
  // In no order: a chain's number is its rung where replicas are exchanged.
  const std::vector<int> shares = share_modes(modes, ModeShares::weighted, chains);
  Stream draws(derive_key(key, "order"), Purpose::data);
  std::vector<int> starts;
  for (const int place : permutation(chains, draws)) starts.push_back(shares[place]);
  return
      [&target, &modes, starts = std::move(starts), key](Population& population, int first_chain) {
        put_near_modes(target, modes, starts, key, population, first_chain);
      };
}

BothWays run_from_modes(const Method& method, const Estimate& told, const LayeredTarget& target,
                        const Modes& modes, MethodSettings settings) {
  settings.top_start = start_from_modes(target, modes, method.work(settings).chains,
                                        derive_key(settings.key, "modes"));
  return {told, estimate_log_z(method.name, target, settings)};
}

AnnealingResult anneal_from_modes(const LayeredTarget& target, const Modes& modes,
                                  AnnealingOptions options) {
  options.check();
  const SetStates start =
      start_from_modes(target, modes, options.chains, derive_key(options.key, "modes"));
  const std::int64_t at_top = (options.sweeps + 1) / 2;
  std::mutex telling;  // chains are at b = 1 and below it at once
  const auto part = [&, progress = options.progress](double from, double share) -> Progress {
    if (!progress) return nullptr;
    return [&telling, progress, from, share](double done) {
      const std::scoped_lock lock(telling);
      progress(from + share * done);
    };
  };
  ProgressMeter meter(part(0, 0.5), static_cast<double>(at_top) * options.chains);
  options.progress = part(0.5, 0.5);
  options.sweeps -= at_top;
  return reverse_annealing(target, options, [&](Population& population, int first_chain) {
    start(population, first_chain);
    const std::vector<float> betas(static_cast<std::size_t>(population.chains()), 1.0F);
    for (std::int64_t s = 0; s < at_top; ++s) {
      population.move(betas);
      meter.add(population.chains());
    }
  });
}

void hold_to_gap(const BothWays& ways, Estimate& estimate) {
  constexpr double kErrors = 3, kNats = 0.5;
  const auto& [forward, reverse] = ways;
  if (!std::isfinite(estimate.log_z)) return;
  if (!std::isfinite(ways.gap()) || !std::isfinite(ways.gap_error())) {
    const bool known = std::isfinite(reverse.log_z + reverse.std_error);
    return estimate.refuse(
        Status::not_converged,
        fmt::format("chains from {} find no number to hold the estimate to ({})",
                    known ? "the base" : "b = 1", name((known ? forward : reverse).status)));
  }
  for (const Estimate* way : {&forward, &reverse})
    if (estimate.status == Status::ok && way->status != Status::ok)
      estimate.warnings.push_back(fmt::format("chains {} have the status {}: the gap tells little",
                                              way == &forward ? "from the base" : "from b = 1",
                                              name(way->status)));
  if (std::abs(ways.gap()) <= kErrors * ways.gap_error()) return;
  const std::string differ = fmt::format(
      "chains from b = 1 downwards find {:.4f} +- {:.4f}, chains from the base {:.4f} +- {:.4f}: {}",
      reverse.log_z, reverse.std_error, forward.log_z, forward.std_error,
      ways.gap() > 0 ? "these never met those, or hardly" : "those never met these, or hardly");
  if (std::abs(ways.gap()) > kNats)
    estimate.refuse(Status::not_converged, differ + "; run more sweeps");
  else
    estimate.warnings.push_back(differ);
}

}  // namespace boltzmark
