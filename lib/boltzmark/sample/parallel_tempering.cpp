#include "boltzmark/sample/parallel_tempering.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

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

std::vector<float> uniform_ladder(int temperatures) {
  if (temperatures < 1)
    throw InvalidArgument(fmt::format("temperatures = {} (must be at least 1)", temperatures));
  if (temperatures == 1) return {1.0F};
  std::vector<float> ladder(temperatures);
  for (int t = 0; t < temperatures; ++t)
    ladder[t] = static_cast<float>(static_cast<double>(t) / (temperatures - 1));
  return ladder;
}

ParallelTempering::ParallelTempering(const Layered& model, Base base, int bundles,
                                     TemperingOptions options)
    : options_((check_options(options, bundles), std::move(options))),
      base_(std::move(base)),
      swaps_(in_double(options_.inverse_temperatures), bundles),
      chains_(model, swaps_.chains()) {
  log_normaliser(model, base_);  // refuses a base of other shapes
}

void ParallelTempering::step(const Layered& model, const PackedModel& packed, const Draws& draws) {
  sweep(packed, draws);
  swap(model, draws);
}

void ParallelTempering::sweep(const PackedModel& packed, const Draws& draws) {
  boltzmark::sweep(packed, chains_, draws,
                   {.rule = options_.rule,
                    .inverse_temperatures = swaps_.chain_inverse_temperatures(),
                    .first_sweep = steps_ * static_cast<std::uint64_t>(options_.sweeps),
                    .sweeps = options_.sweeps});
}

void ParallelTempering::swap(const Layered& model, const Draws& draws) {
  if (temperatures() > 1) swaps_.swap(log_ratio(model, base_, chains_), draws, steps_);
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

}  // namespace boltzmark
