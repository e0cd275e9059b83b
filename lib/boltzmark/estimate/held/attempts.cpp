#include "boltzmark/estimate/held/attempts.hpp"

#include <fmt/format.h>

#include <limits>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

constexpr int kGrowth = 2;

std::optional<std::string> obstacle_to(const AttemptOptions& options, int last_sweeps) {
  if (last_sweeps > std::numeric_limits<int>::max() / kGrowth)
    return fmt::format("twice {} sweeps are too many", last_sweeps);
  return options.obstacle ? options.obstacle(kGrowth * last_sweeps) : std::nullopt;
}

}  // namespace

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
