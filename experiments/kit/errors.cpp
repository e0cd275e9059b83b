#include "experiments/kit/errors.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "boltzmark/core/quantiles.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kMostFreedom = 1e6;  // of which limits are within 0.14 % of the value

double spread_of(const std::vector<double>& values) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

void set_moments(ErrorCell& cell) {
  const WithInterval found = rmse_estimate(cell.errors);
  cell.mean = mean_of(cell.errors);
  cell.std_dev = cell.empty() ? 0 : spread_of(cell.errors);
  cell.rmse = found.value;
  cell.lower = found.lower;
  cell.upper = found.upper;
}

}  // namespace

double rmse(std::span<const double> errors) {
  double squares = 0;
  for (const double error : errors) squares += error * error;
  return std::sqrt(squares / static_cast<double>(errors.size()));
}

double squares_freedom(std::span<const double> errors) {
  const auto n = static_cast<double>(errors.size());
  if (errors.size() < 2) return n;
  const double mean = mean_of(errors);
  double variance = 0;
  for (const double error : errors) variance += (error - mean) * (error - mean) / (n - 1);
  const double bias = std::max(0.0, mean * mean - variance / n);
  if (!(variance + bias > 0)) return n;
  // The spread is known by n errors alone: where the bias is large, limits are Student's.
  const double wider = std::pow(students_t_quantile(n - 1, 0.975) / 1.959964, 2);
  const double freedom =
      n * std::pow(variance + bias, 2) / std::max(variance * (variance + 2 * wider * bias), 1e-300);
  return std::clamp(freedom, n, std::max(n, kMostFreedom));
}

WithInterval rmse_estimate(std::span<const double> errors) {
  const double freedom = squares_freedom(errors), value = rmse(errors);
  return {.value = value,
          .lower = value * std::sqrt(freedom / chi_squared_quantile(freedom, 0.975)),
          .upper = value * std::sqrt(freedom / chi_squared_quantile(freedom, 0.025))};
}

Json describe_estimate(const Estimate& estimate) {
  return {{"log_z", estimate.log_z},
          {"std_error", estimate.std_error},
          {"lower", estimate.lower},
          {"upper", estimate.upper},
          {"status", std::string(name(estimate.status))}};
}

Outcome read_outcome(const Json& output, double truth) {
  return {.truth = truth,
          .estimate = number(output.at("log_z")),
          .std_error = number(output.at("std_error")),
          .lower = number(output.at("lower")),
          .upper = number(output.at("upper")),
          .ok = output.at("status") == "ok"};
}

Interval ErrorCell::bias() const {
  return empty() ? Interval{mean, mean, mean} : mean_interval(errors);
}

Interval ErrorCell::coverage() const { return proportion_interval(covered, ok()); }

double ErrorCell::scaled_spread() const { return spread_of(scaled); }

ErrorCell sum_up_errors(std::span<const Outcome> outcomes) {
  ErrorCell cell;
  cell.estimates = static_cast<int>(outcomes.size());
  double std_errors = 0, told = 0;
  for (const Outcome& outcome : outcomes) {
    cell.refused += outcome.ok ? 0 : 1;
    cell.covered += outcome.ok && outcome.covered() ? 1 : 0;
    const double error = outcome.estimate - outcome.truth;
    if (!std::isfinite(error)) continue;
    cell.errors.push_back(error);
    if (std::isfinite(outcome.std_error)) std_errors += outcome.std_error, ++told;
    if (outcome.ok && outcome.std_error > 0) cell.scaled.push_back(error / outcome.std_error);
  }
  if (cell.errors.empty()) return cell;
  set_moments(cell);
  cell.mean_std_error = std_errors / told;  // NaN where none is
  return cell;
}

}  // namespace boltzmark::experiments
