#include "boltzmark/estimate/methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/closing.hpp"

// Adding a method: write lib/boltzmark/estimate/methods/<name>.cpp, then add its line here.
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
