#include "boltzmark/sample/tempering/parallel_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/log_density.hpp"

namespace boltzmark {
namespace {

void check_options(const TemperingOptions& options, int bundles) {
  at_least_one("bundles", bundles);
  if (options.sweeps < 0)
    throw InvalidArgument(fmt::format("sweeps = {} (must not be negative)", options.sweeps));
  require_ladder(options.inverse_temperatures, 1);
}

std::vector<double> in_double(const std::vector<float>& ladder) {
  return {ladder.begin(), ladder.end()};
}

// Which end of the ladder a chain visited last.
enum End : int { kNoEnd = 0, kCold = 1, kHot = 2 };

std::size_t round_up(int count, int unit) {
  return static_cast<std::size_t>((count + unit - 1) / unit) * unit;
}

}  // namespace

std::vector<float> uniform_ladder(int temperatures, double lowest) {
  at_least_one("temperatures", temperatures);
  if (!(lowest >= 0 && lowest < 1))  // NaN fails as well
    throw InvalidArgument(fmt::format("lowest = {} (must be from 0 to below 1)", lowest));
  if (temperatures == 1) return {1.0F};
  std::vector<float> ladder(temperatures);
  for (int t = 0; t < temperatures; ++t) {
    const double share = static_cast<double>(t) / (temperatures - 1);
    ladder[t] = static_cast<float>(lowest + (1 - lowest) * share);
    if (t > 0 && !(ladder[t] > ladder[t - 1]))
      throw InvalidArgument(
          fmt::format("lowest = {} (must leave room for {} temperatures in single precision)",
                      lowest, temperatures));
  }
  ladder.back() = 1.0F;
  return ladder;
}

void require_ladder(std::span<const float> inverse_temperatures, std::size_t least) {
  if (inverse_temperatures.size() < least || inverse_temperatures.back() != 1.0F)
    throw InvalidArgument(
        fmt::format("inverse_temperatures = {} values (must be at least {}, the last one 1)",
                    inverse_temperatures.size(), least));
  // Written so that NaN fails as well.
  for (std::size_t t = 0; t < inverse_temperatures.size(); ++t)
    if (const float b = inverse_temperatures[t];
        !(b >= 0) || (t > 0 && !(b > inverse_temperatures[t - 1])))
      throw InvalidArgument(
          fmt::format("inverse_temperatures[{}] = {} (must ascend within [0, 1])", t, b));
}

double swap_probability(double b_i, double b_j, double log_ratio_i, double log_ratio_j) {
  return std::min(1.0, std::exp((b_i - b_j) * (log_ratio_j - log_ratio_i)));
}

LadderSwaps::LadderSwaps(std::vector<double> inverse_temperatures, int bundles)
    : inverse_temperatures_(std::move(inverse_temperatures)),
      bundles_(at_least_one("bundles", bundles)),
      chain_rungs_(static_cast<std::size_t>(chains())),
      tally_{.last_ends = std::vector<int>(static_cast<std::size_t>(chains()), kNoEnd),
             .accepted = std::vector<std::uint64_t>(
                 static_cast<std::size_t>(at_least_one("inverse_temperatures", rungs()) - 1), 0)} {
  for (int c = 0; c < chains(); ++c) chain_rungs_[c] = c % rungs();
  index_rungs();
  mark_ends();
}

void LadderSwaps::swap(std::span<const double> log_ratios, const Draws& draws, std::uint64_t step) {
  if (static_cast<int>(log_ratios.size()) != chains())
    throw InvalidArgument(
        fmt::format("log_ratios = {} (must be {}, one a chain)", log_ratios.size(), chains()));
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
    same = !seen[place] && tally.last_ends[c] >= kNoEnd && tally.last_ends[c] <= kHot;
    seen[place] = true;
  }
  if (!same) throw InvalidArgument("state (must be of the same ladders)");
  chain_rungs_ = chain_rungs;
  tally_ = tally;
  index_rungs();
}

ParallelTempering::ParallelTempering(const Layered& model, int bundles, TemperingOptions options)
    : options_((check_options(options, bundles), std::move(options))),
      swaps_(in_double(options_.inverse_temperatures), bundles),
      chains_(model, swaps_.chains()) {}

void ParallelTempering::step(const PackedModel& packed, const Draws& draws) {
  sweep(packed, draws);
  swap_by(log_ratio(packed, chains_, even_inputs_), draws);
}

void ParallelTempering::sweep(const PackedModel& packed, const Draws& draws) {
  boltzmark::sweep(packed, chains_, draws,
                   {.rule = options_.rule,
                    .inverse_temperatures = swaps_.chain_inverse_temperatures(),
                    .first_sweep = steps_ * static_cast<std::uint64_t>(options_.sweeps),
                    .sweeps = options_.sweeps},
                   even_inputs_);
}

void ParallelTempering::swap(const PackedModel& packed, const Draws& draws) {
  swap_by(log_ratio(packed, chains_), draws);
}

void ParallelTempering::swap_by(std::span<const double> log_ratios, const Draws& draws) {
  swaps_.swap(log_ratios, draws, steps_);
  ++steps_;
}

void ParallelTempering::gather(int t, Chains& out) const {
  if (t < 0 || t >= temperatures())
    throw InvalidArgument(fmt::format("t = {} (must be 0 to {})", t, temperatures() - 1));
  for (int bundle = 0; bundle < bundles(); ++bundle)
    out.copy_chain(bundle, chains_, chain_at(bundle, t));
}

