#include "experiments/carlson2016/support/rung_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/errors.hpp"

namespace boltzmark::experiments {
namespace {

std::vector<const Trial*> pools(const Results& results, const std::string& model, int rungs) {
  return results.where({{"model", model}, {"rungs", rungs}});
}

/// The mean square error of each pool, or the square of each estimate of the one pool of
/// independent draws.
std::vector<double> mean_squares(const std::vector<std::vector<double>>& errors, bool chains) {
  std::vector<double> all;
  for (const std::vector<double>& pool : errors)
    if (chains)
      all.push_back(std::pow(rmse(pool), 2));
    else
      for (const double error : pool) all.push_back(error * error);
  return all;
}

bool are_chains(const Results& results, const std::string& model, int rungs) {
  return pools(results, model, rungs).front()->inputs.contains("sweeps");
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

std::vector<int> rungs_estimated(const Results& results, const std::string& model,
                                 const std::string& method, int least) {
  std::vector<int> found;
  for (const Json& rungs : results.inputs("rungs"))
    if (rungs >= least && !rung_errors(results, model, rungs, method).empty())
      found.push_back(rungs);
  return found;
}

PoolCount count_pools(const Results& results, const std::string& model, int rungs) {
  PoolCount count;
  for (const Trial* pool : pools(results, model, rungs)) {
    const std::int64_t trips = pool->outputs.value("round_trips", std::int64_t{0});
    count.fewest_trips = count.all == 0 ? trips : std::min(count.fewest_trips, trips);
    count.most_trips = std::max(count.most_trips, trips);
    ++count.all;
    count.refused += pool->outputs.value("mixed", true) ? 0 : 1;
  }
  return count;
}

RungErrors::RungErrors(const Results& results, const std::string& model, const std::string& method,
                       std::vector<int> rungs, int most)
    : rungs_(std::move(rungs)) {
  for (const int k : rungs_) {
    auto errors = rung_errors(results, model, k, method);
    for (std::vector<double>& pool : errors)
      if (most > 0) pool.resize(std::min(pool.size(), static_cast<std::size_t>(most)));
    for (const std::vector<double>& pool : errors)
      if (pool.empty() || pool.size() != errors[0].size())
        throw InvalidArgument(
            fmt::format("estimates by {} at K = {} are {} and {} (must be as many of every pool)",
                        method, k, errors[0].size(), pool.size()));
    if (errors.empty())
      throw InvalidArgument(
          fmt::format("estimates by {} at K = {} are none (must be there)", method, k));
    squares_.push_back(mean_squares(errors, are_chains(results, model, k)));
  }
}

std::vector<std::size_t> RungErrors::rows() const {
  std::vector<std::size_t> sizes;
  for (const std::vector<double>& squares : squares_) sizes.push_back(squares.size());
  return sizes;
}

bool RungErrors::has(int rungs) const {
  return std::find(rungs_.begin(), rungs_.end(), rungs) != rungs_.end();
}

double RungErrors::rmse_of(std::size_t point, const std::vector<std::size_t>& rows) const {
  double sum = 0;
  for (const std::size_t row : rows) sum += squares_[point][row];
  return std::sqrt(sum / static_cast<double>(rows.size()));
}

double RungErrors::rmse(int rungs, const Strata& rows) const {
  const auto point =
      static_cast<std::size_t>(std::find(rungs_.begin(), rungs_.end(), rungs) - rungs_.begin());
  return rmse_of(point, rows[point]);
}

double RungErrors::spread(const Strata& rows) const {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (std::size_t point = 0; point < squares_.size(); ++point) {
    const double found = rmse_of(point, rows[point]);
    low = std::min(low, found);
    high = std::max(high, found);
  }
  return high / low;
}

std::vector<WithInterval> RungErrors::estimates() const {
  std::vector<WithInterval> all;
  for (std::size_t point = 0; point < squares_.size(); ++point) {
    const std::size_t sizes[] = {squares_[point].size()};
    const auto root = [&](const Strata& rows) { return rmse_of(point, rows[0]); };
    if (sizes[0] < 2) {
      all.push_back({.value = root({{0}})});
      continue;
    }
    const BootstrapInterval found =
        bootstrap_strata(sizes, root, {.key = make_key(1, "rmse", std::to_string(rungs_[point]))});
    all.push_back({.value = found.estimate, .lower = found.lower, .upper = found.upper});
  }
  return all;
}

}  // namespace boltzmark::experiments
