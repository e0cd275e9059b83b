#include "experiments/kit/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace boltzmark::experiments {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string duration_text(double seconds) {
  if (seconds < 0.95) return "under 1 s";
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600)
    return whole % 60 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} min", whole / 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string about_text(double seconds) {
  const std::string text = duration_text(seconds);
  return text.starts_with("under") ? text : "about " + text;
}

std::string left_text(double elapsed, double share) {
  if (share <= 0.01) return "";
  return duration_text(elapsed * (1 - share) / share) + " left";
}

Progress::Progress(std::size_t trials, double estimated_seconds, bool visible,
                   std::chrono::milliseconds between_lines)
    : trials_(trials),
      total_(std::max(estimated_seconds, 1e-9)),
      start_(now_seconds()),
      terminal_(isatty(STDERR_FILENO) != 0),
      between_(terminal_ ? std::chrono::milliseconds(200) : between_lines) {
  if (visible && trials > 0) drawer_ = std::thread([this] { draw_loop(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (!drawer_.joinable()) return;
  drawer_.join();
  if (terminal_) fmt::print(stderr, "\r\033[K");
}

void Progress::advance(const void* trial, double weight, double fraction, const std::string& name) {
  const std::lock_guard lock(mutex_);
  running_[trial] = weight * std::clamp(fraction, 0.0, 1.0);
  name_ = name;
}

void Progress::finish(const void* trial, double weight) {
  const std::lock_guard lock(mutex_);
  running_.erase(trial);
  done_ += weight;
  ++finished_;
}

void Progress::draw_loop() {
  std::unique_lock lock(mutex_);
  if (terminal_) draw();
  while (!wake_.wait_for(lock, between_, [this] { return stop_; }))
    if (terminal_)
      draw();
    else
      write_line();
}

double Progress::share_done() const {
  double done = done_;
  for (const auto& [trial, part] : running_) done += part;
  return std::clamp(done / total_, 0.0, 1.0);
}

void Progress::write_line() {
  const double share = share_done(), elapsed = now_seconds() - start_;
  std::string left = left_text(elapsed, share);
  if (left.empty()) left = about_text(total_ * (1 - share)) + " on 2 cores left";
  fmt::print(stderr, "after {}: {} of {} trials, {:.0f} %, {}; now {}\n", duration_text(elapsed),
             finished_, trials_, 100 * share, left, name_);
  std::fflush(stderr);
}

void Progress::draw() {
  const double share = share_done();
  const double elapsed = now_seconds() - start_;
  const int filled = static_cast<int>(std::lround(20 * share));
  fmt::print(stderr, "\r\033[K{}{} {:3.0f} %  {}/{} trials, {:.2g}/s  {}  {}",
             std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(20 - filled), '-'), 100 * share, finished_,
             trials_, static_cast<double>(finished_) / std::max(elapsed, 1e-3),
             left_text(elapsed, share), name_);
  std::fflush(stderr);
}

}  // namespace boltzmark::experiments
