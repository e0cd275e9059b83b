#include "boltzmark/sample/chains/persistent_transitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

int checked_period(int every) {
  if (every < 1) throw InvalidArgument(fmt::format("every = {} (must be at least 1)", every));
  return every;
}

}  // namespace

PersistentTransitions::PersistentTransitions(const SamplerSetup& setup,
                                             std::vector<float> inverse_temperatures, int every)
    : chains_(setup),
      options_{.inverse_temperatures = std::move(inverse_temperatures), .rule = setup.rule},
      draws_(setup.draws),
      every_(checked_period(every)) {
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
  return static_cast<double>(chains()) * sweeps * (1 + options_.sweeps() / static_cast<double>(every_));
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
