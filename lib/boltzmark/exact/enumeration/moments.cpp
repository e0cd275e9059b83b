#include "boltzmark/exact/enumeration/moments.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"

namespace boltzmark {
namespace {

Moments zero_moments(const Bipartite& sides) {
  const auto n = static_cast<Eigen::Index>(sides.enumerated.size());
  const auto m = static_cast<Eigen::Index>(sides.other.size());
  return {Eigen::VectorXd::Zero(n), Eigen::VectorXd::Zero(m), Eigen::MatrixXd::Zero(m, n)};
}

/// Sums the moments of some states, weighted with e^{log weight - log_z}.
Moments sum_moments(const Bipartite& sides, double log_z, std::uint64_t first,
                    std::uint64_t count) {
  Moments sum = zero_moments(sides);
  Eigen::VectorXd mean(sides.other.size());
  StateWalk walk(sides, first);
  for (std::uint64_t k = 0; k < count; ++k, walk.next()) {
    const double p = std::exp(walk.log_weight() - log_z);
    if (p == 0) continue;
    const auto inputs = walk.inputs();
    for (Eigen::Index j = 0; j < mean.size(); ++j) {
      mean[j] = p * mean_other(sides, static_cast<int>(j), inputs[j]);
    }
    sum.other += mean;
    for (Eigen::Index i = 0; i < sum.enumerated.size(); ++i) {
      const double x = walk.value(static_cast<int>(i));
      if (x == 0) continue;
      sum.enumerated[i] += p * x;
      sum.products.col(i) += x * mean;
    }
  }
  return sum;
}

}  // namespace

Moments moments(const Bipartite& sides) {
  const double log_z = sum_states(sides).log_z;
  // At most 64 chunks, so that their partial sums stay small; one where there is little to do.
  const std::uint64_t chunk = std::max<std::uint64_t>(256, (sides.states + 63) / 64);
  const auto chunks = static_cast<std::size_t>((sides.states + chunk - 1) / chunk);
  const auto body = [&](std::size_t k) {
    const std::uint64_t first = k * chunk;
    return sum_moments(sides, log_z, first, std::min(chunk, sides.states - first));
  };
  if (chunks == 1) return body(0);
  std::vector<Moments> parts(chunks);
  parallel_for(chunks, [&](std::size_t k) { parts[k] = body(k); });
  Moments total = zero_moments(sides);
  for (const Moments& part : parts) {
    total.enumerated += part.enumerated;
    total.other += part.other;
    total.products += part.products;
  }
  return total;
}

void add_moments(const Bipartite& sides, const Moments& moments, double scale, Parameters& sum) {
  for (std::size_t i = 0; i < sides.places.size(); ++i) {
    const UnitPlace p = sides.places[i];
    sum.biases[p.layer][p.unit] += scale * moments.enumerated[static_cast<Eigen::Index>(i)];
  }
  for (std::size_t j = 0; j < sides.other_places.size(); ++j) {
    const UnitPlace q = sides.other_places[j];
    const auto row = static_cast<Eigen::Index>(j);
    sum.biases[q.layer][q.unit] += scale * moments.other[row];
    for (std::size_t i = 0; i < sides.places.size(); ++i) {
      const UnitPlace p = sides.places[i];
      const double x = scale * moments.products(row, static_cast<Eigen::Index>(i));
      if (q.layer + 1 == p.layer) sum.weights[q.layer](q.unit, p.unit) += x;
      if (p.layer + 1 == q.layer) sum.weights[p.layer](p.unit, q.unit) += x;
    }
  }
}

}  // namespace boltzmark
