#include "experiments/yokoyama2019/bands.hpp"

#include "boltzmark/diagnose/interval.hpp"

namespace boltzmark::experiments {

Series band(const std::vector<double>& x, const std::vector<std::vector<double>>& curves,
            const std::string& label, int colour) {
  Series series{.label = label, .x = x, .colour = colour};
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<double> values;
    for (const std::vector<double>& curve : curves) values.push_back(curve[i]);
    if (values.size() < 2) {
      series.y.push_back(values.front());
      continue;
    }
    const Interval mean = mean_interval(values);
    series.y.push_back(mean.estimate);
    series.lower.push_back(mean.lower);
    series.upper.push_back(mean.upper);
  }
  return series;
}

}  // namespace boltzmark::experiments
