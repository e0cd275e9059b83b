#include "boltzmark/exact/enumeration/plain.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/chunk_total.hpp"

namespace boltzmark {

StateWalk::StateWalk(const Bipartite& sides, std::uint64_t first)
    : sides_(sides),
      digits_(sides.enumerated.size()),
      inputs_(sides.other.size(), sides.enumerated.size() + 1),
      linear_(sides.enumerated.size() + 1) {
  const int n = static_cast<int>(digits_.size());
  for (int i = 0; i < n; ++i) {
    const auto values = static_cast<std::uint64_t>(sides.enumerated[i].values());
    digits_[i] = static_cast<int>(first % values);
    first /= values;
  }
  inputs_.col(n) = sides.other_input;
  linear_[n] = sides.constant;
  rebuild(n - 1);
}

void StateWalk::rebuild(int top) {
  for (int i = top; i >= 0; --i) {
    const double x = value(i);
    inputs_.col(i).noalias() = inputs_.col(i + 1) + x * sides_.weights.col(i);
    linear_[i] = linear_[i + 1] + x * sides_.bias[i];
  }
}

void StateWalk::next() {
  const int n = static_cast<int>(digits_.size());
  int i = 0;
  while (i < n && ++digits_[i] == sides_.enumerated[i].values()) digits_[i++] = 0;
  rebuild(std::min(i, n - 1));
}

double StateWalk::log_weight() const { return boltzmark::log_weight(sides_, inputs(), linear()); }

double log_weight(const Bipartite& sides, const Eigen::Ref<const Eigen::VectorXd>& inputs,
                  double linear) {
  double sum = linear;
  // log prod (1 + e^-|x|) needs one logarithm per 512 Bernoulli units: each factor is in (1, 2].
  double product = 1;
  int factors = 0;
  for (Eigen::Index j = 0; j < inputs.size(); ++j) {
    const double x = inputs[j];
    if (!sides.other[j].is_bernoulli()) {
      sum += log_other_partition(sides, static_cast<int>(j), x);
      continue;
    }
    sum += std::max(x, 0.0);
    product *= 1 + std::exp(-std::abs(x));
    if (++factors % 512 == 0) {
      sum += std::log(product);
      product = 1;
    }
  }
  return sum + std::log(product);
}

PlainSum::PlainSum(const Bipartite& sides) : sides_(sides) {
  // A chunk is about a millisecond of work, or more where there would be more than 2^14 chunks.
  const std::uint64_t by_work = 65536 / (1 + sides.other.size()) + 1;
  chunk_states_ = std::max(by_work, least_chunk_blocks(sides, sides.states));
}

std::uint64_t PlainSum::chunks() const {
  return (sides_.states + chunk_states_ - 1) / chunk_states_;
}

ScaledSum PlainSum::sum(std::uint64_t chunk) const {
  const std::uint64_t first = chunk * chunk_states_;
  const std::uint64_t count = std::min(chunk_states_, sides_.states - first);
  ScaledSum total;
  StateWalk walk(sides_, first);
  for (std::uint64_t k = 0; k < count; ++k, walk.next()) total.add(exp_scaled(walk.log_weight()));
  return total;
}

// With u = 2^-53, n enumerated and m other units, and X_j = |a_j| + sum_i |W_ij| the largest size
// of an input (|value| <= 1), the log weight of a state is wrong by at most the sum of
//   inputs: n + 1 products and sums, (n + 2) u X_j, times the slope of the log partition (at most
//     1; a + sigma^2 X_j for Gaussian units);
//   log partitions G_j, |G_j| <= X_j + 2: 4 ulp each, 8 u (X_j + 2);
//   their sum and that of the linear terms: (m + n + 1) u (sum_j (X_j + 2) + sum_i |b_i| +
//   |const|).
double log_weight_roundings(const Bipartite& sides, double more) {
  const double n = static_cast<double>(sides.enumerated.size()) + more;
  const double m = static_cast<double>(sides.other.size());
  double inputs = 0, sizes = std::abs(sides.constant) + sides.bias.cwiseAbs().sum();
  for (int j = 0; j < sides.weights.rows(); ++j) {
    const double x = std::abs(sides.other_input[j]) + sides.weights.row(j).cwiseAbs().sum();
    double slope = 1, size = x + 2;
    if (sides.other[j].has_scale()) {
      const double a = std::abs(sides.other_mean[j]), variance = std::pow(sides.other_sigma[j], 2);
      slope = a + variance * x;
      size = a * x + variance * x * x / 2 + std::abs(std::log(sides.other_sigma[j])) + 2;
    }
    inputs += (n + 2) * x * slope + 8 * size;
    sizes += size;
  }
  return inputs + (m + n + 1) * sizes;
}

// The weights are exact to 3 u given their logs, and adding them costs one u an addition.
double PlainSum::error_bound() const {
  const double u = std::numeric_limits<double>::epsilon() / 2;
  const auto additions =
      static_cast<double>(chunk_states_ + additions_of(chunks(), chunks_of_group(sides_)));
  return 1.01 * u * (log_weight_roundings(sides_) + 3 + additions);
}

namespace {

/// What the log partition of a unit takes: an exponential, the two and the logarithm of phi or its series,
/// those of sinh, or a square.
double partition_seconds(Unit unit) {
  if (unit.has_scale()) return 5e-9;
  if (unit.is_bernoulli()) return 9e-9;
  return unit.is_discrete() ? 80e-9 : 45e-9;
}

}  // namespace

// As measured. The columns of inputs that a state builds anew are those of the first unit that does not
// wrap and of the units before it.
double PlainSum::seconds() const {
  constexpr double kState = 20e-9, kColumn = 3.5e-9;
  double columns = 0, wrap = 1;  // wrap: the share of states at which the units so far do
  for (const Unit unit : sides_.enumerated) {
    columns += wrap;
    wrap /= unit.values();
  }
  double each = kState;
  for (const Unit unit : sides_.other) each += partition_seconds(unit) + columns * kColumn;
  return static_cast<double>(sides_.states) * each;
}

}  // namespace boltzmark
