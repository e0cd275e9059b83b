#include "tools/boltzmark/commands/train/train_evaluator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/held/held_estimate.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/commands/score/score_deep.hpp"
#include "tools/boltzmark/input.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TrackerOptions tracker_options(const EvaluatorOptions& options) {
  return {.sweeps = options.sweeps,
          .key = derive_key(make_key(options.seed, "train"), "evaluation")};
}

double weight_norm(const Layered& model) {
  double sum = 0;
  for (const Eigen::MatrixXd& weights : model.weights()) sum += weights.squaredNorm();
  return std::sqrt(sum);
}

template <class Number>
double number_or_none(const std::optional<Number>& value) {
  return value ? static_cast<double>(*value) : kNone;
}

template <class Number>
std::optional<Number> optional_of(bool given, double value) {
  return given ? std::optional<Number>(static_cast<Number>(value)) : std::nullopt;
}

constexpr int kFields = 13;

Eigen::VectorXd packed(const Evaluation& e) {
  Eigen::VectorXd all(kFields);
  all << static_cast<double>(e.update), e.mean_log_likelihood, e.validation ? 1 : 0,
      number_or_none(e.validation), e.learning_rate, e.weight_norm, e.log_z, e.log_z_std_error,
      static_cast<double>(e.status), e.round_trips ? 1 : 0, number_or_none(e.round_trips),
      e.negative_round_trips ? 1 : 0, number_or_none(e.negative_round_trips);
  return all;
}

Evaluation unpacked(const Eigen::Ref<const Eigen::VectorXd>& all) {
  return {.update = static_cast<std::uint64_t>(all[0]),
          .mean_log_likelihood = all[1],
          .validation = optional_of<double>(all[2] != 0, all[3]),
          .learning_rate = all[4],
          .weight_norm = all[5],
          .log_z = all[6],
          .log_z_std_error = all[7],
          .status = static_cast<Status>(static_cast<int>(all[8])),
          .round_trips = optional_of<std::uint64_t>(all[9] != 0, all[10]),
          .negative_round_trips = optional_of<std::uint64_t>(all[11] != 0, all[12])};
}

}  // namespace

Evaluator::Evaluator(EvaluatorOptions options) : options_(std::move(options)) {
  if (options_.sweeps > 0) tracker_.emplace(*options_.base, tracker_options(options_));
  curves_.tracked = tracker_.has_value();
}

bool Evaluator::asked_for(std::uint64_t update) const {
  return update % static_cast<std::uint64_t>(options_.every) == 0;
}

// Of every distinct case; of a deep model whose log Z is tracked a bound.
Eigen::VectorXd Evaluator::log_f(const Layered& model, const Cases& cases) const {
  if (curves_.bound) return bound_cases(model, cases, options_.mean_field).log_f;
  return log_unnormalised(model, cases);
}

// As `estimate` holds its runs: chains that go on from look to look may never have met a mode.
void Evaluator::hold_to_modes(const Layered& model, TrackedLogZ& found) const {
  const LayeredTarget target(model, *options_.base);
  const FoundStates states =
      find_before(target, options_.search, options_.seed, {.base = *options_.base}, true);
  hold_to_found(target, options_.search, found.visited, states, found.estimate);
}

// An evaluation that a longer run would not make leaves the tracker as it would be there.
void Evaluator::find_log_z(const Layered& model, double lowest, Evaluation& now) {
  if (!tracker_) {
    ExactOptions options;  // minutes, of 40 units
    options.progress = [](double) {
      if (experiments::interrupt_requested()) throw experiments::Interrupted("evaluation");
    };
    now.log_z = exact_log_z(model, options).log_z;
    return;
  }
  LogZTracker aside = *tracker_;
  TrackedLogZ found = (asked_for(now.update) ? *tracker_ : aside).look(model);
  refuse_below(found.estimate, lowest);
  hold_to_modes(model, found);
  now.log_z = found.estimate.log_z;
  now.log_z_std_error = found.estimate.std_error;
  now.status = found.estimate.status;
  now.round_trips = static_cast<std::uint64_t>(found.round_trips);
}

