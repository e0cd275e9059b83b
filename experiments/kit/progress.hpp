#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace boltzmark::experiments {

/// Writes a duration for people: "45 s", "3 min 20 s", "5 h 10 min".
std::string duration_text(double seconds);
/// Writes one that is estimated: "about 45 s", "under 1 s".
std::string about_text(double seconds);
/// Foretells by the rate so far what the rest of some work takes: "45 s left"; nothing before there
/// is a rate.  share  of the work that is done
std::string left_text(double elapsed, double share);

/// Draws a bar with rate and time left on stderr while it lives; where that is no terminal, writes a
/// line of what is done now and then. Work is measured in estimated seconds, so that long trials weigh more.
class Progress {
 public:
  Progress(std::size_t trials, double estimated_seconds, bool visible,
           std::chrono::milliseconds between_lines = std::chrono::minutes(1));
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Notes that a share of a running trial is done.
  void advance(const void* trial, double weight, double fraction, const std::string& name);
  /// Notes that a trial has ended.
  void finish(const void* trial, double weight);

 private:
  void draw_loop();
  void draw();
  void write_line();
  double share_done() const;
  std::size_t trials_, finished_ = 0;
  double total_, done_ = 0;
  std::map<const void*, double> running_;
  std::string name_;
  double start_;
  bool terminal_;
  std::chrono::milliseconds between_;  ///< two drawings, or lines
  bool stop_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::thread drawer_;
};

/// Returns the seconds of a steady clock.
double now_seconds();

}  // namespace boltzmark::experiments
