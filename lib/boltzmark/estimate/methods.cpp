#include "boltzmark/estimate/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/adaptive_tempering.hpp"
#include "boltzmark/estimate/annealing.hpp"
#include "boltzmark/estimate/bar.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/continuous_tempering.hpp"
#include "boltzmark/estimate/markov_chain.hpp"
#include "boltzmark/estimate/mbar.hpp"
#include "boltzmark/estimate/mixing.hpp"
#include "boltzmark/estimate/raise.hpp"
#include "boltzmark/estimate/rts.hpp"
#include "boltzmark/estimate/rts_mixed.hpp"
#include "boltzmark/estimate/smc.hpp"
#include "boltzmark/estimate/stepping_stones.hpp"
#include "boltzmark/estimate/thermodynamic_integration.hpp"

namespace boltzmark {
namespace {

constexpr int kRungs = 100;

using FromStore = Estimate (*)(const SampleStore&, States);

Estimate integrate(const SampleStore& store, Quadrature quadrature) {
  return thermodynamic_integration(store, Assignment::hard, {.quadrature = quadrature});
}

/// A method and how it reads a store; null if it samples itself.
struct Entry {
  MethodInfo info;
  FromStore from_store = nullptr;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"rts", "Rao-Blackwellised tempered sampling [carlson2016]", Source::tempered, true},
       [](const SampleStore& s, States states) { return rts(s, states); }},
      {{"ts", "tempered sampling: counts of rungs", Source::tempered},
       [](const SampleStore& s, States) { return ts(s); }},
      {{"ti-riemann", "thermodynamic integration, left sum", Source::tempered},
       [](const SampleStore& s, States) { return integrate(s, Quadrature::left); }},
      {{"ti", "thermodynamic integration, trapezoid", Source::tempered},
       [](const SampleStore& s, States) { return integrate(s, Quadrature::trapezoid); }},
      {{"ti-simpson", "thermodynamic integration, Simpson's rule", Source::tempered},
       [](const SampleStore& s, States) { return integrate(s, Quadrature::simpson); }},
      {{"ti-corrected", "trapezoid corrected by variances [Friel et al. 2014]", Source::tempered},
       [](const SampleStore& s, States) { return integrate(s, Quadrature::corrected); }},
      {{"ti-continuous", "thermodynamic integration over a continuous inverse temperature",
        Source::continuous}},
      {{"ti-rb", "Rao-Blackwellised thermodynamic integration [carlson2016]", Source::tempered},
       [](const SampleStore& s, States) { return thermodynamic_integration(s, Assignment::soft); }},
      {{"bar", "Bennett's acceptance ratio between neighbouring rungs", Source::tempered},
       [](const SampleStore& s, States) { return bar(s); }},
      {{"mbar", "multistate Bennett acceptance ratio", Source::tempered},
       [](const SampleStore& s, States) { return Estimate(mbar(s)); }},
      {{"sd", "stationary law of the counted rung transitions", Source::tempered},
       [](const SampleStore& s, States) {
         return stationary_estimate(s, Transitions::counted, States::joint);
       }},
      {{"rsd", "stationary law of Rao-Blackwellised rung transitions", Source::tempered, true},
       [](const SampleStore& s, States states) {
         return stationary_estimate(s, Transitions::rao_blackwellised, states);
       }},
      {{"rts-mixed", "RTS over stages with different Zhat [carlson2016, App. A]", Source::tempered,
        true}},
      {{"wang-landau", "Wang-Landau adaptation of Zhat", Source::adaptive}},
      {{"sams", "self-adjusted mixture sampling [Tan et al. 2016]", Source::adaptive}},
      {{"ais", "annealed importance sampling: a lower bound in the mean", Source::annealed}},
      {{"raise", "reverse annealing (RAISE): an upper bound in the mean from exact samples",
        Source::annealed}},
      {{"smc", "annealed sequential Monte Carlo with resampling", Source::annealed}},
      {{"ss", "stepping stones both ways over parallel tempering", Source::parallel}},
  };
  return all;
}

const Entry& find_entry(std::string_view name) {
  for (const Entry& entry : entries())
    if (entry.info.name == name) return entry;
  std::vector<std::string_view> names;
  for (const Entry& entry : entries()) names.push_back(entry.info.name);
  throw InvalidArgument(fmt::format("method = {} (must be {})", name, fmt::join(names, ", ")));
}

Ladder ladder_of(const MethodSettings& settings) {
  return settings.ladder.value_or(Ladder::linear(kRungs));
}

// One rung a sweep, or the ladder asked for.
Ladder annealing_ladder(const MethodSettings& settings) {
  return settings.ladder.value_or(Ladder::linear(settings.sweeps + 1));
}

