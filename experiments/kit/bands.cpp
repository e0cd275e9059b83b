#include "experiments/kit/bands.hpp"

#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {

void add_mean(Series& series, double x, const std::vector<double>& values) {
  series.x.push_back(x);
  if (values.size() < 2) {
    series.y.push_back(values.front());
    return;
  }
  const Interval mean = mean_interval(values);
  series.y.push_back(mean.estimate);
  series.lower.push_back(mean.lower);
  series.upper.push_back(mean.upper);
}

void add_normal(Series& series, double x, double y, double std_error) {
  constexpr double kHalfWidth = 1.96;
  series.x.push_back(x);
  series.y.push_back(y);
  series.lower.push_back(y - kHalfWidth * std_error);
  series.upper.push_back(y + kHalfWidth * std_error);
}

Series band(Series series, const std::vector<double>& x,
            const std::vector<std::vector<double>>& curves) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> values;
    for (const std::vector<double>& curve : curves) values.push_back(curve[i]);
    add_mean(series, x[i], values);
  }
  return series;
}

}  // namespace boltzmark::experiments
