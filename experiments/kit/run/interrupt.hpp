#pragma once

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {

/// Thrown through a trial when the user asked to stop; the trial is not stored.
class Interrupted : public Error {
 public:
  Interrupted() : Error("interrupted") {}
};

/// Turns the first Ctrl-C (or SIGTERM) into a flag while it lives; a second one ends the program.
/// Handlers of before come back after it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  using Handler = void (*)(int);
  Handler interrupt_, terminate_;
};

/// Tells whether Ctrl-C was pressed since the last guard was made.
bool interrupt_requested();

}  // namespace boltzmark::experiments
