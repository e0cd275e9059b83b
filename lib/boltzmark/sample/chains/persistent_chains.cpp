#include "boltzmark/sample/chains/persistent_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

PersistentChains::PersistentChains(const SamplerSetup& setup)
    : packed_(setup.model, setup.packing),
      chains_(initial_states(setup)),
      rule_(setup.rule),
      draws_(draws_of(setup)) {}

void PersistentChains::advance(int sweeps) {
  sweep(packed_, chains_, *draws_,
        {.rule = rule_, .first_sweep = set_aside(sweeps), .sweeps = sweeps});
}

std::uint64_t PersistentChains::set_aside(int sweeps) {
  const std::uint64_t first = sweeps_;
  sweeps_ += static_cast<std::uint64_t>(sweeps);
  return first;
}

void PersistentChains::save(CheckpointWriter& out) const {
  out.write(sweeps_);
  save_states(chains_, out);
}

void PersistentChains::restore(CheckpointReader& in) {
  sweeps_ = in.read();
  restore_states(chains_, in);
}

namespace {

double checked_rate(double rate) {
  if (!(rate >= 0 && std::isfinite(rate)))
    throw InvalidArgument(fmt::format("fast_rate = {} (must be finite and not negative)", rate));
  return rate;
}

double checked_decay(double decay) {
  if (!(decay >= 0 && decay <= 1))
    throw InvalidArgument(fmt::format("fast_decay = {} (must be from 0 to 1)", decay));
  return decay;
}

}  // namespace

FastWeights::FastWeights(const SamplerSetup& setup, double rate, double decay)
    : packed_(setup.model, setup.packing),
      sum_(setup.model),
      fast_(setup.model.zero_parameters()),
      chains_(setup),
      rate_(checked_rate(rate)),
      decay_(checked_decay(decay)) {}

void FastWeights::set_model(const Layered& model) {
  packed_.update(model);
  sum_ = model;
  sum_.add(fast_, 1);
  chains_.set_model(sum_);
}

void FastWeights::follow(const Parameters& gradient) { combine(decay_, fast_, rate_, gradient); }

void FastWeights::save(CheckpointWriter& out) const {
  write_parameters(fast_, out);
  chains_.save(out);
}

void FastWeights::restore(CheckpointReader& in) {
  read_parameters(fast_, in);
  chains_.restore(in);
}

PersistentLadders::PersistentLadders(const SamplerSetup& setup,
                                     std::vector<float> inverse_temperatures, int sweeps)
    : packed_(setup.model, setup.packing),
      ladders_(setup.model, setup.packing.chains,
               {.inverse_temperatures = std::move(inverse_temperatures),
                .rule = setup.rule,
                .sweeps = sweeps}),
      draws_(draws_of(setup)) {
  ladders_.chains().randomise(setup.key);
  if (setup.start == nullptr) return;
  const Chains start = initial_states(setup);
  for (int bundle = 0; bundle < ladders_.bundles(); ++bundle)
    for (int t = 0; t < ladders_.temperatures(); ++t)
      ladders_.chains().copy_chain(ladders_.chain_at(bundle, t), start, bundle);
}

void PersistentLadders::advance(int sweeps) {
  const int step = ladders_.options().sweeps;
  if (step < 1 || sweeps % step != 0)
    throw InvalidArgument(fmt::format("sweeps = {} (must be a multiple of {})", sweeps, step));
  for (int done = 0; done < sweeps; done += step) ladders_.step(packed_, *draws_);
}

void PersistentLadders::copy_states(Chains& out) const {
  ladders_.gather(ladders_.temperatures() - 1, out);
}

std::vector<int> PersistentLadders::rungs() const {
  const int rungs = ladders_.temperatures();
  std::vector<int> all;
  for (int bundle = 0; bundle < chains(); ++bundle)
    all.push_back(ladders_.chain_at(bundle, rungs - 1) % rungs);
  return all;
}

PersistentTransitions::PersistentTransitions(const SamplerSetup& setup,
                                             std::vector<float> inverse_temperatures, int every)
    : chains_(setup),
      options_{.inverse_temperatures = std::move(inverse_temperatures), .rule = setup.rule},
      draws_(draws_of(setup)),
      every_(at_least_one("every", every)) {
  options_.check();
}

void PersistentTransitions::advance(int sweeps) {
  for (int left = sweeps; left > 0;) {
    const auto since = static_cast<int>(sweeps_ % static_cast<std::uint64_t>(every_));
    const int next = std::min(left, every_ - since);
    chains_.advance(next);
    sweeps_ += static_cast<std::uint64_t>(next);
    left -= next;
    if (since + next == every_) make_transition();
  }
}

void PersistentTransitions::make_transition() {
  options_.first_sweep = chains_.set_aside(options_.sweeps());
  for (const TransitionOutcome& outcome :
       tempered_transition(chains_.packed(), chains_.states(), *draws_, options_))
    accepted_ += outcome.accepted ? 1 : 0;
}

double PersistentTransitions::chain_sweeps(int sweeps) const {
  return static_cast<double>(chains()) * sweeps *
         (1 + options_.sweeps() / static_cast<double>(every_));
}

void PersistentTransitions::save(CheckpointWriter& out) const {
  out.write(sweeps_);
  out.write(accepted_);
  chains_.save(out);
}

void PersistentTransitions::restore(CheckpointReader& in) {
  sweeps_ = in.read();
  accepted_ = in.read();
  chains_.restore(in);
}

}  // namespace boltzmark
