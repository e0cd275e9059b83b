#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boltzmark/io/dataset.hpp"
#include "boltzmark/learn/discriminative_trainer.hpp"
#include "command.hpp"
#include "progress.hpp"
#include "train_loop.hpp"
#include "train_run.hpp"

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

  /// States time and memory on stderr.
  void state_cost() const;
  /// Goes on from the checkpoint if there is one.  Throws  DataError if it is another run's
  void resume();
  /// Makes all updates.  Throws  Interrupted on Ctrl-C, after saving the checkpoint
  void train();
  void save_model() const;
  void print_result() const;

 private:
  DiscriminativeTrainer make_trainer() const;
  LoopOptions loop() const;
  void evaluate();
  const DiscriminativeRbm& model() const { return trainer_.model(); }

  const TrainArguments& arguments_;
  const Session& session_;
  Dataset data_;
  LabelledCases cases_;
  std::vector<std::string> warnings_;
  DiscriminativeTrainer trainer_;
  std::vector<ClassEvaluation> evaluations_;
  std::uint64_t resumed_at_ = 0;
  Stopwatch watch_;
};

}  // namespace boltzmark::cli
