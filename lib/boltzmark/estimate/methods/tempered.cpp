// The methods that temper: most read one run of simulated tempering.
#include <utility>

#include "boltzmark/estimate/estimators/bar.hpp"
#include "boltzmark/estimate/estimators/continuous_tempering.hpp"
#include "boltzmark/estimate/estimators/markov_chain.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/stepping_stones.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

template <Quadrature quadrature>
Estimate integrate(const SampleStore& store, States) {
  return thermodynamic_integration(store, Assignment::hard, {.quadrature = quadrature});
}

constexpr double kTransitionMatrices = 8;  // sums, law, what solves for it
constexpr double kPlaceBytes = 20;         // of a sample in the lists of rungs

// Reads samples of parallel tempering too.
Method of_any_tempering(Method method) {
  method.any_tempering = true;
  return method;
}

// Adds what a method makes of every sample besides its influence.
Method with_sample_bytes(Method method, double bytes) {
  method.sweep_bytes = [kept = method.sweep_bytes, bytes](const MethodSettings& settings) {
    return kept(settings) + bytes * settings.chains;
  };
  return method;
}

// The sums of collapsed states are kept although the states are not.
Estimate rts_from_run(const TemperedRun& run) {
  if (!run.store.log_f.empty()) return rts(run.store, States::collapsed);
  Estimate estimate = rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  judge_mixing(estimate, run.store);
  return estimate;
}

}  // namespace

Method rts_method() {
  Method method =
      reader_of_runs("rts", "Rao-Blackwellised tempered sampling [carlson2016]", rts_from_run);
  method.from_store = [](const SampleStore& store, States states) { return rts(store, states); };
  method.reads_log_f = true;
  return method;
}

Method ts_method() {
  return reader_of_stores("ts", "tempered sampling: counts of rungs",
                          [](const SampleStore& store, States) { return ts(store); });
}

Method ti_riemann_method() {
  return of_any_tempering(reader_of_stores("ti-riemann", "thermodynamic integration, left sum",
                                           integrate<Quadrature::left>));
}

Method ti_method() {
  return of_any_tempering(reader_of_stores("ti", "thermodynamic integration, trapezoid",
                                           integrate<Quadrature::trapezoid>));
}

Method ti_simpson_method() {
  return of_any_tempering(reader_of_stores(
      "ti-simpson", "thermodynamic integration, Simpson's rule", integrate<Quadrature::simpson>));
}

Method ti_corrected_method() {
  return of_any_tempering(reader_of_stores("ti-corrected",
                                           "trapezoid corrected by variances [Friel et al. 2014]",
                                           integrate<Quadrature::corrected>));
}

Method ti_rb_method() {
  return reader_of_stores("ti-rb", "Rao-Blackwellised thermodynamic integration [carlson2016]",
                          [](const SampleStore& store, States) {
                            return thermodynamic_integration(store, Assignment::soft);
                          });
}

Method bar_method() {
  return of_any_tempering(with_sample_bytes(
      reader_of_stores("bar", "Bennett's acceptance ratio between neighbouring rungs",
                       [](const SampleStore& store, States) { return bar(store); }),
      40));
}

Method mbar_method() {
  Method method =
      reader_of_stores("mbar", "multistate Bennett acceptance ratio",
                       [](const SampleStore& store, States) { return Estimate(mbar(store)); });
  method.cell_seconds = 5e-8;  // iterations
  method.pair_seconds = 1.5e-10;
  method.square_matrices = 28;  // of 16 blocks of samples, and of the covariance
  return of_any_tempering(with_sample_bytes(std::move(method), 50));
}

Method sd_method() {
  Method method = reader_of_stores(
      "sd", "stationary law of the counted rung transitions", [](const SampleStore& store, States) {
        return stationary_estimate(store, Transitions::counted, States::joint);
      });
  method.square_matrices = kTransitionMatrices;
  return with_sample_bytes(std::move(method), kPlaceBytes);
}

Method rsd_method() {
  Method method =
      reader_of_stores("rsd", "stationary law of Rao-Blackwellised rung transitions",
                       [](const SampleStore& store, States states) {
                         return stationary_estimate(store, Transitions::rao_blackwellised, states);
                       });
  // Rungs given joint states, whether a run kept what collapsed ones need or not: the same estimate.
  method.from_run = [](const TemperedRun& run) {
    return stationary_estimate(run.store, Transitions::rao_blackwellised, States::joint);
  };
  method.stored_states = States::joint;
  method.reads_log_f = true;
  method.square_matrices = kTransitionMatrices;
  return with_sample_bytes(std::move(method), kPlaceBytes);
}

Method rts_mixed_method() {
  Method method = reader_of_runs(
      "rts-mixed", "RTS over all stages of Zhat with enough round trips [carlson2016, App. A]",
      [](const TemperedRun& run) { return rts_mixed(run); });
  method.reads_log_f = true;
  method.square_matrices = 8;  // the Hessian, its parts and what solves it
  return method;
}

// Methods that adapt Zhat while they temper.

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
          .work = wandering_work,
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

// Thermodynamic integration over a continuous inverse temperature.

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
          .work = wandering_work,
          .sweep_bytes = bytes_of_continuous_samples,
          .rung_bytes = bytes_of_knots,
          .cell_seconds = kCellSeconds};
}

// Stepping stones, over parallel tempering unless asked otherwise.

namespace {

bool by_simulated(const MethodSettings& settings) {
  return settings.tempering == Tempering::simulated;
}

Estimate step_over_rungs(const Target& target, const MethodSettings& settings) {
  const SampleStore store = by_simulated(settings) ? run_tempering(target, settings).store
                                                   : run_replicas(target, settings);
  Estimate estimate = stepping_stones(store).joined;
  judge_exchanges(estimate, store);
  return estimate;
}

MethodWork stepping_work(const MethodSettings& settings) {
  return by_simulated(settings) ? wandering_work(settings) : replica_work(settings);
}

double bytes_of_steps(const MethodSettings& settings) { return settings.chains * kSampleBytes; }

}  // namespace

Method ss_method() {
  return {.name = "ss",
          .summary = "stepping stones both ways over parallel tempering",
          .source = Source::parallel,
          .run = step_over_rungs,
          .work = stepping_work,
          .sweep_bytes = bytes_of_steps,
          .other_way = run_from_modes,
          .any_tempering = true};
}

}  // namespace boltzmark
