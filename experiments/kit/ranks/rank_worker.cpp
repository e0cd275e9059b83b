#include "experiments/kit/ranks/rank_worker.hpp"

#include <cstdlib>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/ranks/rank_messages.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/lease_clock.hpp"
#include "experiments/kit/run/runner.hpp"
#include "experiments/kit/run/trial_run.hpp"
#include "experiments/kit/run/workers.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kLeaveSeconds = 2;  // that trials have to give up

class RankServant {
 public:
  RankServant(RankLink& link, double lease, const Parallelism& use, const RankService& service)
      : service_(service),
        lease_(lease),
        link_(link),
        workers_(use.jobs, use.threads, use.alone_threads) {
    send({.kind = RankNote::Kind::join,
          .number = static_cast<std::size_t>(use.jobs),
          .text = host_name()});
  }

  void work() {
    while (!link_.ended()) {
      bool said = false;
      for (; const auto message = link_.receive(); said = true) take(decode(message->bytes));
      auto outcomes = outcomes_.take(naps_.seconds());
      for (TrialOutcome& outcome : outcomes) report(outcome);
      naps_.note(said || !outcomes.empty());
      beat();
      if (!resting_ && clock_.seconds_at(now_seconds()) - heard_at_ > 5 * lease_)
        throw Error("rank 0 was not heard for five leases");
    }
    leave();
  }

 private:
  void send(const RankNote& note) {
    link_.send(0, encode(note));
    sent_at_ = now_seconds();
  }

  /// Also while trials run: it is this thread that is heard, not they.
  void beat() {
    if (now_seconds() - sent_at_ >= lease_ / 5) send({.kind = RankNote::Kind::beat});
  }

  void take(const RankNote& note) {
    heard_at_ = clock_.seconds_at(now_seconds());
    if (note.kind == RankNote::Kind::give) run(note.number, note.attempt);
    if (note.kind == RankNote::Kind::stop && service_.stop) service_.stop();
    if (note.kind == RankNote::Kind::give_up) give_up();
    if (note.kind == RankNote::Kind::rest) rest();
  }

  void give_up() {
    if (service_.stop) service_.stop();
    if (service_.give_up) service_.give_up();
  }

  /// What still runs here was stored from elsewhere, and need not keep its state.
  void rest() {
    resting_ = true;
    if (service_.give_up) service_.give_up();
  }

  void run(std::size_t number, int attempt) {
    const auto job = [this, number, attempt] {
      TrialOutcome outcome = service_.run(number, attempt);
      outcome.trial = number;
      outcomes_.add(std::move(outcome));
    };
    workers_.add(job, service_.alone && service_.alone(number));
  }

  void report(TrialOutcome& outcome) {
    const auto kind = outcome.kind == TrialOutcome::Kind::result    ? RankNote::Kind::result
                      : outcome.kind == TrialOutcome::Kind::failure ? RankNote::Kind::failure
                                                                    : RankNote::Kind::abandoned;
    send({.kind = kind, .number = outcome.trial, .text = std::move(outcome.text)});
  }

  /// Work that says nothing of its progress is not waited for.
  void leave() {
    if (!resting_) give_up();
    const bool idle = workers_.wait(kLeaveSeconds);
    link_.finish(0, true);
    if (!idle) std::_Exit(0);
  }

  const RankService& service_;
  double lease_;
  RankLink& link_;
  LeaseClock clock_{lease_, now_seconds()};
  double heard_at_ = 0, sent_at_ = 0;
  bool resting_ = false;
  OutcomeQueue outcomes_;
  Naps naps_;
  Workers workers_;  // last: what its jobs use outlives it
};

}  // namespace

void serve_rank_0(RankLink& link, double lease_seconds, const Parallelism& use,
                  const RankService& service) {
  RankServant(link, lease_seconds, use, service).work();
}

bool work_for_rank_0(const std::vector<PlannedExperiment>& plans, const ReproduceOptions& options,
                     RankLink& link) {
  const std::string made_by = link.broadcast(link.rank() == 0 ? revision() : "");
  if (link.rank() == 0) return false;
  const Parallelism use = parallelism(options, &link);
  const ThreadLimit limit(use.alone_threads);
  const InterruptGuard guard;
  const std::vector<NumberedTrial> trials = number_trials(plans);
  Progress progress(0, 0, false);
  ReproduceOptions untimed = options;
  untimed.max_seconds = 0;  // rank 0 says when the time is over
  TrialRun trial_run(untimed, made_by, progress);
  const RankService service{
      .run =
          [&](std::size_t number, int attempt) {
            return trial_run.run(*trials.at(number).plan, *trials.at(number).trial, attempt);
          },
      .alone = [&](std::size_t number) { return trials.at(number).plan->experiment->alone; },
      .stop = [&] { trial_run.stop(); },
      .give_up = [&] { trial_run.give_up(); }};
  serve_rank_0(link, options.lease_seconds, use, service);
  return true;
}

}  // namespace boltzmark::experiments
