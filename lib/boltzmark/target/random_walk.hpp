#pragma once

#include "boltzmark/target/continuous.hpp"

namespace boltzmark {

/// Random-walk Metropolis: proposes x + step n, n standard normal.     [carlson2016, Appendix E.1]
class RandomWalk final : public ContinuousKernel {
 public:
  double move(const ContinuousDensity& density, double b, double step, Stream& stream,
              PointOut x) const override;
  double target_acceptance() const override { return 0.234; }  // [Roberts, Gelman and Gilks 1997]
};

}  // namespace boltzmark
