#include "boltzmark/target/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

void need_rungs(int rungs, int least) {
  if (rungs < least)
    throw InvalidArgument(fmt::format("temperatures = {} (must be at least {})", rungs, least));
}

}  // namespace

Ladder::Ladder(const std::vector<double>& inverse_temperatures) {
  need_rungs(static_cast<int>(inverse_temperatures.size()), 2);
  for (const double b : inverse_temperatures) values_.push_back(static_cast<float>(b));
  if (values_.front() != 0 || values_.back() != 1)
    throw InvalidArgument(
        fmt::format("ladder = {}..{} (must go from 0 to 1)", values_.front(), values_.back()));
  for (std::size_t k = 1; k < values_.size(); ++k)
    if (!(values_[k] > values_[k - 1]))
      throw InvalidArgument(
          fmt::format("ladder[{}] = {} (must ascend, in single precision)", k, values_[k]));
}

Ladder Ladder::linear(int rungs) {
  need_rungs(rungs, 2);
  std::vector<double> values(rungs);
  for (int k = 0; k < rungs; ++k) values[k] = static_cast<double>(k) / (rungs - 1);
  return Ladder(values);
}

Ladder Ladder::geometric(int rungs) {
  need_rungs(rungs, 2);
  std::vector<double> values(rungs);
  for (int k = 0; k < rungs; ++k)
    values[k] = std::expm1(std::log(1000.0) * k / (rungs - 1)) / 999.0;
  values.back() = 1;
  return Ladder(values);
}

Ladder Ladder::salakhutdinov_murray(int rungs) {
  need_rungs(rungs, 4);
  const double shares[] = {500.0 / 14500, 4500.0 / 14500, 1};
  const double ends[] = {0.5, 0.9, 1};
  std::vector<double> values(rungs);
  for (int k = 0; k < rungs; ++k) {
    const double share = static_cast<double>(k) / (rungs - 1);
    double from_share = 0, from = 0;
    for (int part = 0; part < 3; ++part) {
      if (share <= shares[part] || part == 2) {
        values[k] = from + (ends[part] - from) * (share - from_share) / (shares[part] - from_share);
        break;
      }
      from_share = shares[part];
      from = ends[part];
    }
  }
  return Ladder(values);
}

Ladder Ladder::named(std::string_view name, int rungs) {
  if (name == "linear") return linear(rungs);
  if (name == "geometric") return geometric(rungs);
  if (name == "salakhutdinov-murray") return salakhutdinov_murray(rungs);
  throw InvalidArgument(
      fmt::format("ladder = {} (must be linear, geometric or salakhutdinov-murray)", name));
}

Ladder equalise(const Ladder& ladder, const Eigen::VectorXd& density, int rungs) {
  need_rungs(rungs, 2);
  if (density.size() != ladder.rungs())
    throw InvalidArgument(fmt::format("density = {} values (must be {}, one a rung)",
                                      density.size(), ladder.rungs()));
  if (!density.allFinite() || density.minCoeff() < 0 || density.maxCoeff() <= 0)
    throw InvalidArgument("density (must be finite, not negative and positive somewhere)");
  // The length is that of the piecewise linear density; a floor keeps the rungs apart.
  const double floor = 1e-3 * density.maxCoeff();
  std::vector<double> length(ladder.rungs(), 0.0);
  for (int k = 1; k < ladder.rungs(); ++k)
    length[k] = length[k - 1] + (ladder[k] - ladder[k - 1]) * 0.5 *
                                    (std::max(density[k - 1], floor) + std::max(density[k], floor));
  std::vector<double> values(rungs);
  int below = 0;
  for (int j = 0; j + 1 < rungs; ++j) {
    const double want = length.back() * j / (rungs - 1);
    while (length[below + 1] < want) ++below;
    values[j] = ladder[below] + (ladder[below + 1] - ladder[below]) * (want - length[below]) /
                                    (length[below + 1] - length[below]);
  }
  values.back() = 1;
  return Ladder(values);
}

}  // namespace boltzmark
