// The methods that read one run of simulated tempering.
#include <utility>

#include "boltzmark/estimate/estimators/bar.hpp"
#include "boltzmark/estimate/estimators/markov_chain.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/rts_mixed.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/estimate/method.hpp"
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
  Method method =
      reader_of_runs("rts-mixed", "RTS over stages with different Zhat [carlson2016, App. A]",
                     [](const TemperedRun& run) { return rts_mixed(run); });
  method.reads_log_f = true;
  method.square_matrices = 8;  // the Hessian, its parts and what solves it
  return method;
}

}  // namespace boltzmark
