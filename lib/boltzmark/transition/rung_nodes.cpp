#include "boltzmark/transition/rung_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// Leja points among first, ..., last: each is the one whose product of distances to those before it
// is largest.
std::vector<int> leja_points(int first, int last, int count) {
  std::vector<double> log_product(static_cast<std::size_t>(last - first + 1), 0.0);
  std::vector<int> points;
  for (int point = last; points.size() < static_cast<std::size_t>(count);
       point = first + static_cast<int>(std::max_element(log_product.begin(), log_product.end()) -
                                        log_product.begin())) {
    points.push_back(point);
    for (int k = first; k <= last; ++k) log_product[k - first] += std::log(std::abs(k - point));
  }
  std::sort(points.begin(), points.end());
  return points;
}

// Barycentric weights, scaled by the interval's capacity, a quarter of its length.
std::vector<double> barycentric_weights(const std::vector<int>& points) {
  const double capacity = (points.back() - points.front()) / 4.0;
  std::vector<double> weights;
  for (const int point : points) {
    double product = 1;
    for (const int other : points)
      if (other != point) product *= (point - other) / capacity;
    weights.push_back(1 / product);
  }
  return weights;
}

}  // namespace

RungNodes::RungNodes(int rungs) : rungs_(rungs) {
  if (rungs < 2) throw InvalidArgument(fmt::format("rungs = {} (must be at least 2)", rungs));
  // From the top down: [h/5, h] as long as that has more rungs than nodes; all of the rest.
  std::vector<int> starts;
  const auto start = [](int last) { return (last + 4) / 5; };
  int rest = rungs - 1;
  for (; rest - start(rest) + 1 > kNodes; rest = starts.back() - 1) starts.push_back(start(rest));
  nodes_.resize(static_cast<std::size_t>(rest) + 1);
  std::iota(nodes_.begin(), nodes_.end(), 0);
  for (; !starts.empty(); starts.pop_back())
    add_piece(starts.back(), starts.size() > 1 ? starts[starts.size() - 2] - 1 : rungs - 1);
}

void RungNodes::add_piece(int first, int last) {
  const std::vector<int> points = leja_points(first, last, kNodes);
  const std::vector<double> barycentric = barycentric_weights(points);
  const auto first_node = static_cast<int>(nodes_.size());
  nodes_.insert(nodes_.end(), points.begin(), points.end());
  for (int k = first; k <= last; ++k) {
    if (std::binary_search(points.begin(), points.end(), k)) continue;
    Interpolated& rung = interpolated_.emplace_back(Interpolated{k, first_node, {}});
    double sum = 0;
    for (int i = 0; i < kNodes; ++i) {
      rung.weights[i] = barycentric[i] / (k - points[i]);
      sum += rung.weights[i];
    }
    for (double& weight : rung.weights) weight /= sum;
  }
}

}  // namespace boltzmark