bool Evaluator::evaluate(const Trainer& trainer) {
  auto& all = curves_.evaluations;
  if (!all.empty() && all.back().update == trainer.updates()) return false;
  const Layered& model = trainer.model();
  const TrainOptions& options = trainer.options();
  curves_.bound = tracker_ && !model.is_rbm();
  Evaluation now{.update = trainer.updates()};
  now.learning_rate = options.learning_rate * options.optimiser.rate_factor(trainer.updates());
  now.weight_norm = weight_norm(model);
  now.negative_round_trips = trainer.sampler().round_trips();
  const Eigen::VectorXd training = log_f(model, options_.training);
  double lowest = lowest_by_cases(model, options_.training, training);
  Eigen::VectorXd validation;
  if (options_.validation) {
    validation = log_f(model, *options_.validation);
    lowest = std::fmax(lowest, lowest_by_cases(model, *options_.validation, validation));
  }
  find_log_z(model, lowest, now);
  now.log_z += options_.log_volume;
  now.mean_log_likelihood = options_.training.mean(training) - now.log_z;
  if (options_.validation) now.validation = options_.validation->mean(validation) - now.log_z;
  all.push_back(now);
  return true;
}

std::uint64_t Evaluator::identity() const {
  return hash_bytes(fmt::format("every {}, {} sweeps, mean field {} {}, validation {:x}",
                                options_.every, options_.sweeps, options_.mean_field.updates,
                                options_.mean_field.tolerance, options_.validation_hash));
}

std::string Evaluator::save() const {
  CheckpointWriter out;
  out.write(identity());
  out.write(static_cast<std::uint64_t>(curves_.evaluations.size()));
  for (const Evaluation& evaluation : curves_.evaluations) out.write(packed(evaluation));
  if (tracker_) tracker_->save(out);
  return out.finish();
}

bool Evaluator::restore(std::string_view bytes, const Layered& model) {
  CheckpointReader in(bytes);
  if (in.read() != identity()) return false;
  std::vector<Evaluation> all;
  Eigen::VectorXd fields(kFields);
  for (std::uint64_t left = in.read(); left > 0; --left) {
    in.read(fields);
    if (const Evaluation one = unpacked(fields); asked_for(one.update)) all.push_back(one);
  }
  if (tracker_) tracker_->restore(model, in);
  in.finish();
  curves_.bound = tracker_ && !model.is_rbm();
  curves_.evaluations = std::move(all);
  return true;
}

double Evaluator::seconds(const Layered& model, double count) const {
  const std::size_t cases =
      options_.training.distinct() + (options_.validation ? options_.validation->distinct() : 0);
  if (!tracker_)
    return count * (plan_enumeration(model).seconds +
                    log_unnormalised_seconds(model, cases) / thread_count());
  const TrackerOptions tracker = tracker_options(options_);
  const double chain_sweeps = double{1} * tracker.chains * tracker.sweeps;
  const double look = sweep_seconds(model, chain_sweeps) +
                      chain_sweeps * tracker.ladder.rungs() * kCellSeconds / thread_count();
  const double updates = model.is_rbm() ? 0.5 : options_.mean_field.updates;  // of all means
  constexpr double kAnew = 1.5;  // where every look starts anew: the initial stage ends early
  return count * (kAnew * look + sweep_seconds(model, held_sweeps(model))) +
         count * sweep_seconds(model, static_cast<double>(cases) * updates);
}

double Evaluator::bytes(const Layered& model) const {
  if (!tracker_) return 0;
  const TrackerOptions tracker = tracker_options(options_);
  const double means = model.is_rbm() ? 0 : 12.0 * model.units() * options_.training.distinct();
  return means + weight_bytes(model) +
         double{1} * tracker.chains * (8.0 * model.units() + kRungBytes * tracker.ladder.rungs());
}

}  // namespace boltzmark::cli
