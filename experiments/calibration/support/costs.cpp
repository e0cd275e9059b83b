#include "experiments/calibration/support/costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace boltzmark::experiments {
namespace {

constexpr double kNats = 0.1;

// In units of the least.
double log_sweeps(const ZooOutcome& outcome) {
  const double errors = outcome.std_error / kNats;
  return std::log(std::max(outcome.sweeps * errors * errors / kLeastSweeps, 1.0));
}

}  // namespace

double ModelCosts::of(const std::string& method) const {
  const auto found = sweeps.find(method);
  return found == sweeps.end() ? HUGE_VAL : found->second;
}

std::string ModelCosts::best() const {
  const auto least =
      std::min_element(sweeps.begin(), sweeps.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return least == sweeps.end() ? "" : least->first;
}

double ModelCosts::excess(const std::string& method) const {
  const std::string cheapest = best();
  return cheapest.empty() ? std::numeric_limits<double>::quiet_NaN() : of(method) / of(cheapest);
}

std::vector<ModelCosts> costs_of(const std::vector<ZooOutcome>& outcomes) {
  std::map<const ZooModel*, std::map<std::string, std::vector<double>>> logs;
  for (const ZooOutcome& outcome : outcomes)
    logs[outcome.model][outcome.method].push_back(outcome.ok ? log_sweeps(outcome) : HUGE_VAL);
  std::vector<ModelCosts> all;
  for (const ZooModel& model : zoo()) {
    const auto found = logs.find(&model);
    if (found == logs.end()) continue;
    ModelCosts costs{.model = &model};
    for (const auto& [method, values] : found->second)
      if (const double mean = mean_of(values); std::isfinite(mean))
        costs.sweeps[method] = kLeastSweeps * std::exp(mean);
    all.push_back(std::move(costs));
  }
  return all;
}

}  // namespace boltzmark::experiments
