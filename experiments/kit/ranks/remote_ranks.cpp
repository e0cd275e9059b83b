#include "experiments/kit/ranks/remote_ranks.hpp"

#include "experiments/kit/progress.hpp"
#include "experiments/kit/ranks/host.hpp"

namespace boltzmark::experiments {

constexpr int kMostNotes = 1000;  // some 20 ms of answers

RemoteRanks::RemoteRanks(RankLink* link, double lease_seconds)
    : link_(link), between_beats_(lease_seconds / 5), numbers_{{host_name(), 0}}, names_{} {
  names_[0] = host_name();
}

int RemoteRanks::host(int rank) const { return numbers_.at(names_.at(rank)); }

const std::string& RemoteRanks::host_name_of(int rank) const { return names_.at(rank); }

void RemoteRanks::give(int rank, std::size_t trial, int attempt) {
  link_->send(rank, encode({.kind = RankNote::Kind::give, .number = trial, .attempt = attempt}));
}

void RemoteRanks::tell(RankNote::Kind kind) {
  if (!any() || !told_.insert(kind).second) return;
  for (int rank = 1; rank < link_->ranks(); ++rank) link_->send(rank, encode({.kind = kind}));
}

void RemoteRanks::beat() {
  if (now_seconds() - beat_at_ < between_beats_) return;
  beat_at_ = now_seconds();
  for (const auto& [rank, name] : names_)
    if (rank != 0) link_->send(rank, encode({.kind = RankNote::Kind::beat}));
}

bool RemoteRanks::hear(const std::function<void(int, RankNote&)>& take) {
  if (!any()) return false;
  beat();
  int taken = 0;
  all_heard_ = false;
  for (; taken < kMostNotes; ++taken) {
    auto said = next();
    all_heard_ = !said;
    if (all_heard_) break;
    take(said->first, said->second);
  }
  return taken > 0;
}

std::optional<std::pair<int, RankNote>> RemoteRanks::next() {
  const auto message = link_->receive();
  if (!message) return std::nullopt;
  RankNote note = decode(message->bytes);
  if (note.kind == RankNote::Kind::join) {
    numbers_.try_emplace(note.text, static_cast<int>(numbers_.size()));
    names_[message->from] = note.text;
  }
  return std::pair(message->from, std::move(note));
}

}  // namespace boltzmark::experiments
