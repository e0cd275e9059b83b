#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/minibatches.hpp"
#include "boltzmark/learn/negative.hpp"
#include "boltzmark/learn/optimiser.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/sample/parallel_tempering.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// What a training run does: stochastic gradient ascent on the log-likelihood.
struct TrainOptions {
  Negative negative = Negative::cd(1);
  Rule rule = Rule::gibbs();
  Optimiser optimiser = Optimiser::sgd();
  double learning_rate = Optimiser::sgd().default_rate();
  int batch = 0;              ///< cases per update; 0: all of them (batch learning)
  std::uint64_t updates = 0;  ///< how many `run` makes in all
};

/// Training left the range of finite numbers.
class Diverged : public Error {
 public:
  Diverged(std::uint64_t update, const std::string& reason);
  std::uint64_t update() const { return update_; }  ///< the update that failed, from 0

 private:
  std::uint64_t update_;
};

/// Trains an RBM of any units but Gaussian ones by CD-k, PCD-k or parallel tempering.
///   gradient = mean over cases of (v0 m(v0)') - mean over negative samples of (v m(v)'), m(v) the
///   mean of h given v: p(h|v) or psi_s     [bruegge2013, Sec. 4.2; yokoyama2019, Eqs. 11-13]
/// The negative samples number as many as a minibatch has cases: CD starts at the cases; PCD has a
/// persistent chain and PT a persistent ladder for each, read at b = 1. Persistent states start
/// uniformly random, which is the model's own law while its weights are near zero.
/// Randomness  minibatches (Purpose::minibatch), initial states (Purpose::initial_state), unit and
/// swap draws of `draws`, Philox under `key` by default: none depends on the rule
/// Invariant   the same bytes for any number of threads, and after checkpoint and restore
class Trainer {
 public:
  /// Shapes  data [visible x cases], values in the range of the visible units; it must outlive the
  /// trainer
  /// Throws  InvalidArgument if the model is not an RBM or has Gaussian units, shapes differ, or an
  /// option is outside its range
  Trainer(Layered model, const Eigen::MatrixXf& data, const TrainOptions& options, StreamKey key,
          std::shared_ptr<const Draws> draws = nullptr);
  Trainer(Layered, Eigen::MatrixXf&&, const TrainOptions&, StreamKey,
          std::shared_ptr<const Draws> = nullptr) = delete;

  /// Makes one update.  Throws  Diverged if a parameter would stop being finite in float32
  void step();

  /// Makes updates up to options().updates; calls `record` before the first one, after every
  /// `every` and after the last.  Throws  InvalidArgument if every < 1; what `record` throws
  void run(std::uint64_t every, const std::function<void(const Trainer&)>& record);

  std::uint64_t updates() const { return updates_; }  ///< made so far
  const Layered& model() const { return model_; }
  const TrainOptions& options() const { return options_; }
  /// Returns the gradient of the last update, before the optimiser.
  const Parameters& gradient() const { return gradient_; }
  /// Returns the cases of the last update.
  const std::vector<int>& cases() const { return cases_; }
  /// Returns the negative samples of the last update: v as drawn, h as means.
  const Chains& negative() const { return negative_; }
  /// Returns the persistent states, PCD's chains or the ladders', for a start of the caller's own;
  /// null for CD.
  Chains* persistent();
  /// Returns the ladders, or null if the negative phase has none.
  const ParallelTempering* tempering() const { return tempering_ ? &*tempering_ : nullptr; }

  /// Writes model, optimiser, persistent states and counters, with a fingerprint of all other
  /// inputs.
  std::string checkpoint() const;
  /// Continues from a checkpoint.
  /// Throws  DataError if the bytes are not a whole checkpoint or come from other inputs
  void restore(std::string_view bytes);

 private:
  void load_cases();
  void draw_negative();
  void draw_cd();
  void draw_persistent();
  void copy_visible(const Chains& from, Chains& to) const;
  std::span<const float> negative_weights() const;
  std::uint64_t fingerprint() const;

  Layered model_;
  const Eigen::MatrixXf* data_;
  TrainOptions options_;
  StreamKey key_;
  std::shared_ptr<const Draws> draws_;
  Minibatches minibatches_;
  Chains positive_;
  Chains negative_;
  PackedModel packed_;
  std::vector<float> inputs_;  // of the hidden layer by the cases
  std::optional<Chains> persistent_;
  std::optional<ParallelTempering> tempering_;
  Parameters gradient_;
  std::optional<AdaptiveSteps> adaptive_;  ///< unless the optimiser is sgd
  std::vector<int> cases_;
  std::vector<float> case_weights_;  ///< empty while a minibatch is full
  std::uint64_t updates_ = 0;
};

}  // namespace boltzmark
