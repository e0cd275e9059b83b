#include "boltzmark/target/step_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

StepSizes StepSizes::fixed(double step) {
  return {Ladder::linear(2), Eigen::VectorXd::Constant(2, step)};
}

StepSizes::StepSizes(const Ladder& ladder, const Eigen::VectorXd& steps) : ladder_(ladder) {
  if (steps.size() != ladder.rungs())
    throw InvalidArgument(
        fmt::format("steps = {} values (must be {}, one a rung)", steps.size(), ladder.rungs()));
  for (const double step : steps)
    if (!(step > 0) || !std::isfinite(step))
      throw InvalidArgument(fmt::format("step = {} (must be positive and finite)", step));
  log_steps_ = steps.array().log();
}

double StepSizes::operator()(double b) const {
  const std::vector<float>& rungs = ladder_.singles();
  const auto above = std::clamp(std::upper_bound(rungs.begin(), rungs.end(), b), rungs.begin() + 1,
                                rungs.end() - 1);
  const auto k = above - rungs.begin();
  const double low = ladder_[static_cast<int>(k) - 1], high = ladder_[static_cast<int>(k)];
  const double share = (b - low) / (high - low);
  return std::exp((1 - share) * log_steps_[k - 1] + share * log_steps_[k]);
}

double StepSizes::mean() const { return log_steps_.array().exp().mean(); }

Eigen::VectorXd antitonic(const Eigen::VectorXd& values) {
  struct Pool {
    double sum;
    Eigen::Index size;
    double mean() const { return sum / static_cast<double>(size); }
  };
  // Pool adjacent violators [Barlow et al. 1972].
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() < pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().size + last.size};
    }
  }
  Eigen::VectorXd result(values.size());
  Eigen::Index at = 0;
  for (const Pool& pool : pools) {
    result.segment(at, pool.size).setConstant(pool.mean());
    at += pool.size;
  }
  return result;
}

}  // namespace boltzmark
