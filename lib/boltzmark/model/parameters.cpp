#include "boltzmark/model/parameters.hpp"

#include <algorithm>
#include <cmath>

namespace boltzmark {
namespace {

template <class Arrays>
bool same(const Arrays& a, const Arrays& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.rows() == y.rows() && x.cols() == y.cols();
  });
}

}  // namespace

bool same_shapes(const Parameters& a, const Parameters& b) {
  return same(a.weights, b.weights) && same(a.biases, b.biases);
}

double magnitude(const Parameters& parameters) {
  double squares = 0;
  for (const auto& weights : parameters.weights) squares += weights.squaredNorm();
  for (const auto& bias : parameters.biases) squares += bias.squaredNorm();
  return std::sqrt(squares);
}

}  // namespace boltzmark
