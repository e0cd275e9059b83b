#include "boltzmark/estimate/held/attempts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr double kLeastGrowth = 2, kMostGrowth = 16;
constexpr double kBlindGrowth = 4;  // where there is no standard error to go by

bool reached(const Estimate& estimate, double std_error) {
  return estimate.status == Status::ok && estimate.std_error <= std_error;
}

double growth(const Estimate& estimate, double std_error) {
  const double ratio = estimate.std_error / std_error;
  return std::isfinite(ratio) ? std::clamp(1.2 * ratio * ratio, kLeastGrowth, kMostGrowth)
                              : kBlindGrowth;
}

void check(const TargetErrorOptions& options) {
  if (!(options.std_error > 0))
    throw InvalidArgument(fmt::format("std_error = {} (must be positive)", options.std_error));
  if (options.sweeps < 1 || options.sweeps > options.most_sweeps)
    throw InvalidArgument(
        fmt::format("sweeps = {} (must be within 1..{})", options.sweeps, options.most_sweeps));
}

constexpr int kGrowth = 2;

std::optional<std::string> obstacle_to(const AttemptOptions& options, int last_sweeps) {
  if (last_sweeps > std::numeric_limits<int>::max() / kGrowth)
    return fmt::format("twice {} sweeps are too many", last_sweeps);
  return options.obstacle ? options.obstacle(kGrowth * last_sweeps) : std::nullopt;
}

}  // namespace

std::optional<std::string> lasting_obstacle(const Method& method, int chains) {
  if (method.source != Source::annealed || chains > kFewEffectiveSamples) return std::nullopt;
  return fmt::format("annealed chains are a sample each, and {} are too few", chains);
}

Estimate estimate_to_error(const TargetErrorOptions& options, const EstimateRun& run) {
  check(options);
  int number = 0;
  double sweeps = options.sweeps;
  Estimate estimate = run(options.sweeps, number);
  std::optional<std::string> obstacle;
  const auto runs_on = [&] {
    if (options.obstacle) obstacle = options.obstacle(static_cast<int>(sweeps));
    if (!obstacle) estimate = run(static_cast<int>(sweeps), ++number);
    return !obstacle;
  };
  while (!reached(estimate, options.std_error) && kLeastGrowth * sweeps <= options.most_sweeps) {
    sweeps = std::min<double>(options.most_sweeps, sweeps * growth(estimate, options.std_error));
    if (!runs_on()) break;
  }
  if (reached(estimate, options.std_error) && !runs_on())
    estimate.warnings.push_back(
        "the search ended with this run, whose error may be too small by that: " + *obstacle);
  else if (!reached(estimate, options.std_error))
    estimate.warnings.push_back("the target error was not reached" +
                                (obstacle ? ": " + *obstacle : ""));
  return estimate;
}

Estimate estimate_until_ok(const AttemptOptions& options, const EstimateRun& run) {
  if (options.sweeps < 1 || options.most < 1)
    throw InvalidArgument(fmt::format("sweeps = {}, attempts = {} (must be at least 1)",
                                      options.sweeps, options.most));
  int sweeps = options.sweeps;
  for (int number = 0;; ++number, sweeps *= kGrowth) {
    Estimate estimate = run(sweeps, number);
    if (estimate.status == Status::ok || number + 1 == options.most) return estimate;
    if (const auto obstacle = obstacle_to(options, sweeps)) {
      estimate.warnings.push_back("not tried again: " + *obstacle);
      return estimate;
    }
  }
}

}  // namespace boltzmark
