#include "experiments/kit/run/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/ranks/equal_ranks.hpp"
#include "experiments/kit/ranks/rank_worker.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/announce.hpp"
#include "experiments/kit/run/conflicts.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "experiments/kit/run/manifest.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/runner.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

void check_options(const ReproduceOptions& options) {
  const auto check = [](const char* name, double value) {
    if (!(value >= 0))
      throw InvalidArgument(fmt::format("{} = {} (must not be negative)", name, value));
  };
  check("jobs", options.jobs);
  check("threads", options.threads);
  check("max-seconds", options.max_seconds);
  if (options.keep && options.seed != kReferenceSeed)
    throw InvalidArgument(
        fmt::format("--seed = {} with --keep (must be {}, that of the trials that are kept)",
                    options.seed, kReferenceSeed));
  if (options.keep && !options.shard.whole())
    throw InvalidArgument(
        fmt::format("--shard = {} with --keep (must be without: keep what a whole run reads)",
                    options.shard.text()));
}

std::set<std::string> input_keys(const std::vector<PlannedExperiment>& plans) {
  std::set<std::string> keys;
  for (const PlannedExperiment& plan : plans)
    for (const PlannedTrial& trial : plan.trials)
      for (const auto& [key, value] : trial.key.inputs.items()) keys.insert(key);
  return keys;
}

bool is_selected(const PlannedExperiment& plan) {
  return std::any_of(plan.trials.begin(), plan.trials.end(),
                     [](const PlannedTrial& trial) { return trial.selected; });
}

/// A shard leaves the stores alone of which it runs no trial.
void take_shard(std::vector<PlannedExperiment>& plans, const Shard& shard) {
  if (shard.whole()) return;
  select_shard(plans, shard);
  std::erase_if(plans, [](const PlannedExperiment& plan) { return !is_selected(plan); });
}

/// Lists what every rank is to know; no store is opened.
std::vector<PlannedExperiment> list_all(const ReproduceOptions& options,
                                        const std::vector<Experiment>& all, RankLink* link) {
  const CellFilter only(options.only);
  const std::vector<const Experiment*> makers = select_makers(all, options.ids);
  std::vector<std::string> sources(makers.size());
  if (link != nullptr) sources = agree_on_sources(makers, *link);
  std::vector<PlannedExperiment> plans;
  for (std::size_t i = 0; i < makers.size(); ++i)
    plans.push_back(list_trials(*makers[i], options, only, sources[i]));
  if (!options.only.empty() && std::none_of(plans.begin(), plans.end(), is_selected))
    throw InvalidArgument(
        fmt::format("--only {} (must match a trial's inputs in this profile, whose keys are {})",
                    options.only, fmt::join(input_keys(plans), ", ")));
  take_shard(plans, options.shard);
  return plans;
}

/// Tells how many lines of a store are no trials, and what becomes of these.
void tell_unreadable(const PlannedExperiment& plan, const char* outcome) {
  if (const std::size_t lines = plan.store->unreadable(); lines > 0)
    fmt::print(stderr, "{}: {} of the store cannot be read: {}\n", plan.experiment->id,
               lines == 1 ? "1 line" : fmt::format("{} lines", lines), outcome);
}

/// Tells of what stays as another run has left it.
void tell_left(const PlannedExperiment& plan) {
  if (is_left(plan))
    fmt::print(
        stderr,
        "{}: what is stored is of another build, seed or SIMD path: its tables and figures are "
        "left as they are\n",
        plan.experiment->id);
}

void count_reused(const std::vector<PlannedExperiment>& plans, ReproduceResult& result) {
  for (const PlannedExperiment& plan : plans) {
    tell_unreadable(plan, "computed again");
    for (const PlannedTrial& trial : plan.trials) {
      result.planned += trial.selected;
      result.reused += trial.selected && trial.finished;
    }
  }
}

/// Trials of a tree with changes could not be told from those of its revision, and nobody could check out one that the
/// repository does not hold.
void check_clean(const std::string& made_by, const std::string& what) {
  if (!is_clean(made_by))
    throw InvalidArgument(
        fmt::format("--keep: {} is of revision {} (must be of a clean one: commit what is changed)",
                    what, made_by));
  if (!repository_holds(made_by))
    throw InvalidArgument(fmt::format(
        "--keep: {} is of revision {} (must be of one that this repository holds: run it again)",
        what, made_by));
}

