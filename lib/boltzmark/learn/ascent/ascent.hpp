#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/ascent/optimiser.hpp"

namespace boltzmark {

/// Training left the range of finite numbers.
class Diverged : public Error {
 public:
  Diverged(std::uint64_t update, const std::string& reason);
  std::uint64_t update() const { return update_; }  ///< the update that failed, from 0

 private:
  std::uint64_t update_;
};

/// The loop of every training: an update is the gradient of some objective, made a step by an
/// optimiser and added to the model. What the gradient is and where it comes from, phases and
/// samplers included, is the derived trainer's; counting, recording and saving are here.
/// Invariant  after checkpoint and restore the same bytes as without
class Ascent {
 public:
  virtual ~Ascent() = default;

  /// Makes one update.  Throws  Diverged if a parameter would stop being finite
  void step();
  /// Makes so many updates more.
  void advance(std::uint64_t updates);

  std::uint64_t updates() const { return updates_; }  ///< made so far
  /// Returns the gradient of the last update, before the optimiser.
  const Parameters& gradient() const { return gradient_; }

  /// Writes model, optimiser, samples and counters, with the names of all other inputs.
  std::string checkpoint() const;
  /// Continues from a checkpoint.
  /// Throws  DataError if the bytes are not a whole checkpoint or come from other inputs
  void restore(std::string_view bytes);

 protected:
  /// Throws  InvalidArgument if the rate or a setting of the optimiser is outside its range
  Ascent(Parameters zero, const Optimiser& optimiser, double rate);
  /// Makes updates up to `updates` in all; calls `record` before the first one, after every `every`
  /// and after the last.  Throws  InvalidArgument if every < 1; what `record` throws
  void run_to(std::uint64_t updates, std::uint64_t every, const std::function<void()>& record);
  Ascent(Ascent&&) = default;
  Ascent& operator=(Ascent&&) = default;

 private:
  /// Overwrites the gradient by that of the model now.
  virtual void fill_gradient(Parameters& gradient) = 0;
  /// Adds a step to the model.  Throws  Error if a parameter would stop being finite
  virtual void change(const Step& step) = 0;
  /// Names all that the next updates depend on and that a checkpoint does not hold.
  virtual CheckpointInputs inputs() const = 0;
  /// Writes and reads back the rest, the model first. What is read is whole and of this shape.
  virtual void save(CheckpointWriter& out) const = 0;
  virtual void load(CheckpointReader& in) = 0;

  Optimiser optimiser_;
  std::unique_ptr<Steps> steps_;
  Parameters gradient_;
  std::uint64_t updates_ = 0;
};

}  // namespace boltzmark
