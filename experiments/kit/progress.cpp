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

Progress::Progress(std::size_t trials, double estimated_seconds, bool visible)
    : trials_(trials), total_(std::max(estimated_seconds, 1e-9)), start_(now_seconds()) {
  if (visible && trials > 0 && isatty(STDERR_FILENO))
    drawer_ = std::thread([this] { draw_loop(); });
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (!drawer_.joinable()) return;
  drawer_.join();
  fmt::print(stderr, "\r\033[K");
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
  while (!stop_) {
    draw();
    wake_.wait_for(lock, std::chrono::milliseconds(200));
  }
}

void Progress::draw() {
  double done = done_;
  for (const auto& [trial, part] : running_) done += part;
  const double share = std::clamp(done / total_, 0.0, 1.0);
  const double elapsed = now_seconds() - start_;
  const int filled = static_cast<int>(std::lround(20 * share));
  const std::string left =
      share > 0.01 ? duration_text(elapsed * (1 - share) / share) + " left" : "";
  fmt::print(stderr, "\r\033[K{}{} {:3.0f} %  {}/{} trials, {:.2g}/s  {}  {}",
             std::string(static_cast<std::size_t>(filled), '#'),
             std::string(static_cast<std::size_t>(20 - filled), '-'), 100 * share, finished_,
             trials_, static_cast<double>(finished_) / std::max(elapsed, 1e-3), left, name_);
  std::fflush(stderr);
}

}  // namespace boltzmark::experiments
