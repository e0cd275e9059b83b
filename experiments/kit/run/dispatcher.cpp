#include "experiments/kit/run/dispatcher.hpp"

#include <algorithm>
#include <utility>

namespace boltzmark::experiments {

using Kind = DispatchAction::Kind;

Dispatcher::Dispatcher(std::vector<DispatchTask> tasks, double lease_seconds)
    : lease_(lease_seconds) {
  trials_.reserve(tasks.size());
  for (const DispatchTask& task : tasks) {
    const std::size_t trial = trials_.size();
    trials_.push_back({.task = task});
    if (task.alone >= static_cast<int>(groups_.size())) groups_.resize(task.alone + 1);
    if (task.alone >= 0) groups_[task.alone].seconds += task.seconds;
    queue(trial).insert(place(trial));
  }
  for (std::size_t group = 0; group < groups_.size(); ++group) renew_group(static_cast<int>(group));
}

Dispatcher::Actions Dispatcher::join(int rank, int host, int slots) {
  if (rank >= static_cast<int>(ranks_.size())) ranks_.resize(rank + 1);
  if (host >= static_cast<int>(hosts_.size())) hosts_.resize(host + 1);
  ranks_[rank].host = host;
  ranks_[rank].slots = slots;
  ++lost_;  // until it is heard, which it is now
  hear(rank);
  return pumped();
}

Dispatcher::Actions Dispatcher::result(int rank, std::size_t trial) {
  return pumped({{.kind = outcome(rank, trial, Kind::store), .rank = rank, .trial = trial}});
}

Dispatcher::Actions Dispatcher::failure(int rank, std::size_t trial) {
  return pumped({{.kind = outcome(rank, trial, Kind::fail), .rank = rank, .trial = trial}});
}

Dispatcher::Actions Dispatcher::abandoned(int rank, std::size_t trial) {
  hear(rank);
  ranks_[rank].slots = 0;
  hosts_[ranks_[rank].host].ranks.erase(rank);
  release(rank, trial);
  renew_rank(rank);
  if (trials_[trial].state == State::given && !has_heard_rank(trials_[trial])) return_trial(trial);
  return pumped();
}

Dispatcher::Actions Dispatcher::beat(int rank) {
  hear(rank);
  return pumped();
}

Dispatcher::Actions Dispatcher::time(double now) {
  now_ = now;
  Actions actions;
  while (!beats_.empty() && beats_.begin()->first + lease_ < now_) {
    const int rank = beats_.begin()->second;
    lose(rank);
    actions.push_back({.kind = Kind::lost, .rank = rank});
  }
  return pumped(std::move(actions));
}

Dispatcher::Actions Dispatcher::stop() {
  stopped_ = true;
  return {};
}

bool Dispatcher::finished() const {
  return ended_ == trials_.size() || (stopped_ && running_ == 0);
}

// ---- trials

Dispatcher::Place Dispatcher::place(std::size_t trial) const {
  return {trials_[trial].attempts == 0, -trials_[trial].task.seconds, trial};
}

std::set<Dispatcher::Place>& Dispatcher::queue(std::size_t trial) {
  const int group = trials_[trial].task.alone;
  return group < 0 ? waiting_ : groups_[group].waiting;
}

bool Dispatcher::has_heard_rank(const Trial& trial) const {
  return std::any_of(trial.ranks.begin(), trial.ranks.end(),
                     [&](int rank) { return ranks_[rank].heard; });
}

void Dispatcher::return_trial(std::size_t trial) {
  due_.erase({trials_[trial].due, trial});
  trials_[trial].state = State::waiting;
  queue(trial).insert(place(trial));
  if (trials_[trial].task.alone >= 0) renew_group(trials_[trial].task.alone);
}

void Dispatcher::hold(int rank, std::size_t trial) {
  trials_[trial].ranks.push_back(rank);
  ranks_[rank].trials.insert(trial);
  ++hosts_[ranks_[rank].host].running;
  ++running_;
  renew_rank(rank);
}

/// The rank has answered: it is heard, and has a slot more.
void Dispatcher::release(int rank, std::size_t trial) {
  if (ranks_[rank].trials.erase(trial) == 0) return;
  std::erase(trials_[trial].ranks, rank);
  --hosts_[ranks_[rank].host].running;
  --running_;
  renew_rank(rank);
}

void Dispatcher::end(std::size_t trial) {
  queue(trial).erase(place(trial));
  due_.erase({trials_[trial].due, trial});
  trials_[trial].state = State::ended;
  ++ended_;
  if (trials_[trial].task.alone >= 0) renew_group(trials_[trial].task.alone);
}

Kind Dispatcher::outcome(int rank, std::size_t trial, Kind first) {
  hear(rank);
  release(rank, trial);
  if (trials_[trial].state == State::ended) return Kind::drop;
  end(trial);
  return first;
}

// ---- ranks

void Dispatcher::hear(int rank) {
  Rank& it = ranks_[rank];
  beats_.erase({it.heard_at, rank});
  it.heard_at = now_;
  beats_.insert({now_, rank});
  if (!it.heard) take_back(rank);
}

void Dispatcher::take_back(int rank) {
  Rank& it = ranks_[rank];
  it.heard = true;
  --lost_;
  if (it.slots > 0) hosts_[it.host].ranks.insert(rank);
  hosts_[it.host].running += static_cast<int>(it.trials.size());
  running_ += static_cast<int>(it.trials.size());
  for (const std::size_t trial : it.trials) {
    if (trials_[trial].state != State::waiting) continue;
    queue(trial).erase(place(trial));
    trials_[trial].state = State::given;
    if (trials_[trial].task.alone >= 0) renew_group(trials_[trial].task.alone);
  }
  renew_rank(rank);
}

void Dispatcher::lose(int rank) {
  Rank& it = ranks_[rank];
  it.heard = false;
  ++lost_;
  beats_.erase({it.heard_at, rank});
  hosts_[it.host].ranks.erase(rank);
  hosts_[it.host].running -= static_cast<int>(it.trials.size());
  running_ -= static_cast<int>(it.trials.size());
  for (const std::size_t trial : it.trials)
    if (trials_[trial].state == State::given && !has_heard_rank(trials_[trial]))
      return_trial(trial);
  renew_rank(rank);
}

// ---- who is free

void Dispatcher::renew_rank(int rank) {
  Rank& it = ranks_[rank];
  if (it.open_load >= 0) open_.erase({it.open_load, rank});
  const int load = static_cast<int>(it.trials.size());
  it.open_load = it.heard && load < it.slots && hosts_[it.host].group < 0 ? load : -1;
  if (it.open_load >= 0) open_.insert({load, rank});
  renew_host(it.host);
}

void Dispatcher::renew_host(int host) {
  const Host& it = hosts_[host];
  if (it.group < 0 && it.running == 0 && !it.ranks.empty())
    idle_hosts_.insert(host);
  else
    idle_hosts_.erase(host);
  if (it.group >= 0 && it.running == 0)
    bound_hosts_.insert(host);
  else
    bound_hosts_.erase(host);
}

void Dispatcher::renew_group(int group) {
  const Group& it = groups_[group];
  if (it.host < 0 && !it.waiting.empty())
    free_groups_.insert({-it.seconds, group});
  else
    free_groups_.erase({-it.seconds, group});
}

// ---- giving

Dispatcher::Actions Dispatcher::pumped(Actions actions) {
  if (stopped_) return actions;
  pump_groups(actions);
  while (!waiting_.empty() && !open_.empty())
    give(open_.begin()->second, std::get<2>(*waiting_.begin()), actions);
  if (waiting_.empty()) take_over(actions);
  return actions;
}

void Dispatcher::pump_groups(Actions& actions) {
  const auto bind = [&](int group, int host) {
    groups_[group].host = host;
    hosts_[host].group = group;
    renew_group(group);
    for (const int rank : hosts_[host].ranks) renew_rank(rank);
    renew_host(host);
  };
  while (!bound_hosts_.empty()) serve_group(*bound_hosts_.begin(), actions);
  while (!free_groups_.empty() && !idle_hosts_.empty()) {
    const int host = *idle_hosts_.begin();
    bind(free_groups_.begin()->second, host);
    serve_group(host, actions);
  }
}

/// Gives the next trial of the group that has a host on which nothing runs, or lets it go.
void Dispatcher::serve_group(int host, Actions& actions) {
  Host& it = hosts_[host];
  const int group = it.group;
  if (!groups_[group].waiting.empty() && !it.ranks.empty())
    return give(*it.ranks.begin(), std::get<2>(*groups_[group].waiting.begin()), actions);
  it.group = -1;
  groups_[group].host = -1;
  renew_group(group);
  for (const int rank : it.ranks) renew_rank(rank);
  renew_host(host);
}

void Dispatcher::give(int rank, std::size_t trial, Actions& actions) {
  Trial& it = trials_[trial];
  queue(trial).erase(place(trial));
  due_.erase({it.due, trial});
  actions.push_back({.kind = Kind::give, .rank = rank, .trial = trial, .attempt = it.attempts++});
  if (it.attempts == 2) ++reissued_;
  it.taken_over = it.state == State::given;
  it.state = State::given;
  it.due = now_ + 2 * it.task.seconds + 1;
  if (!it.taken_over && it.task.alone < 0) due_.insert({it.due, trial});
  hold(rank, trial);
}

void Dispatcher::take_over(Actions& actions) {
  for (auto next = due_.begin(); next != due_.end() && next->first < now_ && !open_.empty();) {
    const std::size_t trial = (next++)->second;
    const int rank = rank_to_take_over(trials_[trial]);
    if (rank >= 0) give(rank, trial, actions);
  }
}

int Dispatcher::rank_to_take_over(const Trial& trial) const {
  for (const auto& [load, rank] : open_)
    if (std::find(trial.ranks.begin(), trial.ranks.end(), rank) == trial.ranks.end()) return rank;
  return -1;
}

}  // namespace boltzmark::experiments
