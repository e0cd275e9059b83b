#include "experiments/carlson2016/support/truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kSteps = 20;  // the truth is shifted by, on either side

}  // namespace

Truth mean_truth(std::span<const double> log_z) {
  if (log_z.size() < 2) return {.log_z = std::nan("")};
  const Interval mean = mean_interval(log_z);
  const auto n = static_cast<double>(log_z.size());
  double squares = 0;
  for (const double value : log_z) squares += (value - mean.estimate) * (value - mean.estimate);
  return {.log_z = mean.estimate,
          .std_error = std::sqrt(squares / (n - 1) / n),
          .half_width = mean.upper - mean.estimate,
          .runs = static_cast<int>(log_z.size())};
}

bool ran_on_published_cd25(const Results& results) {
  return !results.where({{"model", "cd25"}, {"file", kPublishedCd25File}}).empty();
}

Truth carlson_truth(const Results& results, const std::string& model, const std::string& base) {
  if (model == "cd25" && ran_on_published_cd25(results)) return {.log_z = kPublishedCd25LogZ};
  std::vector<double> log_z;
  int refused = 0;
  for (const Trial* run : results.where({{"model", model}, {"base", base}, {"method", "truth"}})) {
    log_z.push_back(number(run->outputs.at("log_z")));
    refused += run->outputs.at("status") == "ok" ? 0 : 1;
  }
  Truth truth = mean_truth(log_z);
  truth.refused = refused;
  return truth;
}

Measure with_truth_error(Measure measure, const Truth& truth, double compared_rmse, double distance,
                         const std::function<double(double)>& shifted) {
  if (truth.exact()) return measure;
  double low = measure.estimate, high = measure.estimate;
  for (int i = -kSteps; i <= kSteps; ++i) {
    const double value = shifted(truth.half_width * i / kSteps);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  measure.lower =
      measure.estimate - std::hypot(measure.estimate - measure.lower, measure.estimate - low);
  measure.upper =
      measure.estimate + std::hypot(measure.upper - measure.estimate, high - measure.estimate);
  measure.p_value = std::nan("");
  measure.power = interval_power({measure.estimate, measure.lower, measure.upper}, distance);
  measure.post_hoc = true;
  measure.decidable =
      measure.decidable && truth.refused == 0 && 3 * truth.std_error <= compared_rmse;
  measure.note += fmt::format("{}the truth is the mean of {} other RTS runs, standard error {:.3f}",
                              measure.note.empty() ? "" : "; ", truth.runs, truth.std_error);
  if (truth.refused > 0) measure.note += fmt::format(", {} of them refused", truth.refused);
  if (3 * truth.std_error > compared_rmse)
    measure.note +=
        fmt::format(", more than a third of the smaller RMSE, {:.3f}: undecidable", compared_rmse);
  return measure;
}

}  // namespace boltzmark::experiments