AnnealingOptions annealing_options(const MethodSettings& settings) {
  return {.ladder = annealing_ladder(settings),
          .chains = settings.chains,
          .sweeps = settings.sweeps,
          .key = settings.key,
          .progress = settings.progress};
}

// Sets a group's visible units to cases first_chain, first_chain + 1, ..; they wrap around.
void set_cases(Population& population, int first_chain, const Eigen::MatrixXf& cases) {
  Eigen::MatrixXf states(cases.rows(), population.chains());
  for (int c = 0; c < population.chains(); ++c)
    states.col(c) = cases.col((first_chain + c) % cases.cols());
  dynamic_cast<LayeredPopulation&>(population).set_layer(0, states);
}

Estimate raise_from_cases(const Target& target, const MethodSettings& settings) {
  const auto used = std::min<Eigen::Index>(settings.cases.cols(), settings.chains);
  require_states(dynamic_cast<const LayeredTarget&>(target).tempered_model().model.layer(0).unit,
                 settings.cases.leftCols(used));
  const auto start = [&](Population& population, int first_chain) {
    set_cases(population, first_chain, settings.cases);
  };
  Estimate estimate = reverse_annealing(target, annealing_options(settings), start).estimate;
  estimate.warnings.emplace_back("cases are no exact samples of the model: no bound");
  return estimate;
}

// Half of the sweeps find states at b = 1, the others anneal them.
int case_sweeps(const MethodSettings& settings) { return settings.sweeps / 2; }

MethodSettings after_cases(MethodSettings settings) {
  settings.sweeps -= case_sweeps(settings);
  settings.key = make_key((std::uint64_t{settings.key.high} << 32U) | settings.key.low, "raise");
  return settings;
}

Estimate raise_from_samples(const Target& target, const MethodSettings& settings) {
  const auto part = [&](double from, double share) {
    return [&progress = settings.progress, from, share](double done) {
      if (progress) progress(from + share * done);
    };
  };
  const double share = case_sweeps(settings) / static_cast<double>(settings.sweeps);
  AnnealingOptions annealing = annealing_options(after_cases(settings));
  annealing.progress = part(share, 1 - share);
  return raise_from_tempering(target,
                              {.chains = settings.chains,
                               .sweeps = case_sweeps(settings),
                               .ladder = ladder_of(settings),
                               .log_prior = settings.log_prior,
                               .states = settings.states,
                               .key = settings.key,
                               .progress = part(0, share)},
                              annealing);
}

Estimate adapt(const Target& target, const MethodSettings& settings, Adaptation adaptation) {
  return adaptive_tempering(target, {.adaptation = adaptation,
                                     .chains = settings.chains,
                                     .sweeps = settings.sweeps,
                                     .ladder = ladder_of(settings),
                                     .log_prior = settings.log_prior,
                                     .key = settings.key,
                                     .progress = settings.progress})
      .estimate;
}

Estimate integrate_continuously(const Target& target, const MethodSettings& settings) {
  return ti_continuous(continuous_tempering(target, {.chains = settings.chains,
                                                     .sweeps = settings.sweeps,
                                                     .knots = ladder_of(settings),
                                                     .key = settings.key,
                                                     .progress = settings.progress}));
}

// Whole ladders, and the sweeps that make the same moves as the settings' chains; a fifth of them
// is burn-in.
ReplicaOptions replica_options(const MethodSettings& settings) {
  const Ladder ladder = ladder_of(settings);
  const int bundles = std::max(1, settings.chains / ladder.rungs());
  const std::int64_t sweeps =
      std::int64_t{settings.sweeps} * settings.chains / (std::int64_t{bundles} * ladder.rungs());
  if (sweeps < 2)
    throw InvalidArgument(fmt::format(
        "sweeps = {} of {} chains (must be worth 2 sweeps of a chain on each of {} rungs)",
        settings.sweeps, settings.chains, ladder.rungs()));
  return {.ladder = ladder,
          .bundles = bundles,
          .burn_in = sweeps / 5,
          .sweeps = sweeps - sweeps / 5,
          .key = settings.key,
          .progress = settings.progress};
}

Estimate step_over_replicas(const Target& target, const MethodSettings& settings) {
  const ReplicaResult run = parallel_tempering_samples(target, replica_options(settings));
  Estimate estimate = stepping_stones(run.samples).joined;
  judge_round_trips(estimate, round_trips(run.samples), run.samples.chains());
  return estimate;
}

MethodWork parallel_work(const MethodSettings& settings) {
  const ReplicaOptions options = replica_options(settings);
  const int rungs = options.ladder.rungs(), chains = options.bundles * rungs;
  const auto sweeps = static_cast<int>(options.burn_in + options.sweeps);
  return {chains, sweeps, rungs, double{1} * chains * sweeps};
}

