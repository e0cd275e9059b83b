// The dispatcher of trials in a simulated cluster: ranks die, fall silent and return, messages
// arrive late, twice and in any order.
#include <rapidcheck.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <set>
#include <vector>

#include "experiments/kit/run/dispatcher.hpp"

namespace boltzmark::experiments {
namespace {

using Kind = DispatchAction::Kind;
constexpr double kLease = 60;

/// Ranks as the dispatcher may know them, and as they are.
struct SimulatedRank {
  int host = 0, slots = 1;
  bool alive = true, silent = false;
  bool heard = true;                                ///< as the dispatcher has said
  std::set<std::size_t> given = {};                 ///< and not answered, as the dispatcher knows
  std::deque<std::size_t> computing = {};           ///< as the rank knows
  std::vector<std::size_t> outbox = {}, sent = {};  ///< results on the way, and those that came
};

class SimulatedCluster {
 public:
  SimulatedCluster(std::vector<DispatchTask> tasks, int ranks, int hosts)
      : tasks_(tasks), dispatcher_(tasks, kLease), stored_(tasks.size(), 0), hosts_(hosts) {
    for (int rank = 0; rank < ranks; ++rank) join(rank % 5 == 3 ? 3 : 1 + rank % 2);
  }

  void join(int slots) {
    const int rank = static_cast<int>(ranks_.size());
    ranks_.push_back({.host = rank % hosts_, .slots = slots});
    take(dispatcher_.join(rank, rank % hosts_, slots));
  }
  void compute(int rank) {
    SimulatedRank& it = ranks_[rank];
    if (!it.alive || it.computing.empty()) return;
    it.outbox.push_back(it.computing.front());
    it.computing.pop_front();
  }
  /// One of the results on the way arrives, or that a trial threw, perhaps not the first; `again`: and will
  /// once more.
  void deliver(int rank, std::size_t which, bool again) {
    SimulatedRank& it = ranks_[rank];
    if (!it.alive || it.silent || it.outbox.empty()) return;
    const std::size_t at = which % it.outbox.size(), trial = it.outbox[at];
    if (!again) it.outbox.erase(it.outbox.begin() + static_cast<long>(at));
    it.given.erase(trial);
    it.heard = true;
    take(which % 7 == 3 ? dispatcher_.failure(rank, trial) : dispatcher_.result(rank, trial));
  }
  /// A rank, but not the first, gives up what it computes.
  void abandon(int rank) {
    SimulatedRank& it = ranks_[rank];
    if (rank == 0 || !it.alive || it.silent || it.computing.empty()) return;
    const std::size_t trial = it.computing.front();
    it.computing.pop_front();
    it.given.erase(trial);
    it.heard = true;
    it.slots = 0;
    take(dispatcher_.abandoned(rank, trial));
  }
  void beat(int rank) {
    SimulatedRank& it = ranks_[rank];
    if (!it.alive || it.silent) return;
    it.heard = true;
    take(dispatcher_.beat(rank));
  }
  void advance(double seconds) {
    now_ += seconds;
    beat(0);
    take(dispatcher_.time(now_));
  }
  void kill(int rank) { ranks_[rank].alive = rank == 0; }
  void silence(int rank, bool silent) { ranks_[rank].silent = rank != 0 && silent; }
  void stop() {
    stopped_ = true;
    take(dispatcher_.stop());
  }

  /// Lets everything that can happen still happen.
  void drain() {
    for (int step = 0; step < 20000 && !dispatcher_.finished(); ++step) {
      for (int rank = 0; rank < count(); ++rank) {
        beat(rank);
        compute(rank);
        deliver(rank, 0, false);
      }
      advance(kLease / 4);
    }
  }
  void check_end() const {
    RC_ASSERT(dispatcher_.finished());
    if (stopped_) return;
    for (const int times : stored_) RC_ASSERT(times == 1);
  }
  int count() const { return static_cast<int>(ranks_.size()); }

 private:
  void take(const Dispatcher::Actions& actions) {
    for (const DispatchAction& action : actions) {
      if (action.kind == Kind::give) give(action);
      if (action.kind == Kind::lost) ranks_[action.rank].heard = false;
      if (action.kind == Kind::store || action.kind == Kind::fail)
        RC_ASSERT(++stored_[action.trial] == 1);
      if (action.kind == Kind::drop) RC_ASSERT(stored_[action.trial] == 1);
    }
    check_idle();
  }

