#pragma once

#include <cstddef>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

namespace boltzmark::experiments {

/// What a dispatcher knows of a trial.
struct DispatchTask {
  double seconds = 0;  ///< estimated
  int alone = -1;  ///< its group, if it measures time: with no other trial on its host; -1: none
};

/// What is to be done now.
///   give: the rank is to run the trial, which was given `attempt` times before
///   store, fail: the trial's first result, or failure; drop: it has ended before
///   lost: the rank was silent for a lease
struct DispatchAction {
  enum class Kind { give, store, fail, drop, lost };
  Kind kind;
  int rank = 0;
  std::size_t trial = 0;
  int attempt = 0;
};

/// Hands trials to ranks: events in, actions out, without messages, threads, clock or files.
///   The longest estimate first. A rank silent for a lease is lost, and its trials are given again
///   before others; if it speaks again it is taken back. Once nothing is left to give, an idle
///   rank takes over the trial that is the latest beyond twice its estimate and a second, once.
///   A group that measures time has a host for itself, one trial at once; it is bound to the first host that is idle.
/// Invariant  no trial is given while a rank that is heard has it, but by taking over; none waits
///   while a rank that may have it is idle
/// Cost  O(log n) an event and action
class Dispatcher {
 public:
  using Actions = std::vector<DispatchAction>;
  explicit Dispatcher(std::vector<DispatchTask> tasks,
                      double lease_seconds = std::numeric_limits<double>::infinity());

  /// A rank runs up to `slots` trials at once; ranks count from 0, as hosts do.
  Actions join(int rank, int host, int slots);
  /// A rank has computed a trial.
  Actions result(int rank, std::size_t trial);
  /// A trial threw: it is not tried elsewhere.
  Actions failure(int rank, std::size_t trial);
  /// A rank gave a trial up: it is given no more.
  Actions abandoned(int rank, std::size_t trial);
  /// A rank was heard.
  Actions beat(int rank);
  /// It is now so many seconds.
  Actions time(double now);
  /// Gives no more.
  Actions stop();

  /// Tells whether every trial has ended or, once stopped, none is run by a rank that is heard.
  bool finished() const;
  std::size_t ended() const { return ended_; }
  /// Counts the ranks that are lost.
  int lost() const { return lost_; }
  /// Counts the trials that were given more than once.
  std::size_t reissued() const { return reissued_; }

 private:
  enum class State { waiting, given, ended };
  /// Returned ones first, then the longest, then in the order of the plan.
  using Place = std::tuple<bool, double, std::size_t>;
  struct Trial {
    DispatchTask task;
    State state = State::waiting;
    int attempts = 0;
    bool taken_over = false;
    double due = 0;               ///< beyond this it is late
    std::vector<int> ranks = {};  ///< that were given it and have not answered
  };
  struct Rank {
    int host = -1, slots = 0;  ///< host -1: not joined
    bool heard = false;
    double heard_at = 0;
    int open_load = -1;  ///< its load in open_; -1: it is not there
    std::set<std::size_t> trials = {};
  };
  struct Host {
    int running = 0;           ///< trials of ranks that are heard
    int group = -1;            ///< that has it for itself
    std::set<int> ranks = {};  ///< that are heard and take trials
  };
  struct Group {
    std::set<Place> waiting = {};
    double seconds = 0;
    int host = -1;
  };

  Place place(std::size_t trial) const;
  std::set<Place>& queue(std::size_t trial);
  void hold(int rank, std::size_t trial);
  void release(int rank, std::size_t trial);
  bool has_heard_rank(const Trial& trial) const;
  void end(std::size_t trial);
  DispatchAction::Kind outcome(int rank, std::size_t trial, DispatchAction::Kind first);
  void hear(int rank);
  void lose(int rank);
  void take_back(int rank);
  void return_trial(std::size_t trial);

  void renew_rank(int rank);
  void renew_host(int host);
  void renew_group(int group);
  /// Adds all that can be given now.
  Actions pumped(Actions actions = {});
  void pump_groups(Actions& actions);
  void serve_group(int host, Actions& actions);
  void take_over(Actions& actions);
  int rank_to_take_over(const Trial& trial) const;
  void give(int rank, std::size_t trial, Actions& actions);

  double lease_;
  double now_ = 0;
  bool stopped_ = false;
  std::size_t ended_ = 0, reissued_ = 0;
  int lost_ = 0, running_ = 0;
  std::vector<Trial> trials_;
  std::vector<Rank> ranks_;
  std::vector<Host> hosts_;
  std::vector<Group> groups_;
  std::set<Place> waiting_;                       ///< those of no group
  std::set<std::pair<double, int>> beats_;        ///< when each rank was heard last
  std::set<std::pair<int, int>> open_;            ///< load and rank where a slot is free
  std::set<int> idle_hosts_;                      ///< that a group may have
  std::set<int> bound_hosts_;                     ///< that a group has, and is to be looked at
  std::set<std::pair<double, int>> free_groups_;  ///< that wait and have no host, longest first
  std::set<std::pair<double, std::size_t>> due_;  ///< trials that may be taken over
};

}  // namespace boltzmark::experiments
