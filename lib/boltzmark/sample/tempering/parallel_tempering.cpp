#include "boltzmark/sample/tempering/parallel_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/sample/tempering/ladder_swaps.hpp"
#include "boltzmark/transition/log_density.hpp"

namespace boltzmark {
namespace {

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

std::vector<double> in_double(const std::vector<float>& ladder) {
  return {ladder.begin(), ladder.end()};
}

}  // namespace

std::vector<float> uniform_ladder(int temperatures, double lowest) {
  if (temperatures < 1)
    throw InvalidArgument(fmt::format("temperatures = {} (must be at least 1)", temperatures));
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
  bool same = out.layers() == chains_.layers() && out.chains() >= bundles();
  for (int l = 0; same && l < chains_.layers(); ++l)
    same = out.size(l) == chains_.size(l) && out.unit(l) == chains_.unit(l);
  if (!same || t < 0 || t >= temperatures())
    throw InvalidArgument("t, out (must be a temperature, and chains of the ladders' shape)");
  for (int bundle = 0; bundle < bundles(); ++bundle)
    out.copy_chain(bundle, chains_, chain_at(bundle, t));
}

TemperingState ParallelTempering::state() const {
  TemperingState state{steps_, {}, swaps_.chain_rungs(), swaps_.tally()};
  for (int l = 0; l < chains_.layers(); ++l) state.states.push_back(chains_.get_layer(l));
  return state;
}

void ParallelTempering::restore(const TemperingState& state) {
  bool same = static_cast<int>(state.states.size()) == chains_.layers();
  for (int l = 0; same && l < chains_.layers(); ++l)
    same = state.states[l].rows() == chains_.size(l) && state.states[l].cols() == chains_.chains();
  if (!same) throw InvalidArgument("state (must be of the same ladders)");
  swaps_.restore(state.rungs, state.tally);
  for (int l = 0; l < chains_.layers(); ++l) chains_.set_layer(l, state.states[l]);
  steps_ = state.steps;
}

namespace {

class Replicas {
 public:
  Replicas(const Target& target, const ReplicaOptions& options)
      : options_(options),
        populations_(target, chains(), options.key),
        log_ratio_(Eigen::VectorXd::Zero(chains())),
        swaps_(inverse_temperatures(options.ladder), options.bundles) {
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

  static std::vector<double> inverse_temperatures(const Ladder& ladder) {
    return {ladder.singles().begin(), ladder.singles().end()};
  }

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
  if (bundles < 1) throw InvalidArgument(fmt::format("bundles = {} (must be at least 1)", bundles));
  if (burn_in < 0)
    throw InvalidArgument(fmt::format("burn_in = {} (must not be negative)", burn_in));
  if (top_start && burn_in < 2)
    throw InvalidArgument(
        fmt::format("burn_in = {} (must be at least 2 of chains that begin at b = 1)", burn_in));
  if (sweeps < 1) throw InvalidArgument(fmt::format("sweeps = {} (must be at least 1)", sweeps));
}

ReplicaResult parallel_tempering_samples(const Target& target, const ReplicaOptions& options) {
  options.check();
  return Replicas(target, options).run();
}

}  // namespace boltzmark
