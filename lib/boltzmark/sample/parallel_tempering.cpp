#include "boltzmark/sample/parallel_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {
namespace {

// Which end of the ladder a chain visited last.
enum End : int { kNoEnd = 0, kCold = 1, kHot = 2 };

void check_options(const TemperingOptions& options, int bundles) {
  if (bundles < 1) throw InvalidArgument(fmt::format("bundles = {} (must be at least 1)", bundles));
  if (options.sweeps < 0)
    throw InvalidArgument(fmt::format("sweeps = {} (must not be negative)", options.sweeps));
  const std::vector<float>& ladder = options.inverse_temperatures;
  if (ladder.empty() || ladder.back() != 1.0F)
    throw InvalidArgument("inverse_temperatures (must end at 1)");
  // Written so that NaN fails as well.
  for (std::size_t t = 0; t < ladder.size(); ++t)
    if (!(ladder[t] >= 0) || (t > 0 && !(ladder[t] > ladder[t - 1])))
      throw InvalidArgument(
          fmt::format("inverse_temperatures[{}] = {} (must ascend within [0, 1])", t, ladder[t]));
}

std::size_t round_up(int count, int unit) {
  return static_cast<std::size_t>((count + unit - 1) / unit) * unit;
}

}  // namespace

std::vector<float> uniform_ladder(int temperatures) {
  if (temperatures < 1)
    throw InvalidArgument(fmt::format("temperatures = {} (must be at least 1)", temperatures));
  if (temperatures == 1) return {1.0F};
  std::vector<float> ladder(temperatures);
  for (int t = 0; t < temperatures; ++t)
    ladder[t] = static_cast<float>(static_cast<double>(t) / (temperatures - 1));
  return ladder;
}

double swap_probability(double b_i, double b_j, double log_ratio_i, double log_ratio_j) {
  return std::min(1.0, std::exp((b_i - b_j) * (log_ratio_j - log_ratio_i)));
}

ParallelTempering::ParallelTempering(const Layered& model, Base base, int bundles,
                                     TemperingOptions options)
    : options_((check_options(options, bundles), std::move(options))),
      base_(std::move(base)),
      bundles_(bundles),
      chains_(model, bundles * temperatures()),
      last_ends_(chains_.chains(), kNoEnd),
      accepted_(temperatures() - 1, 0) {
  log_normaliser(model, base_);  // refuses a base of other shapes
  rungs_.resize(chains_.chains());
  for (int c = 0; c < chains_.chains(); ++c) rungs_[c] = c % temperatures();
  index_rungs();
  mark_ends();
}

void ParallelTempering::step(const Layered& model, const PackedModel& packed, const Draws& draws) {
  sweep(packed, draws);
  swap(model, draws);
}

void ParallelTempering::sweep(const PackedModel& packed, const Draws& draws) {
  boltzmark::sweep(packed, chains_, draws,
                   {.rule = options_.rule,
                    .inverse_temperatures = chain_inverse_temperatures_,
                    .first_sweep = steps_ * static_cast<std::uint64_t>(options_.sweeps),
                    .sweeps = options_.sweeps});
}

void ParallelTempering::swap(const Layered& model, const Draws& draws) {
  if (temperatures() > 1) {
    const std::vector<double> log_ratios = log_ratio(model, base_, chains_);
    draw_swaps(draws);
    for (int parity : {0, 1})
      for (int bundle = 0; bundle < bundles_; ++bundle)
        for (int lower = parity; lower + 1 < temperatures(); lower += 2)
          swap_pair(bundle, lower, log_ratios);
    index_rungs();
    mark_ends();
  }
  ++steps_;
}

// One draw per pair and bundle, laid out like unit draws: unit = pair, chain = bundle.
void ParallelTempering::draw_swaps(const Draws& draws) {
  const std::size_t pairs = round_up(temperatures() - 1, 4);
  const std::size_t width = round_up(bundles_, kChainBlock);
  swap_draws_.resize(pairs * width);
  draws.fill(swap_draws_.data(), {.layer = static_cast<std::uint32_t>(Purpose::swap),
                                  .units = static_cast<std::uint32_t>(pairs),
                                  .chains = static_cast<std::uint32_t>(width),
                                  .sweep = steps_});
}

