#pragma once

#include <cstdint>
#include <functional>

#include "boltzmark/learn/ascent/ascent.hpp"
#include "boltzmark/learn/cases/minibatches.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"

namespace boltzmark {

/// What a discriminative training run does.
struct DiscriminativeOptions {
  Optimiser optimiser = Optimiser::adamax();
  double learning_rate = Optimiser::adamax().default_rate();
  int batch = 0;              ///< cases per update; 0: all of them (batch learning)
  std::uint64_t updates = 0;  ///< how many `run` makes in all
};

/// Trains a discriminative RBM by ascent on the exact gradients of minibatches.
///                                                                     [yokoyama2019, Sec. 3]
/// Randomness  minibatches (key, Purpose::minibatch)
/// Invariant   the same bytes for any number of threads, and after checkpoint and restore
class DiscriminativeTrainer final : public Ascent {
 public:
  /// The cases must outlive the trainer.
  /// Throws  InvalidArgument if the model's sizes are others or an option is outside its range
  DiscriminativeTrainer(DiscriminativeRbm model, const LabelledCases& cases,
                        const DiscriminativeOptions& options, StreamKey key);
  DiscriminativeTrainer(DiscriminativeRbm, LabelledCases&&, const DiscriminativeOptions&,
                        StreamKey) = delete;

  /// Makes updates up to options().updates; calls `record` before the first one, after every
  /// `every` and after the last.  Throws  InvalidArgument if every < 1; what `record` throws
  void run(std::uint64_t every, const std::function<void(const DiscriminativeTrainer&)>& record) {
    run_to(options_.updates, every, [&] { record(*this); });
  }

  std::uint64_t updates_per_epoch() const;
  const DiscriminativeRbm& model() const { return model_; }
  const DiscriminativeOptions& options() const { return options_; }

 private:
  void fill_gradient(Parameters& gradient) override;
  void change(const Step& step) override { model_.add(step.direction, step.rate); }
  CheckpointInputs inputs() const override;
  void save(CheckpointWriter& out) const override;
  void load(CheckpointReader& in) override;

  DiscriminativeRbm model_;
  const LabelledCases* cases_;
  DiscriminativeOptions options_;
  StreamKey key_;
  Minibatches minibatches_;
};

}  // namespace boltzmark