/// Refuses to keep such trials, those that the store holds from before too.
void check_keep(const std::vector<PlannedExperiment>& plans) {
  std::set<std::string> seen;
  for (const PlannedExperiment& plan : plans)
    for (const PlannedTrial& trial : plan.trials)
      if (trial.finished && !trial.finished->from_reference &&
          seen.insert(trial.finished->revision).second)
        check_clean(trial.finished->revision,
                    fmt::format("{} {}", plan.experiment->id, trial.key.inputs.dump()));
  check_clean(revision(), "this tree");
}

void keep(const std::vector<PlannedExperiment>& plans, const ReproduceOptions& options) {
  for (const PlannedExperiment& plan : plans)
    keep_in_reference(reference_path(*plan.experiment), plan.results(options.profile).trials());
}

/// Runs what a shard is to, without a report: other shards may be at work.
ReproduceResult run_shard(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                          const FolderLock& lock, RankLink* link) {
  share_manifest(options, plans);
  ReproduceResult result =
      run_trials(plans, options, {.check = [&] { lock.check(); }, .reads = options.fresh}, link);
  lock.check();
  for (const PlannedExperiment& plan : plans)
    for (std::string& conflict : keep_conflicts(plan))
      result.failures.push_back(std::move(conflict));
  return result;
}

/// Runs all, and has the report written.
ReproduceResult run_whole(std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                          ReportWriter& writer, const FolderLock& lock, RankLink* link) {
  writer.write_manifest();
  if (std::any_of(plans.begin(), plans.end(),
                  [](const PlannedExperiment& plan) { return plan.count_to_run() > 0; }))
    writer.draw_finished();
  const RunHooks hooks{.on_ended = [&](const PlannedExperiment& ended) { writer.renew(ended); },
                       .check = [&] { lock.check(); }};
  ReproduceResult result = run_trials(plans, options, hooks, link);
  lock.check();
  if (options.keep) keep(plans, options);
  if (result.interrupted && !options.quiet)
    fmt::print(stderr, "writing the report of what is finished\n");
  writer.finish(result);
  for (const PlannedExperiment* plan : writer.all_plans()) tell_left(*plan);
  return result;
}

}  // namespace

int ReproduceResult::exit_code() const {
  if (!exact_failed.empty()) return 3;
  return failures.empty() && !interrupted ? 0 : 1;
}

ReproduceResult reproduce(const ReproduceOptions& options, const std::vector<Experiment>& all,
                          const std::vector<ClaimFile>& claims, RankLink* link) {
  check_options(options);
  std::vector<PlannedExperiment> plans = list_all(options, all, link);
  const Placement placement = gather_placement(options, link);
  if (link != nullptr && work_for_rank_0(plans, options, *link)) return {};
  const FolderLock lock(options.out, options.shard,
                        {.renew_seconds = options.sign_seconds, .take_over = options.take_over});
  for (PlannedExperiment& plan : plans) look_up(plan, options);
  if (options.keep) check_keep(plans);
  ReproduceResult before;
  count_reused(plans, before);
  if (!options.quiet) announce(plans, options, placement);
  ReproduceResult result;
  if (options.shard.whole()) {
    ReportWriter writer(options, all, claims, plans);
    result = run_whole(plans, options, writer, lock, link);
  } else {
    result = run_shard(plans, options, lock, link);
  }
  result.planned = before.planned;
  result.reused = before.reused;
  result.ranks = placement.ranks;
  result.hosts = placement.hosts;
  return result;
}

ReproduceResult reproduce(const ReproduceOptions& options, RankLink* link) {
  return reproduce(options, experiments(), read_all_claims(), link);
}

ReproduceResult report(const ReportOptions& options) {
  const StoredRun stored = stored_run(manifest_path(options.out, options.profile));
  const ReproduceOptions as_run{
      .profile = options.profile, .seed = stored.seed, .simd = stored.simd, .out = options.out};
  ReproduceResult result;
  const std::vector<ClaimFile> claims = read_all_claims();
  const std::vector<PlannedExperiment> none;
  ReportWriter writer(as_run, experiments(), claims, none);
  for (const PlannedExperiment* plan : writer.all_plans())
    tell_unreadable(*plan, "left out, and computed again by `boltzmark reproduce`");
  writer.finish(result);
  for (const PlannedExperiment* plan : writer.all_plans()) tell_left(*plan);
  return result;
}

}  // namespace boltzmark::experiments
