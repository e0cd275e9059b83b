#include "experiments/kit/ranks/chunk_ranks.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "boltzmark/exact/enumeration/chunk_total.hpp"
#include "experiments/kit/ranks/rank_worker.hpp"
#include "experiments/kit/ranks/remote_ranks.hpp"
#include "experiments/kit/run/dispatcher.hpp"
#include "experiments/kit/run/lease_clock.hpp"
#include "experiments/kit/run/workers.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kRunSeconds = 1;
constexpr std::uint64_t kRunsOfRank = 32;     // the last ones end together within 3 %
constexpr std::uint64_t kMostRuns = 1 << 18;  // 200 bytes each in the dispatcher

std::string to_bytes(const std::vector<Scaled>& sums) {
  return {reinterpret_cast<const char*>(sums.data()), sums.size() * sizeof(Scaled)};
}

std::vector<Scaled> from_bytes(const std::string& bytes) {
  std::vector<Scaled> sums(bytes.size() / sizeof(Scaled));
  std::memcpy(sums.data(), bytes.data(), sums.size() * sizeof(Scaled));
  return sums;
}

TrialOutcome sum_run(const EnumerationChunks& chunks, std::size_t first, int count) {
  return {.kind = TrialOutcome::Kind::result,
          .trial = first,
          .text = to_bytes(chunks.sum(first, static_cast<std::uint64_t>(count)))};
}

/// Rank 0's side: runs of chunks are what the dispatcher gives out.
class ChunkDesk {
 public:
  ChunkDesk(const EnumerationChunks& chunks, RankLink& link, const ChunkSharing& sharing)
      : chunks_(chunks),
        length_(run_length(chunks.end - chunks.first, link.ranks(), sharing.seconds)),
        next_(chunks.first),
        clock_(sharing.lease_seconds, now_seconds()),
        remote_(&link, sharing.lease_seconds),
        dispatcher_(tasks(), sharing.lease_seconds),
        workers_(1, sharing.use.threads, sharing.use.threads) {}

  /// Returns how many ranks are silent at the end.
  int work() {
    take(dispatcher_.join(0, 0, 1));
    while (!dispatcher_.finished()) {
      const auto outcomes = outcomes_.take(naps_.seconds());
      for (const TrialOutcome& outcome : outcomes) note(0, outcome.trial, outcome.text);
      const bool heard = remote_.hear([this](int rank, RankNote& said) { take(rank, said); });
      naps_.note(heard || !outcomes.empty());
      take(dispatcher_.beat(0));
      if (remote_.all_heard()) take(dispatcher_.time(clock_.seconds_at(now_seconds())));
    }
    remote_.tell(RankNote::Kind::rest);
    return dispatcher_.lost();
  }

 private:
  std::vector<DispatchTask> tasks() const {
    const std::uint64_t left = chunks_.end - chunks_.first;
    return std::vector<DispatchTask>((left + length_ - 1) / length_, {.seconds = kRunSeconds});
  }
  std::uint64_t first_of(std::size_t run) const { return chunks_.first + run * length_; }
  int count_of(std::size_t run) const {
    return static_cast<int>(std::min(length_, chunks_.end - first_of(run)));
  }

  void take(int rank, const RankNote& said) {
    if (said.kind == RankNote::Kind::join)
      take(dispatcher_.join(rank, remote_.host(rank), static_cast<int>(said.number)));
    else if (said.kind == RankNote::Kind::result)
      note(rank, said.number, said.text);
    else
      take(dispatcher_.beat(rank));
  }

  void note(int rank, std::uint64_t first, const std::string& bytes) {
    const Dispatcher::Actions actions = dispatcher_.result(rank, (first - chunks_.first) / length_);
    if (actions.front().kind == DispatchAction::Kind::store) early_[first] = from_bytes(bytes);
    take_in_order();
    take(actions);
  }

  /// Sums that come early are held back: they are added in the order of chunks.
  void take_in_order() {
    for (auto it = early_.begin(); it != early_.end() && it->first == next_;) {
      next_ += it->second.size();
      chunks_.take(it->second);
      it = early_.erase(it);
    }
  }

  void take(const Dispatcher::Actions& actions) {
    for (const DispatchAction& action : actions) {
      if (action.kind != DispatchAction::Kind::give) continue;
      const std::uint64_t first = first_of(action.trial);
      const int count = count_of(action.trial);
      if (action.rank == 0)
        workers_.add([this, first, count] { outcomes_.add(sum_run(chunks_, first, count)); },
                     false);
      else
        remote_.give(action.rank, first, count);
    }
  }

  const EnumerationChunks& chunks_;
  std::uint64_t length_, next_;
  std::map<std::uint64_t, std::vector<Scaled>> early_;  ///< by their first chunk
  LeaseClock clock_;
  RemoteRanks remote_;
  Dispatcher dispatcher_;
  OutcomeQueue outcomes_;
  Naps naps_;
  Workers workers_;  // last: what its jobs use outlives it
};

}  // namespace

std::uint64_t run_length(std::uint64_t chunks, int ranks, double seconds) {
  const auto second = static_cast<std::uint64_t>(
      static_cast<double>(chunks) * std::min(1.0, kRunSeconds / std::max(seconds, 1e-9)));
  const std::uint64_t fair = chunks / (kRunsOfRank * static_cast<std::uint64_t>(ranks));
  const std::uint64_t least = (chunks + kMostRuns - 1) / kMostRuns;
  return std::max({std::uint64_t{1}, least, std::min(second, fair)});
}

ChunkDriver rank_driver(RankLink& link, const ChunkSharing& sharing, int& lost) {
  return [&link, sharing, &lost](const EnumerationChunks& chunks) {
    if (link.rank() == 0) {
      lost = ChunkDesk(chunks, link, sharing).work();
      return;
    }
    const RankService service{
        .run = [&](std::size_t first, int count) { return sum_run(chunks, first, count); }};
    serve_rank_0(link, sharing.lease_seconds, sharing.use, service);
  };
}

}  // namespace boltzmark::experiments
