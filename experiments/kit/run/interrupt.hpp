#pragma once

#include <string>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {

/// Thrown through work when the user asked to stop: a trial is not stored. The text says what is kept.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& text = "interrupted") : Error(text) {}
};

/// Turns the first Ctrl-C (or SIGTERM, or SIGHUP unless nohup ignores it) into a flag while it
/// lives; a second one ends the program. Handlers of before come back after it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  using Handler = void (*)(int);
  Handler interrupt_, terminate_, hang_up_;
};

/// Tells whether Ctrl-C was pressed since the last guard was made.
bool interrupt_requested();

}  // namespace boltzmark::experiments
