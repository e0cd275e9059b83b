#include "boltzmark/sample/tempering/ladder_swaps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {
namespace {

// Which end of the ladder a chain visited last.
enum End : int { kNoEnd = 0, kCold = 1, kHot = 2 };

std::size_t round_up(int count, int unit) {
  return static_cast<std::size_t>((count + unit - 1) / unit) * unit;
}

}  // namespace

double swap_probability(double b_i, double b_j, double log_ratio_i, double log_ratio_j) {
  return std::min(1.0, std::exp((b_i - b_j) * (log_ratio_j - log_ratio_i)));
}

LadderSwaps::LadderSwaps(std::vector<double> inverse_temperatures, int bundles)
    : inverse_temperatures_(std::move(inverse_temperatures)),
      bundles_(bundles),
      chain_rungs_(static_cast<std::size_t>(chains())),
      tally_{.last_ends = std::vector<int>(static_cast<std::size_t>(chains()), kNoEnd),
             .accepted = std::vector<std::uint64_t>(static_cast<std::size_t>(rungs() - 1), 0)} {
  for (int c = 0; c < chains(); ++c) chain_rungs_[c] = c % rungs();
  index_rungs();
  mark_ends();
}

void LadderSwaps::swap(std::span<const double> log_ratios, const Draws& draws, std::uint64_t step) {
  if (rungs() < 2) return;
  draw_swaps(draws, step);
  for (const int parity : {0, 1})
    for (int bundle = 0; bundle < bundles_; ++bundle)
      for (int lower = parity; lower + 1 < rungs(); lower += 2)
        swap_pair(bundle, lower, log_ratios);
  index_rungs();
  mark_ends();
}

// One draw per pair and bundle, laid out like unit draws: unit = pair, chain = bundle.
void LadderSwaps::draw_swaps(const Draws& draws, std::uint64_t step) {
  const std::size_t pairs = round_up(rungs() - 1, 4);
  const std::size_t width = round_up(bundles_, kChainBlock);
  swap_draws_.resize(pairs * width);
  draws.fill(swap_draws_.data(), {.layer = static_cast<std::uint32_t>(Purpose::swap),
                                  .units = static_cast<std::uint32_t>(pairs),
                                  .chains = static_cast<std::uint32_t>(width),
                                  .sweep = step});
}

void LadderSwaps::swap_pair(int bundle, int lower, std::span<const double> log_ratios) {
  int& low = chain_at_[bundle * rungs() + lower];
  int& high = chain_at_[bundle * rungs() + lower + 1];
  const double p = swap_probability(inverse_temperatures_[lower], inverse_temperatures_[lower + 1],
                                    log_ratios[low], log_ratios[high]);
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  if (swap_draws_[lower * round_up(bundles_, kChainBlock) + bundle] >= threshold) return;
  std::swap(low, high);
  std::swap(chain_rungs_[low], chain_rungs_[high]);
  ++tally_.accepted[lower];
}

void LadderSwaps::mark_ends() {
  if (rungs() < 2) return;
  for (int c = 0; c < chains(); ++c) {
    int& last_end = tally_.last_ends[c];
    if (chain_rungs_[c] == rungs() - 1) {
      tally_.round_trips += last_end == kHot ? 1 : 0;
      last_end = kCold;
    } else if (chain_rungs_[c] == 0 && last_end == kCold) {
      last_end = kHot;
    }
  }
}

void LadderSwaps::index_rungs() {
  chain_at_.resize(chain_rungs_.size());
  chain_inverse_temperatures_.resize(chain_rungs_.size());
  for (int c = 0; c < chains(); ++c) {
    chain_at_[c / rungs() * rungs() + chain_rungs_[c]] = c;
    chain_inverse_temperatures_[c] = static_cast<float>(inverse_temperatures_[chain_rungs_[c]]);
  }
}

std::vector<double> LadderSwaps::acceptance(std::uint64_t steps) const {
  std::vector<double> shares;
  const double proposed = static_cast<double>(steps) * bundles_;
  for (const std::uint64_t accepted : tally_.accepted)
    shares.push_back(proposed > 0 ? static_cast<double>(accepted) / proposed
                                  : std::numeric_limits<double>::quiet_NaN());
  return shares;
}

void LadderSwaps::restore(const std::vector<int>& chain_rungs, const Tally& tally) {
  bool same = chain_rungs.size() == chain_rungs_.size() &&
              tally.last_ends.size() == chain_rungs.size() &&
              tally.accepted.size() == tally_.accepted.size();
  std::vector<bool> seen(chain_rungs_.size(), false);
  for (int c = 0; same && c < chains(); ++c) {
    same = chain_rungs[c] >= 0 && chain_rungs[c] < rungs();
    if (!same) break;
    const int place = c / rungs() * rungs() + chain_rungs[c];
    same = !seen[place];
    seen[place] = true;
  }
  if (!same) throw InvalidArgument("state (must be of the same ladders)");
  chain_rungs_ = chain_rungs;
  tally_ = tally;
  index_rungs();
}

}  // namespace boltzmark