// Makes no ladder: a method's memory is known before there is any.
MethodWork annealed_work(std::string_view method, const MethodSettings& settings) {
  const bool samples = method == "raise" && settings.cases.size() == 0;
  const int annealed = settings.sweeps - (samples ? case_sweeps(settings) : 0);
  const int steps = settings.ladder ? settings.ladder->rungs() - 1 : annealed;
  // No weight depends on AIS's sweeps of the highest rung.
  const std::int64_t spared = method == "ais" ? sweeps_at_rung(steps, steps, annealed) : 0;
  return {settings.chains, settings.sweeps, steps + 1,
          double{1} * settings.chains * static_cast<double>(settings.sweeps - spared)};
}

Estimate from_samples(std::string_view method, const SampleStore& store,
                      std::optional<States> states) {
  const Entry& entry = find_entry(method);
  if (entry.from_store == nullptr)
    throw InvalidArgument(
        fmt::format("method = {} (must be one that reads stored samples alone)", method));
  if (states && !entry.info.reads_log_f)
    throw InvalidArgument(
        fmt::format("method = {} (must be rts or rsd to choose its states)", method));
  return entry.from_store(store,
                          states.value_or(store.log_f.empty() ? States::joint : States::collapsed));
}

Estimate from_run(std::string_view method, const TemperedRun& run) {
  if (method == "rts-mixed") return rts_mixed(run);
  if (method != "rts" || !run.store.log_f.empty())
    return from_samples(method, run.store, std::nullopt);
  // The sums of collapsed states are kept although the states are not.
  Estimate estimate = rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  judge_mixing(estimate, run.store);
  return estimate;
}

Estimate from_sampling(std::string_view method, const Target& target,
                       const MethodSettings& settings) {
  if (find_method(method).source == Source::tempered)
    return estimate_from(method, run_tempering(target, settings));
  if (method == "ais")
    return annealed_importance_sampling(target, annealing_options(settings)).estimate;
  if (method == "raise")
    return settings.cases.size() > 0 ? raise_from_cases(target, settings)
                                     : raise_from_samples(target, settings);
  if (method == "smc")
    return annealed_smc(target, {.annealing = annealing_options(settings)}).estimate;
  if (method == "ss") return step_over_replicas(target, settings);
  if (method == "ti-continuous") return integrate_continuously(target, settings);
  return adapt(target, settings, method == "sams" ? Adaptation::sams : Adaptation::wang_landau);
}

}  // namespace

const std::vector<MethodInfo>& registered_methods() {
  static const std::vector<MethodInfo> all = [] {
    std::vector<MethodInfo> infos;
    for (const Entry& entry : entries()) infos.push_back(entry.info);
    return infos;
  }();
  return all;
}

const MethodInfo& find_method(std::string_view name) { return find_entry(name).info; }

TemperedRun run_tempering(const Target& target, const MethodSettings& settings) {
  return simulated_tempering(target, {.chains = settings.chains,
                                      .sweeps = settings.sweeps,
                                      .ladder = ladder_of(settings),
                                      .log_prior = settings.log_prior,
                                      .states = settings.states,
                                      .keep_log_f = settings.keep_log_f,
                                      .key = settings.key,
                                      .progress = settings.progress});
}

Estimate estimate_from(std::string_view method, const TemperedRun& run) {
  Estimate estimate = from_run(method, run);
  return closed(std::move(estimate), range_of(run.store.log_ratio));
}

Estimate estimate_from(std::string_view method, const SampleStore& store,
                       std::optional<States> states) {
  Estimate estimate = from_samples(method, store, states);
  return closed(std::move(estimate), range_of(store.log_ratio));
}

Estimate estimate_log_z(std::string_view method, const Target& target,
                        const MethodSettings& settings) {
  return closed(from_sampling(method, target, settings));
}

const TemperedRun& MethodRuns::tempered() {
  if (!run_) run_ = run_tempering(*target_, settings_);
  return *run_;
}

Estimate MethodRuns::estimate(std::string_view method) {
  return find_method(method).source == Source::tempered
             ? estimate_from(method, tempered())
             : estimate_log_z(method, *target_, settings_);
}

MethodWork method_work(std::string_view method, const MethodSettings& settings) {
  const Source source = find_method(method).source;
  if (source == Source::annealed) return annealed_work(method, settings);
  if (source == Source::parallel) return parallel_work(settings);
  return {settings.chains, settings.sweeps, ladder_of(settings).rungs(),
          double{1} * settings.chains * settings.sweeps};
}

}  // namespace boltzmark
