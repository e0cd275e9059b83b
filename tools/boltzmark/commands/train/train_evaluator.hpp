#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "boltzmark/estimate/held/log_z_tracker.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "tools/boltzmark/commands/train/train_curves.hpp"

namespace boltzmark::cli {

/// What a model is evaluated by while it is trained.
struct EvaluatorOptions {
  int every = 1;   ///< updates
  Cases training;  ///< as they are trained on
  std::optional<Cases> validation = std::nullopt;
  double log_volume = 0;                    ///< of standardised cases' units
  MeanFieldStop mean_field = {};            ///< of bounds
  int sweeps = 0;                           ///< of a tracked log Z; 0: it is enumerated
  std::optional<Base> base = std::nullopt;  ///< of a tracked log Z
  ModeSearch search = {};                   ///< of a tracked log Z: what it is held to
  std::uint64_t seed = 0;                   ///< of its draws, which training has no part in
  std::uint64_t validation_hash = 0;        ///< of the cases as they were given
};

/// Evaluates a model on its way and keeps what it found: exact log-likelihoods, or with log Z
/// tracked by RTS. Training does not notice.
class Evaluator {
 public:
  explicit Evaluator(EvaluatorOptions options);

  /// Evaluates the model of now, if that was not done before.  Returns  whether it was done now
  bool evaluate(const Trainer& trainer);
  const Curves& curves() const { return curves_; }

  /// Writes all evaluations and what the next one depends on.
  std::string save() const;
  /// Goes on from there, without the evaluation that ended a shorter run, if `every` does not ask
  /// for it.  Returns  false if the bytes are of other options
  /// Throws  DataError if they are damaged
  bool restore(std::string_view bytes, const Layered& model);

  /// Foretells the seconds of so many evaluations, and what they hold in memory.
  double seconds(const Layered& model, double count) const;
  double bytes(const Layered& model) const;

 private:
  std::uint64_t identity() const;
  bool asked_for(std::uint64_t update) const;
  Eigen::VectorXd log_f(const Layered& model, const Cases& cases) const;
  void find_log_z(const Layered& model, double lowest, Evaluation& now);
  void hold_to_modes(const Layered& model, TrackedLogZ& found) const;

  EvaluatorOptions options_;
  std::optional<LogZTracker> tracker_;
  Curves curves_;
};

}  // namespace boltzmark::cli
