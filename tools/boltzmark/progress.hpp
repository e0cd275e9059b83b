#pragma once

#include <chrono>
#include <string>

#include "boltzmark/model/layered.hpp"
#include "command.hpp"

namespace boltzmark::cli {

/// States what long work will take: one line on stderr, before it starts.
/// What does not fit into the memory that is free is refused, with what makes it smaller: call it
/// before anything is allocated.
/// It is written when stderr is a terminal or the work is to last 10 s or more; never with --quiet.
/// Throws  InvalidArgument as require_memory
void state_plan(const Session& session, const std::string& work, double seconds, double bytes,
                const std::string& remedy);

/// Says it alone: where it was found before that it fits.
void announce_plan(const Session& session, const std::string& work, double seconds, double bytes);

/// Estimates the time of sweeps of a model's chains on the threads in use, chains times sweeps of
/// them: a product costs 0.05 ns a core and side, a draw and its decision 1 ns.
double sweep_seconds(const Layered& model, double chain_sweeps);

/// Computes the memory of a model's weights, their packed form included.
double weight_bytes(const Layered& model);

/// A line on stderr that shows how far the work is: bar, rate and time left.
/// It is drawn only on a terminal, at most ten times a second, and wiped out at the end.
class Progress {
 public:
  /// `total` counts what the rate is given in: "states", "updates".
  Progress(const Session& session, std::string label, double total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows that this much of the total is done.
  void show(double done);

 private:
  using Clock = std::chrono::steady_clock;
  bool visible_;
  bool drawn_ = false;
  std::string label_;
  double total_;
  std::string unit_;
  Clock::time_point start_;
  Clock::time_point last_;
  double first_done_ = -1;  ///< resumed work starts here
};

/// A clock that starts when it is made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace boltzmark::cli
