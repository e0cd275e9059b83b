#include "experiments/kit/run/trial_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"

namespace boltzmark::experiments {

void OutcomeQueue::add(TrialOutcome outcome) {
  {
    const std::lock_guard lock(mutex_);
    outcomes_.push_back(std::move(outcome));
  }
  added_.notify_one();
}

std::vector<TrialOutcome> OutcomeQueue::take(double seconds) {
  std::unique_lock lock(mutex_);
  added_.wait_for(lock, std::chrono::duration<double>(seconds),
                  [this] { return !outcomes_.empty(); });
  return std::exchange(outcomes_, {});
}

TrialRun::TrialRun(const ReproduceOptions& options, std::string revision, Progress& progress)
    : options_(options), revision_(std::move(revision)), host_(host_name()), progress_(progress) {}

bool TrialRun::out_of_time() const {
  return options_.max_seconds > 0 && now_seconds() - start_ > options_.max_seconds;
}

bool TrialRun::stopping() const { return stopped_ || interrupt_requested() || out_of_time(); }

TrialOutcome TrialRun::run(const PlannedExperiment& plan, const PlannedTrial& trial, int attempt) {
  if (stopping()) return {};
  try {
    Trial made{
        .inputs = trial.key.inputs, .revision = revision_, .simd = trial.key.simd, .host = host_};
    const double start = now_seconds();
    const TrialContext context = make_context(plan, trial, attempt);
    made.outputs = plan.experiment->run(trial.key.inputs, context);
    made.seconds = now_seconds() - start;
    return {.kind = TrialOutcome::Kind::result, .text = trial_line(trial.key, made)};
  } catch (const Interrupted&) {
    return {};
  } catch (const std::exception& error) {
    return {.kind = TrialOutcome::Kind::failure,
            .text = fmt::format("{} {}: {}", plan.experiment->id, trial.key.inputs.dump(),
                                error.what())};
  }
}

TrialContext TrialRun::make_context(const PlannedExperiment& plan, const PlannedTrial& trial,
                                    int attempt) {
  const Experiment& experiment = *plan.experiment;
  TrialContext context;
  context.seed = options_.seed;
  context.experiment = experiment.id;
  context.key = make_key(options_.seed, experiment.id, trial.key.inputs.dump());
  context.on_progress = [this, at = &trial, id = experiment.id](double fraction) {
    if (given_up_) throw Interrupted();
    progress_.advance(at, at->seconds, fraction, id);
  };
  context.stopping = [this] { return stopping(); };
  context.checkpoint_seconds = options_.checkpoint_seconds;
  context.checkpoint = std::make_shared<TrialCheckpoint>(plan.folder, trial.key, attempt);
  context.on_unsaved = [at = &trial, id = experiment.id](const std::string& why) {
    fmt::print(stderr, "{} {}: {}\n", id, at->key.inputs.dump(), why);
  };
  if (options_.fresh && attempt == 0) context.checkpoint->remove();
  context.on_progress(0);
  return context;
}

}  // namespace boltzmark::experiments
