#include "experiments/kit/run/shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/run/plan.hpp"

namespace boltzmark::experiments {
namespace {

bool parse_whole(std::string_view text, int& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end && text.front() != '-';
}

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
  Shard shard;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || !parse_whole(text.substr(0, slash), shard.index) ||
      !parse_whole(text.substr(slash + 1), shard.count) || shard.index >= shard.count)
    throw InvalidArgument(fmt::format("--shard = {} (must be K/N, with 0 <= K < N)", text));
  return shard;
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
