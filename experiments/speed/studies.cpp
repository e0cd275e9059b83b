// Studies on many ranks in simulated time: the dispatcher is the real one, and answers in the time that it really takes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "boltzmark/random/stream.hpp"
#include "experiments/kit/run/dispatcher.hpp"
#include "experiments/speed/contender.hpp"

namespace boltzmark::speed {
namespace {

using experiments::DispatchAction;
using experiments::Dispatcher;
using experiments::DispatchTask;

using Clock = std::chrono::steady_clock;

constexpr int kRanks = 10'000;
constexpr int kRanksPerHost = 100;
constexpr std::size_t kTrials = 1'000'000;
constexpr double kMeanSeconds = 0.57;

std::vector<DispatchTask> draw_trials() {
  Stream stream(make_key(1, "studies"), Purpose::data);
  std::vector<DispatchTask> trials(kTrials);
  for (DispatchTask& trial : trials) trial.seconds = -kMeanSeconds * std::log(stream.uniform());
  return trials;
}

/// Returns when the last result is in. Messages take no time; rank 0 answers them one at a time.
double seconds_of_study(const std::vector<DispatchTask>& trials) {
  Dispatcher dispatcher(trials);
  using Result = std::tuple<double, int, std::size_t>;  // when it comes, from whom, of what
  std::priority_queue<Result, std::vector<Result>, std::greater<>> results;
  double free = 0;  // when rank 0 has answered all that came
  const auto answer = [&](double came, const auto& event) {
    const auto started = Clock::now();
    const Dispatcher::Actions actions = event();
    free = std::max(free, came) + std::chrono::duration<double>(Clock::now() - started).count();
    for (const DispatchAction& action : actions)
      if (action.kind == DispatchAction::Kind::give)
        results.emplace(free + trials[action.trial].seconds, action.rank, action.trial);
  };
  for (int rank = 0; rank < kRanks; ++rank)
    answer(0, [&] { return dispatcher.join(rank, rank / kRanksPerHost, 1); });
  while (!results.empty()) {
    const auto [came, rank, trial] = results.top();
    results.pop();
    answer(came, [&, rank = rank, trial = trial] { return dispatcher.result(rank, trial); });
  }
  return free;
}

/// Of ranks that nobody has to serve.
double seconds_alone(const std::vector<DispatchTask>& trials) {
  double sum = 0, longest = 0;
  for (const DispatchTask& trial : trials) {
    sum += trial.seconds;
    longest = std::max(longest, trial.seconds);
  }
  return std::max(sum / kRanks, longest);
}

}  // namespace

void add_studies() {
  const char* work = "a study in simulated time/1000000 trials of 0.57 s on 10000 ranks";
  add({.work = work, .name = "boltzmark", .timed = [] { return seconds_of_study(draw_trials()); }});
  add({.work = work, .name = kTrialsAlone, .timed = [] { return seconds_alone(draw_trials()); }});
}

}  // namespace boltzmark::speed
