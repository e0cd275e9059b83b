#include "boltzmark/estimate/method.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

std::string_view name(Source source) {
  switch (source) {
    case Source::tempered:
      return "samples";
    case Source::annealed:
      return "annealing";
    case Source::adaptive:
      return "adaptive tempering";
    case Source::continuous:
      return "continuous tempering";
    case Source::parallel:
      return "parallel tempering";
    case Source::own:
      return "its own sampler";
  }
  throw InvalidArgument("source (must be one of the enumeration)");
}

void Method::check() const {
  if (name.empty()) throw InvalidArgument("method (must have a name)");
  if (!run || !work || !sweep_bytes)
    throw InvalidArgument(fmt::format("method = {} (must have run, work and sweep_bytes)", name));
  if ((source == Source::tempered) != static_cast<bool>(from_run))
    throw InvalidArgument(fmt::format(
        "method = {} (must have from_run if it reads a tempered run, and only then)", name));
}

Ladder tempering_ladder(const MethodSettings& settings) {
  constexpr int kRungs = 100;
  return settings.ladder.value_or(Ladder::linear(kRungs));
}

MethodWork tempering_work(const MethodSettings& settings) {
  return {settings.chains, settings.sweeps, tempering_ladder(settings).rungs(),
          double{1} * settings.chains * settings.sweeps};
}

States default_states(const SampleStore& store) {
  return store.log_f.empty() ? States::joint : States::collapsed;
}

TemperedRun run_tempering(const Target& target, const MethodSettings& settings) {
  return simulated_tempering(target, {.chains = settings.chains,
                                      .sweeps = settings.sweeps,
                                      .ladder = tempering_ladder(settings),
                                      .log_prior = settings.log_prior,
                                      .states = settings.states,
                                      .keep_log_f = settings.keep_log_f,
                                      .key = settings.key,
                                      .progress = settings.progress});
}

}  // namespace boltzmark