  void give(const DispatchAction& action) {
    SimulatedRank& it = ranks_[action.rank];
    RC_ASSERT(!stopped_);
    RC_ASSERT(it.heard);
    RC_ASSERT(stored_[action.trial] == 0);
    RC_ASSERT(it.given.count(action.trial) == 0u);
    RC_ASSERT(static_cast<int>(it.given.size()) < it.slots);
    const bool alone = tasks_[action.trial].alone >= 0;
    if (held(action.trial) > 0) RC_ASSERT(!alone && waiting() == 0);
    for (const SimulatedRank& other : ranks_)
      if (other.host == it.host && other.heard)
        for (const std::size_t trial : other.given)
          RC_ASSERT(!alone && (tasks_[trial].alone < 0 || returned_.count(trial) > 0u));
    RC_ASSERT((action.attempt > 0) == !attempted_.insert(action.trial).second);
    it.given.insert(action.trial);
    if (alone) groups_.insert(it.host);
    if (!alone) groups_.erase(it.host);
    if (it.alive) it.computing.push_back(action.trial);
  }

  /// How many ranks that are heard have a trial.
  int held(std::size_t trial) const {
    return static_cast<int>(std::count_if(ranks_.begin(), ranks_.end(), [&](const auto& rank) {
      return rank.heard && rank.given.count(trial) > 0;
    }));
  }
  /// Trials that take no host for themselves, and wait.
  int waiting() const {
    int count = 0;
    for (std::size_t trial = 0; trial < tasks_.size(); ++trial)
      count += tasks_[trial].alone < 0 && stored_[trial] == 0 && held(trial) == 0;
    return count;
  }
  /// Tells whether a host was given a group, and something runs there still.
  bool kept_for_group(int host) const {
    return groups_.count(host) > 0 &&
           std::any_of(ranks_.begin(), ranks_.end(), [&](const SimulatedRank& rank) {
             return rank.host == host && rank.heard && !rank.given.empty();
           });
  }
  /// No trial waits while a slot is idle, but on hosts that a group has for itself.
  void check_idle() {
    for (const SimulatedRank& rank : ranks_)  // a trial may come back to a host with its rank
      if (!rank.heard) returned_.insert(rank.given.begin(), rank.given.end());
    if (stopped_ || waiting() == 0) return;
    for (const SimulatedRank& rank : ranks_)
      if (rank.heard && static_cast<int>(rank.given.size()) < rank.slots)
        RC_ASSERT(kept_for_group(rank.host));
  }

  std::vector<DispatchTask> tasks_;
  Dispatcher dispatcher_;
  std::vector<int> stored_;
  std::set<std::size_t> attempted_, returned_;
  std::set<int> groups_;  ///< hosts that were given a trial of a group last
  std::vector<SimulatedRank> ranks_;
  int hosts_;
  double now_ = 0;
  bool stopped_ = false;
};

struct Event {
  int kind, rank, value;
};

void happen(SimulatedCluster& cluster, const Event& event) {
  const int rank = event.rank % cluster.count();
  switch (event.kind) {
    case 0:
      return cluster.deliver(rank, event.value, false);
    case 1:
      return cluster.deliver(rank, event.value, event.value % 3 == 0);
    case 2:
    case 3:
      return cluster.compute(rank);
    case 4:
      return cluster.advance(event.value % 40);
    case 5:
      return cluster.beat(rank);
    case 6:
      return event.value % 4 == 0 ? cluster.kill(rank) : cluster.beat(rank);
    case 7:
      return cluster.silence(rank, event.value % 2 == 0);
    case 8:
      return event.value % 10 == 0 ? cluster.join(1 + event.value % 3) : cluster.beat(rank);
    default:
      return event.value % 200 == 0 ? cluster.stop() : cluster.compute(rank);
  }
}

std::vector<Event> random_events() {
  const auto numbers = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 11 * 400 * 1000));
  std::vector<Event> events;
  for (const int n : numbers) events.push_back({n % 11, n / 11 % 400, n / 4400});
  return events;
}

TEST_CASE("the dispatcher stores every trial once, whoever dies, falls silent, returns or joins") {
  const bool passed = rc::check([] {
    const int count =
        *rc::gen::weightedOneOf<int>({{8, rc::gen::inRange(0, 40)}, {1, rc::gen::inRange(0, 501)}});
    const int groups = *rc::gen::inRange(0, 4);
    std::vector<DispatchTask> tasks;
    for (int i = 0; i < count; ++i)
      tasks.push_back({.seconds = static_cast<double>(*rc::gen::inRange(0, 30)),
                       .alone = i % 7 < groups ? i % 7 : -1});
    SimulatedCluster cluster(
        tasks,
        *rc::gen::weightedOneOf<int>({{8, rc::gen::inRange(1, 9)}, {1, rc::gen::inRange(1, 201)}}),
        *rc::gen::inRange(1, 6));
    for (const Event& event : random_events()) happen(cluster, event);
    cluster.drain();
    cluster.check_end();
  });
  CHECK(passed);
}

