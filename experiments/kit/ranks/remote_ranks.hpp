#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "experiments/kit/ranks/rank_link.hpp"
#include "experiments/kit/ranks/rank_messages.hpp"

namespace boltzmark::experiments {

/// The other ranks, as rank 0 sees them: what it tells them, and what they have said.
class RemoteRanks {
 public:
  /// link  null: there are none
  RemoteRanks(RankLink* link, double lease_seconds);

  bool any() const { return link_ != nullptr; }
  /// Numbers a rank's host; that of rank 0 is 0.
  int host(int rank) const;
  const std::string& host_name_of(int rank) const;

  void give(int rank, std::size_t trial, int attempt);
  /// Tells all ranks something without a number, once.
  void tell(RankNote::Kind kind);
  /// Hands over what ranks have said, 1,000 notes at most: whoever hears has other things to do, and
  /// calls again. Lets ranks hear from this one.
  /// Returns  whether there was anything
  bool hear(const std::function<void(int, RankNote&)>& take);
  /// Tells whether the last call found no more to hear: only then can a rank be judged to be silent.
  bool all_heard() const { return all_heard_; }

 private:
  std::optional<std::pair<int, RankNote>> next();
  void beat();
  RankLink* link_;
  double between_beats_, beat_at_ = 0;
  bool all_heard_ = false;
  std::set<RankNote::Kind> told_;
  std::map<std::string, int> numbers_;
  std::map<int, std::string> names_;
};

}  // namespace boltzmark::experiments
