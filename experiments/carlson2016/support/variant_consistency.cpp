#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/carlson2016/support/ratios.hpp"
#include "experiments/carlson2016/support/variant_summary.hpp"
#include "experiments/kit/errors.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::experiments {
namespace {

using Rows = std::span<const std::size_t>;

/// The numbers of sweeps that the consistency of RTS is measured at.
std::vector<int> lengths(const Results& results) {
  std::vector<int> found;
  for (const Json& sweeps : results.inputs("sweeps"))
    if (results.planned({{"study", "prior"}, {"slope", 0}, {"sweeps", sweeps}}) > 0)
      found.push_back(sweeps);
  std::sort(found.begin(), found.end());
  return found;
}

/// The slope of log RMSE against x by least squares, from entry `first` on.
BootstrapInterval rmse_slope(const std::vector<double>& x,
                             const std::vector<std::vector<double>>& errors, std::size_t first) {
  const auto n = static_cast<double>(x.size() - first);
  const auto slope = [&](Rows rows) {
    double mean_x = 0, xx = 0, xy = 0;
    for (std::size_t i = first; i < x.size(); ++i) mean_x += x[i] / n;
    for (std::size_t i = first; i < x.size(); ++i) {
      xx += (x[i] - mean_x) * (x[i] - mean_x);
      xy += (x[i] - mean_x) * std::log(rmse_of(errors[i], rows));
    }
    return xy / xx;
  };
  return bootstrap_rows(
      errors[0].size(), slope,
      {.key = make_key(1, "C05"), .replicates = 2000, .method = BootstrapMethod::percentile});
}

}  // namespace

void add_consistency(const Results& results, Summary& summary) {
  std::vector<double> x;
  std::vector<std::vector<double>> errors;  // of each length
  const std::vector<int> all = lengths(results);
  for (const int length : all) {
    const Json filter{{"study", "prior"}, {"slope", 0}, {"sweeps", length}};
    errors.push_back(results.values(filter, "error"));
    if (errors.back().size() < 2 || errors.back().size() != errors.front().size()) return;
    double log_samples = 0;  // the start, which takes up to half of few sweeps, is no sample
    for (const double samples : results.values(filter, "samples"))
      log_samples += std::log(samples) / static_cast<double>(errors.back().size());
    x.push_back(log_samples);
  }
  const BootstrapInterval found = rmse_slope(x, errors, 0);
  std::string note = fmt::format("{}, {} to {} sweeps", kConsistencyModel, all.front(), all.back());
  if (all.size() > 2) {
    const BootstrapInterval rest = rmse_slope(x, errors, 1);
    note += fmt::format("; {:.2f} [{:.2f}, {:.2f}] without those of {} sweeps", rest.estimate,
                        rest.lower, rest.upper, all.front());
  }
  summary.add(
      Measure{.claim = "C05",
              .estimate = found.estimate,
              .lower = found.lower,
              .upper = found.upper,
              .n = static_cast<std::int64_t>(errors[0].size()),
              .power = normal_power(0.5 / found.std_error, 0.025, Alternative::greater),
              .power_against = "a slope of 0",
              .post_hoc = true,
              .note = std::move(note),
              .likely_reason =
                  "the shortest runs are not in equilibrium yet: their errors, larger than the "
                  "square root says, make the slope steeper"});
  Panel panel{.title = kConsistencyModel,
              .x = {.label = "samples kept, of 100 chains", .log = true},
              .y = {.label = "RMSE of log Z by RTS / nats", .log = true},
              .series = {{.label = "RTS", .mark = Mark::line_points, .colour = 0}},
              .legend = ""};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const WithInterval estimate = rmse_estimate(errors[i]);
    panel.series[0].x.push_back(std::exp(x[i]));
    panel.series[0].y.push_back(estimate.value);
    panel.series[0].lower.push_back(estimate.lower);
    panel.series[0].upper.push_back(estimate.upper);
  }
  summary.add(
      Figure{.name = "consistency",
             .caption = fmt::format("RMSE of log Z against samples; slope of the logarithms "
                                    "{:.2f}. Bars: 95 %.",
                                    found.estimate),
             .panels = {std::move(panel)}});
}

}  // namespace boltzmark::experiments
