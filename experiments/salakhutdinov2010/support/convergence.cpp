#include "experiments/salakhutdinov2010/support/convergence.hpp"

#include <cmath>

namespace boltzmark::experiments {

std::vector<double> doubling_times(double first, std::size_t records) {
  std::vector<double> times;
  for (std::size_t r = 0; r < records; ++r) times.push_back(std::ldexp(first, static_cast<int>(r)));
  return times;
}

std::vector<double> log_slopes(const std::vector<std::vector<double>>& curves) {
  std::vector<double> all;
  for (const std::vector<double>& curve : curves) {
    const auto n = static_cast<double>(curve.size());
    double cross = 0, square = 0;
    for (std::size_t r = 0; r < curve.size(); ++r) {
      const double x = static_cast<double>(r) - (n - 1) / 2;
      cross += x * std::log(curve[r]);
      square += x * x * std::log(2);
    }
    all.push_back(cross / square);
  }
  return all;
}

}  // namespace boltzmark::experiments
