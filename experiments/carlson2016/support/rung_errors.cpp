#include "experiments/carlson2016/support/rung_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "experiments/kit/errors.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kEnoughPools = 5;

std::vector<const Trial*> pools(const Results& results, const std::string& model, int rungs) {
  return results.where({{"model", model}, {"rungs", rungs}});
}

/// Entry i is the mean square error of pool i, or that of estimate i over pools.
std::vector<double> mean_squares(const std::vector<std::vector<double>>& errors) {
  std::vector<double> all;
  if (errors.size() >= kEnoughPools)
    for (const std::vector<double>& pool : errors) all.push_back(std::pow(rmse(pool), 2));
  else
    for (std::size_t i = 0; !errors.empty() && i < errors[0].size(); ++i) {
      double sum = 0;
      for (const std::vector<double>& pool : errors) sum += pool[i] * pool[i];
      all.push_back(sum / static_cast<double>(errors.size()));
    }
  return all;
}

}  // namespace

std::vector<std::vector<double>> rung_errors(const Results& results, const std::string& model,
                                             int rungs, const std::string& method) {
  std::vector<std::vector<double>> all;
  for (const Trial* pool : pools(results, model, rungs)) {
    const Json& estimates = pool->outputs.at("log_z");
    if (!estimates.contains(method)) continue;
    all.push_back(numbers(estimates.at(method)));
    for (double& log_z : all.back()) log_z -= number(pool->outputs.at("truth"));
  }
  return all;
}

bool rung_pools_mixed(const Results& results, const std::string& model, int rungs) {
  const auto found = pools(results, model, rungs);
  return std::all_of(found.begin(), found.end(),
                     [](const Trial* pool) { return pool->outputs.value("mixed", true); });
}

RungErrors::RungErrors(const Results& results, const std::string& model, const std::string& method,
                       int least, int most) {
  for (const Json& value : results.inputs("rungs")) {
    const int rungs = value;
    auto errors = rung_errors(results, model, rungs, method);
    if (rungs < least || errors.empty() || !rung_pools_mixed(results, model, rungs)) continue;
    for (std::vector<double>& pool : errors)
      if (most > 0) pool.resize(std::min(pool.size(), static_cast<std::size_t>(most)));
    squares_.push_back(mean_squares(errors));
    rows_ = rungs_.empty() ? squares_.back().size() : std::min(rows_, squares_.back().size());
    rungs_.push_back(rungs);
  }
}

bool RungErrors::has(int rungs) const {
  return std::find(rungs_.begin(), rungs_.end(), rungs) != rungs_.end();
}

double RungErrors::rmse_of(std::size_t point, std::span<const std::size_t> rows) const {
  double sum = 0;
  for (const std::size_t row : rows) sum += squares_[point][row];
  return std::sqrt(sum / static_cast<double>(rows.size()));
}

double RungErrors::rmse(int rungs, std::span<const std::size_t> rows) const {
  const auto found = std::find(rungs_.begin(), rungs_.end(), rungs);
  return rmse_of(static_cast<std::size_t>(found - rungs_.begin()), rows);
}

double RungErrors::spread(std::span<const std::size_t> rows) const {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (std::size_t point = 0; point < squares_.size(); ++point) {
    low = std::min(low, rmse_of(point, rows));
    high = std::max(high, rmse_of(point, rows));
  }
  return high / low;
}

}  // namespace boltzmark::experiments
