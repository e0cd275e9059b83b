#include "experiments/yokoyama2019/support/two_spins.hpp"

#include <cmath>
#include <numbers>

#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments {

// With A = (phi(2w) / 2)^|H|, alpha = (A - 1) / (A + 1).
double TwoSpins::alpha(double w) const {
  return std::tanh(hidden * (log_partition(hidden_unit, 2 * w) - std::numbers::ln2) / 2);
}

double TwoSpins::log_likelihood(double w) const {
  const double correlation = alpha(w);
  return (1 + beta) / 2 * std::log1p(correlation) + (1 - beta) / 2 * std::log1p(-correlation) -
         std::log(4.0);
}

double TwoSpins::gradient(double w) const {
  return (beta - alpha(w)) * hidden * mean_value(hidden_unit, 2 * w);
}

// ln phi(2w) grows with w > 0 and is convex, so from the right Newton's steps fall onto the root;
// ln phi >= |x| - ln |x| puts the start there.
double TwoSpins::maximum() const {
  const double target = std::numbers::ln2 + 2 * std::atanh(beta) / hidden;
  double x = 4 * (target + 1);
  for (int step = 0; step < 100; ++step) {
    const double next = x - (log_partition(hidden_unit, x) - target) / mean_value(hidden_unit, x);
    if (!(next < x)) break;
    x = next;
  }
  return x / 2;
}

double TwoSpins::sharpness() const {
  const double slope = hidden * mean_value(hidden_unit, 2 * maximum());
  return (1 - beta * beta) * slope * slope;
}

int TwoSpins::ascent_steps(double start, double rate, double share) const {
  const double aim = maximum();
  double w = start;
  int steps = 0;
  for (; std::abs(w - aim) > share * aim; ++steps) w += rate * gradient(w);
  return steps;
}

TwoSpins two_spins(int s) { return {.hidden_unit = unit_of_steps(s)}; }

}  // namespace boltzmark::experiments
