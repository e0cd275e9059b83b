#include "boltzmark/sample/chains/adaptive_chains.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/rung_steps.hpp"
#include "boltzmark/transition/log_density.hpp"

namespace boltzmark {
namespace {

AdaptiveOptions checked_options(AdaptiveOptions options, int plain) {
  if (plain < 0) throw InvalidArgument(fmt::format("plain = {} (must not be negative)", plain));
  require_ladder(options.inverse_temperatures, 2);
  return options;
}

Packing packing_of_all(Packing packing, int plain) {
  packing.chains += plain;
  return packing;
}

}  // namespace

AdaptiveChains::AdaptiveChains(const SamplerSetup& setup, int plain, AdaptiveOptions options)
    : options_(checked_options(std::move(options), plain)),
      plain_(plain),
      packed_(setup.model, packing_of_all(setup.packing, plain)),
      rule_(setup.rule),
      draws_(setup.draws),
      states_(setup.model, plain + setup.packing.chains),
      tops_(setup.model, setup.packing.chains),
      rungs_(static_cast<std::size_t>(tempered()), rungs() - 1),
      from_bottom_(rungs_.size(), 0),
      weights_(rungs(), tempered(), options_.factor, options_.weights),
      chain_temperatures_(static_cast<std::size_t>(states_.chains()), 1.0F) {
  start(setup);
  keep_tops();
}

// A tempered chain starts where the plain one of its place does.
void AdaptiveChains::start(const SamplerSetup& setup) {
  if (setup.start == nullptr) return states_.randomise(setup.key);
  const Chains states = initial_states(setup);
  for (int c = 0; c < states_.chains(); ++c)
    states_.copy_chain(c, states, c < states.chains() ? c : c - states.chains());
}

void AdaptiveChains::sweep() {
  boltzmark::sweep(
      packed_, states_, *draws_,
      {.rule = rule_, .inverse_temperatures = chain_temperatures_, .first_sweep = sweeps_});
  ++sweeps_;
}

void AdaptiveChains::move_rungs() {
  draw_rung_steps();
  const std::vector<double> log_f = log_density(packed_, states_, plain_);
  const std::uint32_t* const proposals = step_draws_.data() + plain_ % kChainBlock;
  const std::uint32_t* const acceptances = proposals + step_draws_.size() / 4;
  for (int c = 0; c < tempered(); ++c) {
    const int from = rungs_[c], to = proposed_rung(rungs(), from, proposals[c]);
    const double p =
        rung_step_probability(options_.inverse_temperatures, weights_.log_g(c), log_f[c], from, to);
    if (acceptances[c] < static_cast<std::uint64_t>(std::llround(p * 0x1p32)))
      put_on_rung(plain_ + c, to);
  }
  weights_.update(rungs_);
  count_trips();
  keep_tops();
}

void AdaptiveChains::count_trips() {
  for (std::size_t c = 0; c < rungs_.size(); ++c) {
    if (rungs_[c] == 0) from_bottom_[c] = 1;
    if (rungs_[c] + 1 < rungs()) continue;
    round_trips_ += static_cast<std::uint64_t>(from_bottom_[c]);
    from_bottom_[c] = 0;
  }
}

// Laid out like unit draws, four units: proposal, acceptance, and two that nothing reads.
void AdaptiveChains::draw_rung_steps() {
  const int first = plain_ / kChainBlock * kChainBlock;
  const int width = states_.blocks() * kChainBlock - first;
  step_draws_.resize(4 * static_cast<std::size_t>(width));
  draws_->fill(step_draws_.data(), {.layer = static_cast<std::uint32_t>(Purpose::rung_step),
                                    .units = 4,
                                    .first_chain = static_cast<std::uint32_t>(first),
                                    .chains = static_cast<std::uint32_t>(width),
                                    .sweep = sweeps_});
}

void AdaptiveChains::exchange(int first, int second) {
  states_.exchange(first, second);
  keep_top(first);
  keep_top(second);
}

void AdaptiveChains::return_to_top(int chain) {
  states_.copy_chain(chain, tops_, chain - plain_);
  put_on_rung(chain, rungs() - 1);
  from_bottom_[chain - plain_] = 0;  // it did not come back by itself
}

void AdaptiveChains::keep_tops() {
  for (int c = plain_; c < states_.chains(); ++c) keep_top(c);
}

void AdaptiveChains::keep_top(int chain) {
  if (chain >= plain_ && rung(chain) + 1 == rungs())
    tops_.copy_chain(chain - plain_, states_, chain);
}

void AdaptiveChains::set_rung(int chain, int rung) {
  if (chain < plain_ || chain >= states_.chains() || rung < 0 || rung >= rungs())
    throw InvalidArgument(
        fmt::format("chain, rung = {}, {} (must be a tempered chain and a rung)", chain, rung));
  put_on_rung(chain, rung);
}

void AdaptiveChains::put_on_rung(int chain, int rung) {
  rungs_[chain - plain_] = rung;
  chain_temperatures_[chain] = options_.inverse_temperatures[rung];
}

void AdaptiveChains::save(CheckpointWriter& out) const {
  out.write(sweeps_);
  save_states(states_, out);
  save_states(tops_, out);
  out.write(rungs_);
  out.write(from_bottom_);
  out.write(round_trips_);
  weights_.save(out);
}

void AdaptiveChains::restore(CheckpointReader& in) {
  sweeps_ = in.read();
  restore_states(states_, in);
  restore_states(tops_, in);
  in.read(rungs_);
  in.read(from_bottom_);
  round_trips_ = in.read();
  weights_.restore(in);
  for (int c = 0; c < tempered(); ++c) set_rung(plain_ + c, rungs_[c]);
}

}  // namespace boltzmark
