#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "boltzmark/learn/discriminative.hpp"
#include "boltzmark/learn/minibatches.hpp"
#include "boltzmark/learn/optimiser.hpp"

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
class DiscriminativeTrainer {
 public:
  /// The cases must outlive the trainer.
  /// Throws  InvalidArgument if the model's sizes are others or an option is outside its range
  DiscriminativeTrainer(DiscriminativeRbm model, const LabelledCases& cases,
                        const DiscriminativeOptions& options, StreamKey key);
  DiscriminativeTrainer(DiscriminativeRbm, LabelledCases&&, const DiscriminativeOptions&,
                        StreamKey) = delete;

  /// Makes one update.  Throws  Diverged if a parameter would stop being finite
  void step();
  /// Makes updates up to options().updates; calls `record` before the first one, after every
  /// `every` and after the last.  Throws  InvalidArgument if every < 1; what `record` throws
  void run(std::uint64_t every, const std::function<void(const DiscriminativeTrainer&)>& record);

  std::uint64_t updates() const { return updates_; }  ///< made so far
  std::uint64_t updates_per_epoch() const;
  const DiscriminativeRbm& model() const { return model_; }
  const DiscriminativeOptions& options() const { return options_; }
  /// Returns the gradient of the last update, before the optimiser.
  const Parameters& gradient() const { return gradient_; }

  /// Writes model, optimiser and counter, with a fingerprint of all other inputs.
  std::string checkpoint() const;
  /// Continues from a checkpoint.
  /// Throws  DataError if the bytes are not a whole checkpoint or come from other inputs
  void restore(std::string_view bytes);

 private:
  std::uint64_t fingerprint() const;

  DiscriminativeRbm model_;
  const LabelledCases* cases_;
  DiscriminativeOptions options_;
  StreamKey key_;
  Minibatches minibatches_;
  std::optional<AdaptiveSteps> adaptive_;  ///< unless the optimiser is sgd
  Parameters gradient_;
  std::uint64_t updates_ = 0;
};

}  // namespace boltzmark
