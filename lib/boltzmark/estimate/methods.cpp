#include "boltzmark/estimate/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/both_ways.hpp"

// Adding a method: write it in lib/boltzmark/estimate/methods/, then add its line here.
#define BOLTZMARK_METHODS(X) \
  X(rts_method)              \
  X(ts_method)               \
  X(ti_riemann_method)       \
  X(ti_method)               \
  X(ti_simpson_method)       \
  X(ti_corrected_method)     \
  X(ti_continuous_method)    \
  X(ti_rb_method)            \
  X(bar_method)              \
  X(mbar_method)             \
  X(sd_method)               \
  X(rsd_method)              \
  X(rts_mixed_method)        \
  X(wang_landau_method)      \
  X(sams_method)             \
  X(ais_method)              \
  X(raise_method)            \
  X(smc_method)              \
  X(ss_method)

namespace boltzmark {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 6> kSources = {"samples",
                                                      "annealing",
                                                      "adaptive tempering",
                                                      "continuous tempering",
                                                      "parallel tempering",
                                                      "its own sampler"};

double bytes_of_samples(const MethodSettings& settings) {
  const double rungs = tempering_ladder(settings).rungs();
  return settings.chains * (kSampleBytes + kInfluenceBytes + (settings.keep_log_f ? 8 * rungs : 0));
}

double bytes_of_rungs(const MethodSettings& settings) {
  return kRungBytes * tempering_ladder(settings).rungs();
}

}  // namespace

std::string_view name(Source source) { return kSources[static_cast<std::size_t>(source)]; }

void Method::check() const {
  const auto is_of_name = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_of_name))
    throw InvalidArgument(
        fmt::format("method = {} (must have a name of letters, digits, - and _)", name));
  if (!work || !sweep_bytes)
    throw InvalidArgument(fmt::format("method = {} (must have work and sweep_bytes)", name));
  const bool tempered = source == Source::tempered;
  if (static_cast<bool>(from_run) != tempered || static_cast<bool>(run) == tempered ||
      (from_store && !tempered))
    throw InvalidArgument(
        fmt::format("method = {} (must have from_run if it reads a tempered run, else run)", name));
}

Ladder tempering_ladder(const MethodSettings& settings) {
  constexpr int kRungs = 100;
  return settings.ladder.value_or(Ladder::linear(kRungs));
}

MethodWork tempering_work(const MethodSettings& settings) {
  return settings.tempering == Tempering::parallel ? replica_work(settings)
                                                   : wandering_work(settings);
}

MethodWork wandering_work(const MethodSettings& settings) {
  return {settings.chains, settings.sweeps, tempering_ladder(settings).rungs(),
          double{1} * settings.chains * settings.sweeps};
}

ReplicaOptions replica_options(const MethodSettings& settings) {
  const Ladder ladder = tempering_ladder(settings);
  const int bundles =
      settings.bundles > 0 ? settings.bundles : std::max(1, settings.chains / ladder.rungs());
  const std::int64_t sweeps =
      std::int64_t{settings.sweeps} * settings.chains / (std::int64_t{bundles} * ladder.rungs());
  // Chains come down from b = 1 in half of the burn-in, and one bundle's error is over its sweeps.
  const std::int64_t descent = settings.top_start ? 2 : 0, kept = bundles > 1 ? 1 : 2;
  if (const std::int64_t least = std::max<std::int64_t>(2, descent + kept); sweeps < least)
    throw InvalidArgument(fmt::format(
        "sweeps = {} of {} chains (must be worth {} sweeps of a chain on each of {} rungs{})",
        settings.sweeps, settings.chains, least, ladder.rungs(),
        bundles > 1 ? fmt::format(" of {} bundles", bundles) : ""));
  const std::int64_t burn_in =
      settings.burn_in < 0 ? std::max(descent, sweeps / 5) : std::int64_t{settings.burn_in};
  if (burn_in < descent)
    throw InvalidArgument(fmt::format(
        "burn-in = {} (must be at least {} of chains that begin at b = 1)", burn_in, descent));
  if (burn_in > sweeps - kept)
    throw InvalidArgument(
        fmt::format("burn-in = {} (must leave {} of the {} sweeps that each chain of {} makes)",
                    burn_in, kept, sweeps, bundles * ladder.rungs()));
  return {.ladder = ladder,
          .bundles = bundles,
          .burn_in = burn_in,
          .sweeps = sweeps - burn_in,
          .annealed_start = settings.annealed_start,
          .top_start = settings.top_start,
          .key = settings.key,
          .top_states = settings.top_states,
          .progress = settings.progress};
}

