#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/io/dataset.hpp"
#include "boltzmark/learn/cases/standardisation.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "tools/boltzmark/command.hpp"
#include "tools/boltzmark/commands/train/train_cost.hpp"
#include "tools/boltzmark/commands/train/train_evaluator.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {

/// What the command line says about a training run.
struct TrainArguments {
  std::string dataset;
  std::vector<int> hidden;
  std::string negative;                                 ///< empty: cd:1, or pcd:1 of a deep model
  std::map<std::string, std::string> negative_options;  ///< by name; empty where not given
  std::string rule;                                     ///< empty: gibbs
  std::string binarise;                                 ///< empty: not given
  std::string labels;
  std::string validate;  ///< a data set; empty: none
  std::string curves;    ///< a folder; empty: none
  std::string checkpoint;
  std::string out;
  std::string optimiser;      ///< empty: sgd, or adamax with --discriminative
  std::string initial;        ///< empty: normal, or xavier with --discriminative
  std::string visible_units;  ///< empty: bernoulli
  std::string hidden_units;   ///< empty: bernoulli
  double learning_rate = 0;   ///< 0: that of the optimiser and the units
  std::string start;          ///< a model file to start from; empty: drawn as `initial` says
  std::string pretrain;       ///< epochs of greedy pretraining, with commas between; empty: none
  double initial_sd = -1;     ///< below 0: not given, 0.01
  double momentum = 0;
  double weight_decay = 0;
  double rate_decay = 0;  ///< 0: the rate stays
  int mean_field = 0;     ///< updates of deep models; 0: not given, 5
  bool discriminative = false;
  int batch = 0;
  int updates = 10000;
  int evaluate = 0;
  int evaluate_sweeps = 0;  ///< of a tracked log Z; 0: not given
  std::uint64_t seed = 1;
  bool force = false;

  /// Tells whether grey levels stay, for the trainer to draw from.
  bool draws_cases() const { return binarise == "fresh"; }
  /// Returns how grey levels become inputs of a discriminative RBM.
  BinariseOptions class_binarise() const {
    return binarise.empty() ? BinariseOptions{} : parse_binarise(binarise);
  }
};

/// Returns the learning rate asked for, or else that of the optimiser and the units.
double learning_rate(const TrainArguments& arguments);

/// Parses the kind of units of a side, "visible" or "hidden".
/// Throws  InvalidArgument naming the option
Unit parse_units(const char* side, const std::string& text);

/// Returns the negative phase with its options.
/// Throws  InvalidArgument naming what is wrong
Negative negative_of(const TrainArguments& arguments);

/// Returns the cases of an update: as asked for, or else 100, at most all of the data set's.
/// Throws  InvalidArgument if more are asked for
int batch_of(const TrainArguments& arguments, int cases, const std::string& data_name);

/// Counts the evaluations of a run, about.
double evaluation_count(const TrainArguments& arguments);

/// What makes training smaller, where it does not fit into memory.
inline constexpr const char* kLessTraining = "lower --hidden, --batch or --chains";

/// What is done before a training run, which is in memory meanwhile.
struct Preparation {
  std::string work = {};  ///< empty: nothing
  double seconds = 0;
  double bytes = 0;  ///< beside those of the training run
};

/// One training run from start or checkpoint to its end. Gaussian units are trained on standardised
/// cases; what is read, told and written is of the data as they are.
class TrainRun {
 public:
  /// Loads the data and makes the initial model; both arguments must outlive the run.
  /// Throws  DataError or InvalidArgument
  TrainRun(const TrainArguments& arguments, const Session& session);

  /// Heads the run's checkpoints: what a resumed run must agree on and the trainer does not know.
  std::string heading() const;

  Trainer& trainer() { return trainer_; }
  /// Makes a source of the cases, whose draws are of a key.
  std::shared_ptr<CaseSource> make_source(StreamKey key) const {
    return make_source_of(data_, key);
  }
  /// Begins anew from another model of the same shape.
  void start_from(Layered model) { trainer_ = make_trainer(std::move(model)); }
  /// States time and memory on stderr, of what comes before the training too.
  void state_cost(const Preparation& before = {}) const;
  /// Returns what a checkpoint holds of the evaluations, and goes on from it.
  std::string record() const { return evaluator_ ? evaluator_->save() : ""; }
  /// Returns  false if it is of evaluations of another kind, or there are none to be made
  bool take_record(std::string_view record);
  /// Refuses to replace curves that are not those of the run that goes on.  Throws  DataError
  void check_curves(bool goes_on) const;
  /// Notes and prints how good the model is now.
  void evaluate();
  void save_model() const;
  void print_result(std::uint64_t resumed_at) const;

 private:
  const Layered& model() const { return trainer_.model(); }
  std::shared_ptr<CaseSource> make_source_of(const Dataset& data, StreamKey key) const;
  std::vector<int> sizes() const;  ///< of the layers, as the data and --hidden say
  TrainingCost cost_of(const std::vector<int>& sizes, double chain_sweeps, int batch) const;
  void require_room(const TrainOptions& options) const;
  Trainer make_trainer(std::optional<Layered> start = {}) const;
  /// Draws what is drawn anew by draws of that name; empty: by those of the first update.
  Cases evaluated_cases(const Dataset& data, std::string_view draws = {}) const;
  Evaluator make_evaluator();
  int tracked_sweeps(const Layered& model) const;
  const Curves& curves() const;
  void print_evaluation(const Evaluation& now);
  void check_range(const Layered& model) const;  ///< Throws  Diverged
  Layered initial_model(StreamKey key) const;
  Layered start_model(std::span<const int> sizes, NetworkUnits units) const;
  std::string model_name() const;
  std::vector<std::string> warnings() const;

  const TrainArguments& arguments_;
  const Session& session_;
  Dataset data_;
  std::optional<Standardisation> standardisation_;  ///< of Gaussian units' cases
  Trainer trainer_;
  std::optional<Evaluator> evaluator_;
  std::string overlap_;   ///< what is to be said of validation cases that are training cases
  bool printed_ = false;  ///< an evaluation was
  Stopwatch watch_;
};

}  // namespace boltzmark::cli