void ParallelTempering::swap_pair(int bundle, int lower, const std::vector<double>& log_ratios) {
  int& low = chain_at_[bundle * temperatures() + lower];
  int& high = chain_at_[bundle * temperatures() + lower + 1];
  const std::vector<float>& b = options_.inverse_temperatures;
  const double p =
      swap_probability(static_cast<double>(b[lower]), static_cast<double>(b[lower + 1]),
                       log_ratios[low], log_ratios[high]);
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
  const std::size_t width = round_up(bundles_, kChainBlock);
  if (swap_draws_[lower * width + bundle] >= threshold) return;
  std::swap(low, high);
  std::swap(rungs_[low], rungs_[high]);
  ++accepted_[lower];
}

void ParallelTempering::mark_ends() {
  if (temperatures() < 2) return;
  for (int c = 0; c < chains_.chains(); ++c) {
    if (rungs_[c] == temperatures() - 1) {
      round_trips_ += last_ends_[c] == kHot ? 1 : 0;
      last_ends_[c] = kCold;
    } else if (rungs_[c] == 0 && last_ends_[c] == kCold) {
      last_ends_[c] = kHot;
    }
  }
}

void ParallelTempering::index_rungs() {
  chain_at_.resize(rungs_.size());
  chain_inverse_temperatures_.resize(rungs_.size());
  for (int c = 0; c < chains_.chains(); ++c) {
    chain_at_[c / temperatures() * temperatures() + rungs_[c]] = c;
    chain_inverse_temperatures_[c] = options_.inverse_temperatures[rungs_[c]];
  }
}

void ParallelTempering::gather(int t, Chains& out) const {
  bool same = out.layers() == chains_.layers() && out.chains() >= bundles_;
  for (int l = 0; same && l < chains_.layers(); ++l)
    same = out.size(l) == chains_.size(l) && out.unit(l) == chains_.unit(l);
  if (!same || t < 0 || t >= temperatures())
    throw InvalidArgument("t, out (must be a temperature, and chains of the ladders' shape)");
  for (int bundle = 0; bundle < bundles_; ++bundle)
    out.copy_chain(bundle, chains_, chain_at(bundle, t));
}

std::vector<double> ParallelTempering::acceptance() const {
  std::vector<double> shares;
  const double proposed = static_cast<double>(steps_) * bundles_;
  for (const std::uint64_t accepted : accepted_)
    shares.push_back(proposed > 0 ? static_cast<double>(accepted) / proposed
                                  : std::numeric_limits<double>::quiet_NaN());
  return shares;
}

TemperingState ParallelTempering::state() const {
  TemperingState state{steps_, {}, rungs_, last_ends_, accepted_, round_trips_};
  for (int l = 0; l < chains_.layers(); ++l) state.states.push_back(chains_.get_layer(l));
  return state;
}

void ParallelTempering::restore(const TemperingState& state) {
  const auto chains = static_cast<std::size_t>(chains_.chains());
  bool same = static_cast<int>(state.states.size()) == chains_.layers() &&
              state.rungs.size() == chains && state.last_ends.size() == chains &&
              state.accepted.size() == accepted_.size();
  for (int l = 0; same && l < chains_.layers(); ++l)
    same = state.states[l].rows() == chains_.size(l) && state.states[l].cols() == chains_.chains();
  std::vector<bool> seen(chains, false);
  for (std::size_t c = 0; same && c < chains; ++c) {
    same = state.rungs[c] >= 0 && state.rungs[c] < temperatures();
    if (!same) break;
    const std::size_t place = c / temperatures() * temperatures() + state.rungs[c];
    same = !seen[place];
    seen[place] = true;
  }
  if (!same) throw InvalidArgument("state (must be of the same ladders)");
  for (int l = 0; l < chains_.layers(); ++l) chains_.set_layer(l, state.states[l]);
  steps_ = state.steps;
  rungs_ = state.rungs;
  last_ends_ = state.last_ends;
  accepted_ = state.accepted;
  round_trips_ = state.round_trips;
  index_rungs();
}

}  // namespace boltzmark
