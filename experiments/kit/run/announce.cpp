#include "experiments/kit/run/announce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <sstream>

#include "experiments/kit/progress.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/run/runner.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kCores = 2;  // of the machine that estimates are for

std::string counted(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string part_text(const Shard& shard, const char* before) {
  return shard.whole() ? "" : fmt::format("{} shard {}", before, shard.text());
}

double longest_seconds(const std::vector<PlannedExperiment>& plans) {
  double longest = 0;
  for (const PlannedExperiment& plan : plans)
    for (const PlannedTrial& trial : plan.trials)
      if (trial.to_run()) longest = std::max(longest, trial.seconds);
  return longest;
}

}  // namespace

Placement gather_placement(const ReproduceOptions& options, RankLink* link) {
  const Parallelism own = parallelism(options, link);
  Placement placement{.threads = own.threads, .jobs = own.jobs};
  if (link == nullptr) return placement;
  const auto texts = link->gather(fmt::format("{} {} {}", own.threads, own.jobs, host_name()));
  placement = {.ranks = link->ranks(), .hosts = 0, .threads = 0, .jobs = 0};
  std::set<std::string> hosts;
  for (const std::string& text : texts) {
    std::istringstream said(text);
    int threads = 0, jobs = 0;
    std::string host;
    said >> threads >> jobs >> host;
    placement.threads += threads;
    placement.jobs += jobs;
    hosts.insert(host);
  }
  placement.hosts = static_cast<int>(hosts.size());
  return placement;
}

std::string placement_text(const Placement& placement, double seconds, double longest) {
  const double work = kCores * seconds, longest_work = kCores * longest;
  return fmt::format(
      "{} on {}, {} at once: {}; longest trial {}: more than {} do not help",
      counted(placement.ranks, "rank", "ranks"), counted(placement.hosts, "host", "hosts"),
      counted(placement.jobs, "trial", "trials"),
      duration_text(std::max(work / placement.threads, longest_work)), duration_text(longest_work),
      counted(static_cast<int>(std::ceil(work / std::max(longest_work, 1e-9))), "core", "cores"));
}

void announce(const std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
              const Placement& placement) {
  double total = 0;
  std::size_t trials = 0;
  for (const PlannedExperiment& plan : plans) {
    const std::size_t count = plan.count_to_run();
    if (count == 0) continue;
    const double seconds = plan.seconds_to_run();
    fmt::print(stderr, "{:<30} {:>5} trials, {}\n", plan.experiment->id, count,
               duration_text(seconds));
    total += seconds;
    trials += count;
  }
  if (trials == 0) {
    fmt::print(stderr, "every trial{} is in the store\n", part_text(options.shard, " of"));
    return;
  }
  fmt::print(stderr, "{:<30} {:>5} trials, {} on 2 cores\n",
             "profile " + profile_name(options.profile) + part_text(options.shard, ","), trials,
             duration_text(total));
  if (placement.ranks > 1)
    fmt::print(stderr, "{}\n", placement_text(placement, total, longest_seconds(plans)));
}

}  // namespace boltzmark::experiments