/// The trials that are given by some actions, in order.
std::vector<std::size_t> given(const Dispatcher::Actions& actions) {
  std::vector<std::size_t> trials;
  for (const DispatchAction& action : actions)
    if (action.kind == Kind::give) trials.push_back(action.trial);
  return trials;
}

using Trials = std::vector<std::size_t>;

TEST_CASE("the longest trial is given first, and what a lost rank had before all others") {
  Dispatcher dispatcher({{1}, {3}, {2}, {3}, {5}}, kLease);
  CHECK(given(dispatcher.join(0, 0, 1)) == Trials{4});
  CHECK(given(dispatcher.join(1, 1, 2)) == Trials{1, 3});
  CHECK(given(dispatcher.time(kLease)).empty());
  CHECK(given(dispatcher.beat(0)).empty());
  const auto actions = dispatcher.time(kLease + 1);
  REQUIRE(actions.size() == 1);
  CHECK(actions[0].kind == Kind::lost);
  CHECK(dispatcher.lost() == 1);
  const auto after = dispatcher.result(0, 4);
  CHECK(after[0].kind == Kind::store);
  CHECK(given(after) == Trials{1});
  CHECK(after[1].attempt == 1);
  CHECK(dispatcher.reissued() == 1);
  // The rank is taken back with what it has, and is given no more than it has room for.
  CHECK(given(dispatcher.beat(1)).empty());
  CHECK(dispatcher.lost() == 0);
  CHECK(given(dispatcher.result(1, 1)) == Trials{2});
  CHECK(dispatcher.result(0, 1)[0].kind == Kind::drop);
}

TEST_CASE("a trial that is given three times counts once among those given again") {
  Dispatcher dispatcher({{1}}, kLease);
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(given(dispatcher.join(rank, rank, 1)) == Trials{0});
    CHECK(dispatcher.reissued() == (rank > 0 ? 1 : 0));
    dispatcher.time((rank + 1) * (kLease + 1));
    CHECK(dispatcher.lost() == rank + 1);
  }
}

TEST_CASE("an idle rank takes over the latest trial beyond twice its estimate and a second, once") {
  Dispatcher dispatcher({{10}, {20}}, 1e9);
  dispatcher.join(0, 0, 1);
  dispatcher.join(1, 1, 1);
  CHECK(given(dispatcher.join(2, 2, 2)).empty());
  CHECK(given(dispatcher.time(21)).empty());
  CHECK(given(dispatcher.time(21.5)) == Trials{0});
  CHECK(given(dispatcher.time(100)) == Trials{1});
  CHECK(given(dispatcher.join(3, 3, 2)).empty());
  CHECK(dispatcher.result(2, 1)[0].kind == Kind::store);
  CHECK(dispatcher.result(0, 1)[0].kind == Kind::drop);
  CHECK_FALSE(dispatcher.finished());
  CHECK(dispatcher.failure(1, 0)[0].kind == Kind::fail);
  CHECK(dispatcher.finished());
}

TEST_CASE("a group that measures time has one host for itself while others go on") {
  Dispatcher dispatcher({{9}, {1, 0}, {2, 0}, {8}, {7}}, kLease);
  CHECK(given(dispatcher.join(0, 0, 2)) == Trials{2});
  CHECK(given(dispatcher.join(1, 0, 2)).empty());
  CHECK(given(dispatcher.join(2, 1, 1)) == Trials{0});
  CHECK(given(dispatcher.result(2, 0)) == Trials{3});
  CHECK(given(dispatcher.result(0, 2)) == Trials{1});
  CHECK(given(dispatcher.result(0, 1)) == Trials{4});
}

TEST_CASE("a rank that gives a trial up is given no more, and the trial goes to another") {
  Dispatcher dispatcher({{3}, {2}, {1}}, kLease);
  CHECK(given(dispatcher.join(0, 0, 1)) == Trials{0});
  CHECK(given(dispatcher.join(1, 1, 1)) == Trials{1});
  CHECK(given(dispatcher.abandoned(0, 0)).empty());
  CHECK(given(dispatcher.result(1, 1)) == Trials{0});
  CHECK(given(dispatcher.result(1, 0)) == Trials{2});
}

TEST_CASE("a dispatcher that is stopped gives no more, and waits for the ranks that are heard") {
  Dispatcher dispatcher({{1}, {1}, {1}}, kLease);
  dispatcher.join(0, 0, 1);
  dispatcher.join(1, 1, 1);
  CHECK(dispatcher.stop().empty());
  CHECK(given(dispatcher.abandoned(0, 0)).empty());
  CHECK_FALSE(dispatcher.finished());
  dispatcher.beat(0);
  dispatcher.time(kLease + 1);
  CHECK(dispatcher.finished());
  CHECK(dispatcher.ended() == 0);
}

}  // namespace
}  // namespace boltzmark::experiments
