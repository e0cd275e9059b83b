#include "boltzmark/sample/chains/adaptive_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

AdaptiveRuns::AdaptiveRuns(const SamplerSetup& setup, AdaptiveOptions options, int every)
    : chains_(setup, 0, std::move(options)),
      every_(every),
      ends_(static_cast<std::size_t>(chains()), chains_.rungs() - 1) {
  if (every < 1) throw InvalidArgument(fmt::format("every = {} (must be at least 1)", every));
}

void AdaptiveRuns::advance(int sweeps) {
  for (int s = 0; s < sweeps; ++s) {
    chains_.sweep();
    if (++plain_sweeps_ % static_cast<std::uint64_t>(every_) == 0) run();
  }
}

void AdaptiveRuns::run() {
  chains_.keep_tops();  // where a run starts is at b = 1
  for (int n = 0; n < every_; ++n) {
    chains_.sweep();
    chains_.move_rungs();
  }
  for (int c = 0; c < chains(); ++c) {
    ends_[static_cast<std::size_t>(c)] = chains_.rung(c);
    chains_.return_to_top(c);
  }
}

std::vector<double> AdaptiveRuns::log_weights() const {
  std::vector<double> all;
  for (int c = 0; c < chains(); ++c) {
    const std::span<const double> log_g = chains_.weights().log_g(c);
    all.insert(all.end(), log_g.begin(), log_g.end());
  }
  return all;
}

void AdaptiveRuns::save(CheckpointWriter& out) const {
  out.write(plain_sweeps_);
  out.write(ends_);
  chains_.save(out);
}

void AdaptiveRuns::restore(CheckpointReader& in) {
  plain_sweeps_ = in.read();
  in.read(ends_);
  chains_.restore(in);
}

}  // namespace boltzmark
