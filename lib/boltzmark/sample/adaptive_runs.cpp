#include "boltzmark/sample/adaptive_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

AdaptiveRuns::AdaptiveRuns(const SamplerSetup& setup, AdaptiveOptions options, int every)
    : chains_(setup, 0, std::move(options)), every_(every) {
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
  for (int c = 0; c < chains(); ++c) chains_.return_to_top(c);
}

void AdaptiveRuns::save(CheckpointWriter& out) const {
  out.write(plain_sweeps_);
  chains_.save(out);
}

void AdaptiveRuns::restore(CheckpointReader& in) {
  plain_sweeps_ = in.read();
  chains_.restore(in);
}

}  // namespace boltzmark
