#include "oracle/discriminative.hpp"

#include <cmath>
#include <numbers>

namespace oracle {
namespace {

struct Point {
  long double value, weight;
};

// The roots of the Legendre polynomial by Newton's method.
std::vector<Point> gauss_legendre(int nodes) {
  std::vector<Point> points;
  for (int i = 0; i < nodes; ++i) {
    long double x = std::cos(std::numbers::pi_v<long double> * (i + 0.75L) / (nodes + 0.5L));
    long double slope = 0;
    for (int step = 0; step < 100; ++step) {
      long double before = 1, now = x;
      for (int n = 2; n <= nodes; ++n) {
        const long double next = ((2 * n - 1) * x * now - (n - 1) * before) / n;
        before = now;
        now = next;
      }
      slope = nodes * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    points.push_back({x, 2 / ((1 - x * x) * slope * slope)});
  }
  return points;
}

// The values of a unit with the weight of its reference measure.
std::vector<Point> values_of(int unit) {
  if (unit == 0) return {{0, 1}, {1, 1}};
  if (unit < 0) return gauss_legendre(48);
  std::vector<Point> points;
  for (int k = 0; k <= unit; ++k) points.push_back({(2.0L * k - unit) / unit, 2.0L / (unit + 1)});
  return points;
}

// Adds e^{sum_j zeta_j h_j} over the values of units j.. to what `weight` e^exponent begins.
long double sum_states(const std::vector<Point>& values, const std::vector<long double>& zeta,
                       std::size_t j, long double weight, long double exponent) {
  if (j == zeta.size()) return weight * std::exp(exponent);
  long double sum = 0;
  for (const Point& point : values)
    sum += sum_states(values, zeta, j + 1, weight * point.weight, exponent + zeta[j] * point.value);
  return sum;
}

}  // namespace

std::vector<long double> log_class_probabilities(const ClassModel& model,
                                                 const Eigen::VectorXd& x) {
  const std::vector<Point> values = values_of(model.unit);
  std::vector<long double> sums;
  long double total = 0;
  for (int k = 0; k < model.classes(); ++k) {
    std::vector<long double> zeta;
    for (int j = 0; j < model.hidden(); ++j) {
      long double input =
          static_cast<long double>(model.hidden_bias[j]) + model.class_weights(j, k);
      for (Eigen::Index i = 0; i < x.size(); ++i)
        input += static_cast<long double>(model.weights(i, j)) * x[i];
      zeta.push_back(input);
    }
    sums.push_back(sum_states(values, zeta, 0, 1, model.class_bias[k]));
    total += sums.back();
  }
  for (long double& sum : sums) sum = std::log(sum / total);
  return sums;
}

long double mean_log_likelihood(const ClassModel& model, const Eigen::MatrixXf& inputs,
                                const std::vector<int>& labels) {
  long double sum = 0;
  for (Eigen::Index c = 0; c < inputs.cols(); ++c)
    sum += log_class_probabilities(model, inputs.col(c).cast<double>())[labels[c]];
  return sum / inputs.cols();
}

}  // namespace oracle
