#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/io/dataset.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"
#include "tools/boltzmark/command.hpp"
#include "tools/boltzmark/commands/train/train_run.hpp"
#include "tools/boltzmark/progress.hpp"

namespace boltzmark::cli {

/// How well the training cases are classified on the way.
struct ClassEvaluation {
  std::uint64_t update = 0;
  ClassScore score;
};

/// One training run of a discriminative RBM from start or checkpoint to its end.
class ClassTrainRun {
 public:
  /// Loads the data and makes the initial model; both arguments must outlive the run.
  /// Throws  DataError or InvalidArgument
  ClassTrainRun(const TrainArguments& arguments, const Session& session);

  /// Heads the run's checkpoints: what a resumed run must agree on and the trainer does not know.
  std::string heading() const { return "boltzmark train 1, discriminative\n"; }

  DiscriminativeTrainer& trainer() { return trainer_; }
  /// States time and memory on stderr.
  void state_cost() const;
  /// Returns what a checkpoint holds of the evaluations, and goes on from it.
  std::string record() const;
  /// Returns  false if --evaluate was another.  Throws  DataError if it is damaged
  bool take_record(std::string_view record);
  /// Notes and prints how good the model is now.
  void evaluate();
  void save_model() const;
  /// How grey levels among the cases became inputs; none where there were none.
  std::optional<BinariseOptions> binarised() const;
  void print_result(std::uint64_t resumed_at) const;

 private:
  DiscriminativeTrainer make_trainer() const;
  const DiscriminativeRbm& model() const { return trainer_.model(); }

  const TrainArguments& arguments_;
  const Session& session_;
  Dataset data_;
  LabelledCases cases_;
  std::vector<std::string> warnings_;
  DiscriminativeTrainer trainer_;
  std::vector<ClassEvaluation> evaluations_;
  bool printed_ = false;  ///< an evaluation was
  Stopwatch watch_;
};

}  // namespace boltzmark::cli