MethodWork replica_work(const MethodSettings& settings) {
  const ReplicaOptions options = replica_options(settings);
  const int rungs = options.ladder.rungs(), chains = options.bundles * rungs;
  const auto sweeps = static_cast<int>(options.burn_in + options.sweeps);
  return {chains, sweeps, rungs, double{1} * chains * sweeps};
}

SampleStore run_replicas(const Target& target, const MethodSettings& settings) {
  return parallel_tempering_samples(target, replica_options(settings)).samples;
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
                                      .log_z_hat = settings.log_z_hat,
                                      .top_start = settings.top_start,
                                      .keep_log_f = settings.keep_log_f,
                                      .top_states = settings.top_states,
                                      .key = settings.key,
                                      .progress = settings.progress});
}

Method reader_of_runs(std::string name, std::string summary,
                      std::function<Estimate(const TemperedRun&)> from_run) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .source = Source::tempered,
          .reads = {.log_prior = true, .states = true},
          .work = tempering_work,
          .sweep_bytes = bytes_of_samples,
          .rung_bytes = bytes_of_rungs,
          .other_way = run_from_modes,
          .cell_seconds = kCellSeconds,
          .from_run = std::move(from_run)};
}

Method reader_of_stores(std::string name, std::string summary,
                        std::function<Estimate(const SampleStore&, States)> from_store) {
  std::function<Estimate(const TemperedRun&)> from_run;  // none, which is refused, of none
  if (from_store)
    from_run = [from_store](const TemperedRun& run) {
      return from_store(run.store, default_states(run.store));
    };
  Method method = reader_of_runs(std::move(name), std::move(summary), std::move(from_run));
  method.from_store = std::move(from_store);
  return method;
}

#define BOLTZMARK_DECLARE(name) Method name();
BOLTZMARK_METHODS(BOLTZMARK_DECLARE)

namespace {

void add(std::deque<Method>& methods, Method method) {
  method.check();
  for (const Method& other : methods)
    if (other.name == method.name)
      throw InvalidArgument(fmt::format("method = {} (must have a name of its own)", method.name));
  methods.push_back(std::move(method));
}

std::deque<Method>& registry() {
  static std::deque<Method> all = [] {
    std::deque<Method> built_in;
#define BOLTZMARK_ADD(name) add(built_in, name());
    BOLTZMARK_METHODS(BOLTZMARK_ADD)
    return built_in;
  }();
  return all;
}

// Joins the names of those that pass.
template <class Pass>
std::string names_of(std::string_view separator, const Pass& pass) {
  std::vector<std::string_view> names;
  for (const Method& method : registry())
    if (pass(method)) names.push_back(method.name);
  return fmt::format("{}", fmt::join(names, separator));
}

// Calls one of a method's functions, if it has that one: every estimate is made and closed here.
template <class Function, class... Arguments>
Estimate make_estimate(const Method& method, const RatioRange& range, const Function& function,
                       const Arguments&... arguments) {
  if (!function)
    throw InvalidArgument(
        fmt::format("method = {} (must be one that reads stored samples alone)", method.name));
  return closed(function(arguments...), range);
}

// Of samples that are stored, or of a run that a method may also make itself.
void need_any_tempering(const Method& method, bool stored) {
  const auto reads = [&](const Method& m) { return m.any_tempering && (m.from_store || !stored); };
  if (!method.any_tempering)
    throw InvalidArgument(fmt::format("method = {} (must be {} to read rungs that were not drawn)",
                                      method.name, names_of(" or ", reads)));
}

Estimate estimate_from_replicas(const Method& method, const SampleStore& store) {
  return make_estimate(method, range_of(store.log_ratio), method.from_store, store, States::joint);
}

}  // namespace

const std::deque<Method>& registered_methods() { return registry(); }

void register_method(Method method) { add(registry(), std::move(method)); }

const Method& find_method(std::string_view name) {
  for (const Method& method : registry())
    if (method.name == name) return method;
  throw InvalidArgument(fmt::format("method = {} (must be {})", name,
                                    names_of(", ", [](const Method&) { return true; })));
}

