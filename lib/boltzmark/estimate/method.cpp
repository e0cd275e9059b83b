#include "boltzmark/estimate/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/methods.hpp"

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
  if (settings.tempering == Tempering::parallel) return replica_work(settings);
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

}  // namespace boltzmark
