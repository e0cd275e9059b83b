// Studies on many ranks in simulated time: the dispatcher is the real one, and answers in the time that it really takes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/experiment.hpp"
#include "experiments/kit/run/dispatcher.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/temporary_folder.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/sleepers.hpp"

namespace boltzmark::speed {
namespace {

using experiments::DispatchAction;
using experiments::Dispatcher;
using experiments::DispatchTask;

using Clock = std::chrono::steady_clock;

/// A study, and the ranks that are to run it.
struct Study {
  const char* name;
  std::function<std::vector<DispatchTask>()> trials;
  int ranks = 0;
  double seconds_of_line = 0;  ///< of rank 0 for each result, beside the dispatcher's own
  bool foretold = true;        ///< the dispatcher knows how long trials take, and so the longest
};

constexpr int kRanksPerHost = 16;
constexpr std::size_t kMany = 1'000'000, kStudyLineBytes = 800;

std::vector<DispatchTask> draw_trials(double mean_seconds) {
  Stream stream(make_key(1, "studies"), Purpose::data);
  std::vector<DispatchTask> trials(kMany);
  for (DispatchTask& trial : trials) trial.seconds = -mean_seconds * std::log(stream.uniform());
  return trials;
}

/// The trials of profile paper, of as many seconds on one core as they are estimated to take.
std::vector<DispatchTask> paper_trials() {
  std::vector<DispatchTask> trials;
  int group = 0;
  for (const experiments::Experiment& experiment : experiments::experiments()) {
    if (experiment.trials_of.empty())
      for (const auto& trial :
           experiments::list_trials(experiment, {.profile = experiments::Profile::paper},
                                    experiments::CellFilter(""), "none")
               .trials)
        trials.push_back({.seconds = 2 * trial.seconds, .alone = experiment.alone ? group : -1});
    ++group;
  }
  return trials;
}

/// Returns when the last result is in. Messages take no time; rank 0 answers them one at a time.
///   events  counts what the dispatcher was told
double seconds_of_study(const Study& study, std::size_t* events = nullptr) {
  const std::vector<DispatchTask> trials = study.trials();
  Dispatcher dispatcher(study.foretold ? trials : std::vector<DispatchTask>(trials.size()));
  using Result = std::tuple<double, int, std::size_t>;  // when it comes, from whom, of what
  std::priority_queue<Result, std::vector<Result>, std::greater<>> results;
  double free = 0;  // when rank 0 has answered all that came
  const auto answer = [&](double came, double seconds, const auto& event) {
    const auto started = Clock::now();
    const Dispatcher::Actions actions = event();
    free = std::max(free, came) + seconds +
           std::chrono::duration<double>(Clock::now() - started).count();
    if (events != nullptr) ++*events;
    for (const DispatchAction& action : actions)
      if (action.kind == DispatchAction::Kind::give)
        results.emplace(free + trials[action.trial].seconds, action.rank, action.trial);
  };
  for (int rank = 0; rank < study.ranks; ++rank)
    answer(0, 0, [&] { return dispatcher.join(rank, rank / kRanksPerHost, 1); });
  while (!results.empty()) {
    const auto [came, rank, trial] = results.top();
    results.pop();
    answer(came, study.seconds_of_line,
           [&, rank = rank, trial = trial] { return dispatcher.result(rank, trial); });
  }
  return free;
}

/// The dispatcher's own time for one event, of a study whose trials take none.
double seconds_of_event() {
  std::size_t events = 0;
  const double seconds = seconds_of_study(
      {.name = "", .trials = [] { return std::vector<DispatchTask>(kMany); }, .ranks = 10'000},
      &events);
  return seconds / static_cast<double>(events);
}

/// Of a store where every trial is finished, until it is known that none is to run.
double seconds_of_planned_line(std::size_t lines) {
  const experiments::TemporaryFolder folder;
  const experiments::Experiment study = sleepers(lines, kStudyLineBytes, false);
  const experiments::ReproduceOptions how{.out = folder.path()};
  const auto planned = [&] {
    auto plan = experiments::list_trials(study, how, experiments::CellFilter(""), "none");
    experiments::look_up(plan, how);
    return plan;
  };
  {
    const auto plan = planned();
    for (const auto& trial : plan.trials) {
      plan.store->add_line(experiments::trial_line(
          trial.key, {.inputs = trial.key.inputs,
                      .outputs = {{"text", std::string(kStudyLineBytes, 'x')}},
                      .revision = "none"}));
      plan.store->write();
    }
  }
  const auto started = Clock::now();
  const auto plan = planned();
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  if (plan.count_to_run() > 0) throw Error("a stored trial was not found");
  return seconds / static_cast<double>(lines);
}

/// Of ranks that nobody has to serve, and that are never idle: this by the other time is the efficiency.
double seconds_alone(const Study& study) {
  double sum = 0;
  for (const DispatchTask& trial : study.trials()) sum += trial.seconds;
  return sum / study.ranks;
}

std::vector<DispatchTask> long_trials() { return draw_trials(45); }
std::vector<DispatchTask> short_trials() { return draw_trials(0.57); }
std::vector<DispatchTask> tiny_trials() { return draw_trials(0.1); }

const Study kStudies[] = {
    {"profile paper on 64 ranks, 20 µs a line", paper_trials, 64, 20e-6},
    {"profile paper on 128 ranks, 20 µs a line", paper_trials, 128, 20e-6},
    {"profile paper on 256 ranks, 20 µs a line", paper_trials, 256, 20e-6},
    {"profile paper on 64 ranks, in the order of the plan", paper_trials, 64, 20e-6, false},
    {"profile paper on 128 ranks, in the order of the plan", paper_trials, 128, 20e-6, false},
    {"1000000 trials of 45 s on 10000 ranks, 20 µs a line", long_trials, 10'000, 20e-6},
    {"1000000 trials of 45 s on 10000 ranks, 4 ms a line", long_trials, 10'000, 4e-3},
    {"1000000 trials of 0.57 s on 10000 ranks", short_trials, 10'000},
    {"1000000 trials of 0.57 s on 10000 ranks, 20 µs a line", short_trials, 10'000, 20e-6},
    {"1000000 trials of 0.57 s on 10000 ranks, 150 µs a line", short_trials, 10'000, 150e-6},
    {"1000000 trials of 0.57 s on 10000 ranks, 4 ms a line", short_trials, 10'000, 4e-3},
    {"1000000 trials of 0.1 s on 10000 ranks", tiny_trials, 10'000},
    {"1000000 trials of 0.1 s on 10000 ranks, 20 µs a line", tiny_trials, 10'000, 20e-6},
};

}  // namespace

void add_studies() {
  for (const Study& study : kStudies) {
    const std::string work = std::string("a study in simulated time/") + study.name;
    add({.work = work,
         .name = "boltzmark",
         .timed = [&study] { return seconds_of_study(study); },
         .once = true});
    add({.work = work,
         .name = kTrialsAlone,
         .timed = [&study] { return seconds_alone(study); },
         .once = true});
  }
  add({.work = "a study in simulated time/an event of the dispatcher",
       .name = "boltzmark",
       .timed = seconds_of_event,
       .once = true});
  for (const std::size_t lines : {std::size_t{10'000}, kMany})
    add({.work = fmt::format("a store of {} lines of 1 kB/a line read and planned", lines),
         .name = "boltzmark",
         .timed = [lines] { return seconds_of_planned_line(lines); },
         .once = true});
}

}  // namespace boltzmark::speed
