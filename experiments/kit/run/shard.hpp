#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boltzmark::experiments {

struct PlannedExperiment;  // plan.hpp

/// One of several runs that share the trials of a plan: the K-th of N, or the whole plan.
struct Shard {
  int index = 0;
  int count = 0;  ///< 0: the whole plan
  bool whole() const { return count == 0; }
  std::string text() const;       ///< "7/100"
  std::string file_name() const;  ///< of its trials: "trials.7-of-100.jsonl"
  std::string lock_name() const;  ///< of its lock: ".lock.7-of-100"
};

/// Parses "K/N".  Throws  InvalidArgument unless 0 <= K < N
Shard parse_shard(std::string_view text);

/// Deals items to shards in snake order, the largest first: 0 1 2 2 1 0 0 1 .., so that shards last
/// about alike. Items of one size keep their order.
/// Returns  the shard of each item
std::vector<int> deal(const std::vector<double>& sizes, int shards);

/// Leaves selected what the shard is to run: of the selected trials those dealt to it by their
/// estimates, whatever is finished. An experiment that measures time is dealt whole.
void select_shard(std::vector<PlannedExperiment>& plans, const Shard& shard);

}  // namespace boltzmark::experiments
