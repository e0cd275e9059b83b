// The methods that adapt Zhat while they temper.
#include "boltzmark/estimate/method.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"

namespace boltzmark {
namespace {

// log Zhat at the top, of each of at most 8 islands.
double bytes_of_islands(const MethodSettings&) { return 8 * 8; }

// Densities, and log weights of an island.
double bytes_of_adaptive_rungs(const MethodSettings& settings) {
  return 2 * 8 * tempering_ladder(settings).rungs();
}

template <Adaptation adaptation>
Estimate adapt(const Target& target, const MethodSettings& settings) {
  return adaptive_tempering(target, {.adaptation = adaptation,
                                     .chains = settings.chains,
                                     .sweeps = settings.sweeps,
                                     .ladder = tempering_ladder(settings),
                                     .log_prior = settings.log_prior,
                                     .key = settings.key,
                                     .progress = settings.progress,
                                     .top_states = settings.top_states})
      .estimate;
}

Method adaptive_method(const char* name, const char* summary,
                       Estimate (*run)(const Target&, const MethodSettings&)) {
  return {.name = name,
          .summary = summary,
          .source = Source::adaptive,
          .reads = {.log_prior = true},
          .run = run,
          .work = tempering_work,
          .sweep_bytes = bytes_of_islands,
          .rung_bytes = bytes_of_adaptive_rungs,
          .cell_seconds = kCellSeconds};
}

}  // namespace

Method wang_landau_method() {
  return adaptive_method("wang-landau", "Wang-Landau adaptation of Zhat",
                         adapt<Adaptation::wang_landau>);
}

Method sams_method() {
  return adaptive_method("sams", "self-adjusted mixture sampling [Tan et al. 2016]",
                         adapt<Adaptation::sams>);
}

}  // namespace boltzmark
