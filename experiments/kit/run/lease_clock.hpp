#pragma once

#include <algorithm>

namespace boltzmark::experiments {

/// The seconds by which others are judged to be silent. What this process was away for itself, stopped
/// or waiting for a disk, counts as one beat at most: what they said meanwhile is not heard yet.
class LeaseClock {
 public:
  LeaseClock(double lease_seconds, double now) : most_(lease_seconds / 5), last_(now) {}
  double seconds_at(double now) {
    seconds_ += std::min(now - last_, most_);
    last_ = now;
    return seconds_;
  }

 private:
  double most_, last_, seconds_ = 0;
};

}  // namespace boltzmark::experiments