void ParallelTempering::save(CheckpointWriter& out) const {
  out.write(steps_);
  out.write(swaps_.tally().round_trips);
  save_states(chains_, out);
  out.write(swaps_.chain_rungs());
  out.write(swaps_.tally().last_ends);
  out.write(swaps_.tally().accepted);
}

void ParallelTempering::restore(CheckpointReader& in) {
  std::vector<int> rungs = swaps_.chain_rungs();
  LadderSwaps::Tally tally = swaps_.tally();
  Chains chains = chains_;
  const auto steps = in.read();
  tally.round_trips = in.read();
  restore_states(chains, in);
  in.read(rungs);
  in.read(tally.last_ends);
  in.read(tally.accepted);
  swaps_.restore(rungs, tally);
  steps_ = steps;
  chains_ = std::move(chains);
}

namespace {

class Replicas {
 public:
  Replicas(const Target& target, const ReplicaOptions& options)
      : options_(options),
        populations_(target, chains(), options.key),
        log_ratio_(Eigen::VectorXd::Zero(chains())),
        swaps_(in_double(options.ladder.singles()), options.bundles) {
    populations_.for_each(options.top_start ? options.top_start : [](Population& population, int) {
      population.draw_base();
    });
    for (int c = 0; c < chains(); ++c)
      choices_.emplace_back(options.key, Purpose::data, static_cast<std::uint64_t>(c));
  }

  ReplicaResult run() {
    ReplicaResult result{.samples = empty_store()};
    const std::int64_t steps = options_.burn_in + options_.sweeps, first = annealed_steps();
    ProgressMeter meter(options_.progress, static_cast<double>(steps));
    for (std::int64_t step = 0; step < first; ++step) {
      anneal(static_cast<float>(step + 1) / static_cast<float>(first));
      meter.add(1);
    }
    for (std::int64_t step = first; step < steps; ++step) {
      sweep(step >= options_.burn_in);
      if (step >= options_.burn_in) keep(result.samples, step - options_.burn_in);
      swaps_.swap({log_ratio_.data(), static_cast<std::size_t>(chains())},
                  PhiloxDraws(options_.key), static_cast<std::uint64_t>(step));
      meter.add(1);
    }
    const std::vector<double> shares = swaps_.acceptance(static_cast<std::uint64_t>(steps - first));
    result.acceptance = Eigen::Map<const Eigen::VectorXd>(shares.data(), rungs() - 1);
    return result;
  }

 private:
  int rungs() const { return options_.ladder.rungs(); }
  int chains() const { return options_.bundles * rungs(); }

  SampleStore empty_store() const {
    return {.ladder = options_.ladder,
            .log_prior = Eigen::VectorXd::Constant(rungs(), -std::log(rungs())),
            .log_z_hat = Eigen::VectorXd::Zero(rungs()),
            .log_ratio = Eigen::MatrixXd(options_.sweeps, chains()),
            .rung = Eigen::MatrixXi(options_.sweeps, chains()),
            .random_rungs = false,
            .exchanged_rungs = true};
  }

  std::int64_t annealed_steps() const {
    return options_.annealed_start || options_.top_start ? options_.burn_in / 2 : 0;
  }

  // Moves all chains at b of their rungs, but no farther than such a share from the end where they began.
  void anneal(float share) {
    std::vector<float> b(swaps_.chain_inverse_temperatures().begin(),
                         swaps_.chain_inverse_temperatures().end());
    for (float& x : b) x = options_.top_start ? std::max(x, 1 - share) : std::min(x, share);
    populations_.for_each([&](Population& population, int first) {
      population.move({b.data() + first, static_cast<std::size_t>(population.chains())});
    });
  }

  void sweep(bool kept) {
    populations_.for_each([&](Population& population, int first) {
      const auto size = static_cast<std::size_t>(population.chains());
      population.move({swaps_.chain_inverse_temperatures().data() + first, size});
      population.log_ratio({log_ratio_.data() + first, size});
      if (kept && options_.top_states != nullptr) offer_top_states(population, first);
    });
  }

  void offer_top_states(const Population& population, int first) {
    for (int c = 0; c < population.chains(); ++c)
      if (swaps_.chain_rungs()[first + c] + 1 == rungs())
        options_.top_states->offer(population, first, c, choices_[first + c]);
  }

  void keep(SampleStore& store, std::int64_t sweep) const {
    store.log_ratio.row(sweep) = log_ratio_;
    for (int c = 0; c < chains(); ++c) store.rung(sweep, c) = swaps_.chain_rungs()[c];
  }

  const ReplicaOptions& options_;
  Populations populations_;
  Eigen::VectorXd log_ratio_;
  LadderSwaps swaps_;
  std::vector<Stream> choices_;  // per chain, of the state at b = 1 that is kept
};

}  // namespace

void ReplicaOptions::check() const {
  at_least_one("bundles", bundles);
  if (burn_in < 0)
    throw InvalidArgument(fmt::format("burn_in = {} (must not be negative)", burn_in));
  if (top_start && burn_in < 2)
    throw InvalidArgument(
        fmt::format("burn_in = {} (must be at least 2 of chains that begin at b = 1)", burn_in));
  if (sweeps < 1) throw InvalidArgument(fmt::format("sweeps = {} (must be at least 1)", sweeps));
}

ReplicaResult parallel_tempering_samples(const Target& target, const ReplicaOptions& options) {
  options.check();
  require_chains(options.top_states, options.bundles * options.ladder.rungs());
  return Replicas(target, options).run();
}

}  // namespace boltzmark
