#pragma once

#include <algorithm>

namespace boltzmark::experiments {

/// The seconds by which others are judged to be silent. What passed since it was last asked, as while this
/// process was stopped, waited for a disk or had more to hear, counts as one beat at most: what they said
/// meanwhile may not be heard yet.
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
