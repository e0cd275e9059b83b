#include "experiments/kit/run/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {
namespace {

/// What is dealt as one: a trial, or all trials of an experiment that measures time.
struct Share {
  double seconds = 0;
  std::vector<PlannedTrial*> trials = {};
};

std::vector<Share> list_shares(std::vector<PlannedExperiment>& plans) {
  std::vector<Share> shares;
  for (PlannedExperiment& plan : plans) {
    bool first = true;
    for (PlannedTrial& trial : plan.trials) {
      if (!trial.selected) continue;
      if (first || !plan.experiment->alone) shares.emplace_back();
      first = false;
      shares.back().seconds += trial.seconds;
      shares.back().trials.push_back(&trial);
    }
  }
  return shares;
}

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index, count); }

std::string Shard::file_name() const {
  return whole() ? "trials.jsonl" : fmt::format("trials.{}-of-{}.jsonl", index, count);
}

std::string Shard::lock_name() const {
  return whole() ? ".lock" : fmt::format(".lock.{}-of-{}", index, count);
}

Shard parse_shard(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto index = parse_number<int>(text.substr(0, slash));
  const auto count = parse_number<int>(text.substr(std::min(slash + 1, text.size())));
  if (!index || !count || *index < 0 || *index >= *count)
    throw InvalidArgument(fmt::format("--shard = {} (must be K/N, with 0 <= K < N)", text));
  return {.index = *index, .count = *count};
}

std::vector<int> deal(const std::vector<double>& sizes, int shards) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<int> dealt(sizes.size());
  const auto count = static_cast<std::size_t>(shards);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t place = i % count;
    dealt[order[i]] = static_cast<int>(i / count % 2 == 0 ? place : count - 1 - place);
  }
  return dealt;
}

void select_shard(std::vector<PlannedExperiment>& plans, const Shard& shard) {
  if (shard.whole()) return;
  const std::vector<Share> shares = list_shares(plans);
  std::vector<double> seconds;
  for (const Share& share : shares) seconds.push_back(share.seconds);
  const std::vector<int> dealt = deal(seconds, shard.count);
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (PlannedTrial* trial : shares[i].trials) trial->selected = dealt[i] == shard.index;
}

}  // namespace boltzmark::experiments