Estimate estimate_from(std::string_view name, const TemperedRun& run) {
  const Method& method = find_method(name);
  return make_estimate(method, range_of(run.store.log_ratio), method.from_run, run);
}

Estimate estimate_from(std::string_view name, const SampleStore& store,
                       std::optional<States> states) {
  const Method& method = find_method(name);
  if (states && method.from_store && !method.reads_log_f)
    throw InvalidArgument(fmt::format(
        "method = {} (must be {} to choose its states)", name,
        names_of(" or ", [](const Method& m) { return m.from_store && m.reads_log_f; })));
  if (method.from_store && !store.random_rungs) need_any_tempering(method, true);
  return make_estimate(method, range_of(store.log_ratio), method.from_store, store,
                       states.value_or(method.stored_states.value_or(default_states(store))));
}

void check_settings(const Method& method, const MethodSettings& settings) {
  if (settings.chains < 1 || settings.sweeps < 1 || settings.bundles < 0)
    throw InvalidArgument(
        fmt::format("chains, sweeps, bundles = {}, {}, {} (must be at least 1, 1 and 0)",
                    settings.chains, settings.sweeps, settings.bundles));
  if (method.source == Source::tempered && settings.tempering == Tempering::parallel)
    need_any_tempering(method, false);
}

Estimate estimate_log_z(std::string_view name, const Target& target,
                        const MethodSettings& settings) {
  const Method& method = find_method(name);
  check_settings(method, settings);
  Estimate estimate = !method.from_run
                          ? make_estimate(method, RatioRange{}, method.run, target, settings)
                      : settings.tempering == Tempering::parallel
                          ? estimate_from_replicas(method, run_replicas(target, settings))
                          : estimate_from(name, run_tempering(target, settings));
  if (settings.progress) settings.progress(1);  // whatever share its sampler told last
  return estimate;
}

const TemperedRun& MethodRuns::tempered() {
  if (!run_) {
    MethodSettings settings = settings_;
    settings.top_states = &tempered_top_.emplace(*target_, settings.chains, settings.key);
    run_ = run_tempering(*target_, settings);
  }
  return *run_;
}

const SampleStore& MethodRuns::replicas() {
  if (!replicas_) {
    MethodSettings settings = settings_;
    settings.top_states =
        &replicas_top_.emplace(*target_, replica_work(settings).chains, settings.key);
    replicas_ = run_replicas(*target_, settings);
  }
  return *replicas_;
}

Estimate MethodRuns::estimate(std::string_view name) {
  const Method& method = find_method(name);
  check_settings(method, settings_);
  if (method.source == Source::tempered) {
    if (settings_.tempering == Tempering::parallel) {
      const SampleStore& samples = replicas();
      last_top_ = &*replicas_top_;
      return estimate_from_replicas(method, samples);
    }
    const TemperedRun& run = tempered();
    last_top_ = &*tempered_top_;
    return estimate_from(name, run);
  }
  MethodSettings settings = settings_;
  settings.top_states = last_top_ =
      &own_top_.emplace(*target_, method.work(settings_).chains, settings.key);
  return estimate_log_z(name, *target_, settings);
}

bool tempers_collapsed(const Method& method, const MethodSettings& settings) {
  return method.source == Source::tempered && settings.tempering != Tempering::parallel &&
         settings.states == States::collapsed;
}

MethodWork method_work(std::string_view method, const MethodSettings& settings) {
  return find_method(method).work(settings);
}

namespace {

constexpr double kRung = 4 * (8 + 4);  // b in both precisions, of a few copies of a ladder
constexpr double kUnit = 4 + 4;        // state and input
constexpr double kChain = 320;         // streams and places in lists
constexpr double kLeastGroups = 64;    // of samples, by rung; a chain is one or more

}  // namespace

double method_bytes(std::string_view name, const MethodSettings& settings, const Layered& model) {
  const Method& method = find_method(name);
  const MethodWork work = method.work(settings);
  const double rungs = work.temperatures, chains = work.chains;
  const double groups = std::max<double>(chains, kLeastGroups);
  return settings.sweeps * method.sweep_bytes(settings) +
         chains * (kChain + kUnit * model.units()) +
         (method.rung_bytes ? groups * method.rung_bytes(settings) : 0) + rungs * kRung +
         8 * method.square_matrices * rungs * rungs;
}

}  // namespace boltzmark
