// Thermodynamic integration over a continuous inverse temperature.
#include "boltzmark/estimate/estimators/continuous_tempering.hpp"
#include "boltzmark/estimate/method.hpp"

namespace boltzmark {
namespace {

Estimate integrate_continuously(const Target& target, const MethodSettings& settings) {
  return ti_continuous(continuous_tempering(target, {.chains = settings.chains,
                                                     .sweeps = settings.sweeps,
                                                     .knots = tempering_ladder(settings),
                                                     .key = settings.key,
                                                     .progress = settings.progress,
                                                     .top_states = settings.top_states}));
}

// Half of the sweeps keep a store, half D, b, its density and interval.
double bytes_of_continuous_samples(const MethodSettings& settings) {
  return settings.chains * (kSampleBytes + 8 + 8 + 4 + 8 + kInfluenceBytes) / 2;
}

// Intervals of the knots are divided until none is wider than a 99th.
double bytes_of_knots(const MethodSettings& settings) {
  return kRungBytes * (tempering_ladder(settings).rungs() + 99);
}

}  // namespace

Method ti_continuous_method() {
  return {.name = "ti-continuous",
          .summary = "thermodynamic integration over a continuous inverse temperature",
          .source = Source::continuous,
          .run = integrate_continuously,
          .work = tempering_work,
          .sweep_bytes = bytes_of_continuous_samples,
          .rung_bytes = bytes_of_knots,
          .cell_seconds = kCellSeconds};
}

}  // namespace boltzmark
