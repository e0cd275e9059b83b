#include "oracle/transition.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace oracle::transition {
namespace {

int bit(Eigen::Index state, int unit) { return static_cast<int>((state >> unit) & 1); }

// E(x) = -sum_l a_l . x_l - sum_l x_l' W_l x_{l+1}, term by term.
long double energy(const Network& network, Eigen::Index state) {
  long double sum = 0;
  int first = 0;
  for (std::size_t l = 0; l < network.biases.size(); ++l) {
    const int size = static_cast<int>(network.biases[l].size());
    for (int i = 0; i < size; ++i) {
      sum -= static_cast<long double>(network.biases[l][i]) * bit(state, first + i);
      if (l + 1 == network.biases.size()) continue;
      for (int j = 0; j < network.biases[l + 1].size(); ++j)
        sum -= static_cast<long double>(network.weights[l](i, j)) * bit(state, first + i) *
               bit(state, first + size + j);
    }
    first += size;
  }
  return sum;
}

int layer_of(const Network& network, int unit) {
  int layer = 0;
  for (; unit >= network.biases[layer].size(); ++layer)
    unit -= static_cast<int>(network.biases[layer].size());
  return layer;
}

// P(x -> y) where y is x with one unit changed, from p(y) / p(x) = e^difference. [Def. 1]
long double change(Law law, long double share, long double difference) {
  const long double gibbs = 1 / (1 + std::exp(-difference));
  const long double metropolis = std::min(1.0L, std::exp(difference));
  const long double flip = difference == 0 ? 0.5L : metropolis;
  switch (law) {
    case Law::gibbs:
      return gibbs;
    case Law::flip:
      return flip;
    case Law::blend:
      return share * flip + (1 - share) * gibbs;
    case Law::metropolis:
      return metropolis;
  }
  return 0;
}

}  // namespace

int Network::units() const {
  int sum = 0;
  for (const Eigen::VectorXd& b : biases) sum += static_cast<int>(b.size());
  return sum;
}

LongVector probabilities(const Network& network) {
  LongVector p(Eigen::Index{1} << network.units());
  for (Eigen::Index x = 0; x < p.size(); ++x) p[x] = -energy(network, x);
  p.array() -= p.maxCoeff();
  for (long double& value : p) value = std::exp(value);
  return p / p.sum();
}

LongMatrix unit_matrix(const Network& network, Law law, long double share, int unit) {
  const Eigen::Index states = Eigen::Index{1} << network.units();
  LongMatrix matrix = LongMatrix::Zero(states, states);
  for (Eigen::Index x = 0; x < states; ++x) {
    const Eigen::Index y = x ^ (Eigen::Index{1} << unit);
    matrix(x, y) = change(law, share, energy(network, x) - energy(network, y));
    matrix(x, x) = 1 - matrix(x, y);
  }
  return matrix;
}

LongMatrix sweep_matrix(const Network& network, Law law, long double share) {
  const Eigen::Index states = Eigen::Index{1} << network.units();
  LongMatrix product = LongMatrix::Identity(states, states);
  for (const int parity : {1, 0}) {
    for (int unit = 0; unit < network.units(); ++unit) {
      if (layer_of(network, unit) % 2 != parity) continue;
      const LongMatrix one = unit_matrix(network, law, share, unit);
      // Two entries a column: a full product would be states^3.
      LongMatrix next(states, states);
      for (Eigen::Index y = 0; y < states; ++y) {
        const Eigen::Index other = y ^ (Eigen::Index{1} << unit);
        next.col(y) = product.col(y) * one(y, y) + product.col(other) * one(other, y);
      }
      product = next;
    }
  }
  return product;
}

LongMatrix random_scan_matrix(const Network& network, Law law, long double share) {
  LongMatrix sum = unit_matrix(network, law, share, 0);
  for (int unit = 1; unit < network.units(); ++unit) sum += unit_matrix(network, law, share, unit);
  return sum / static_cast<long double>(network.units());
}

Edges dense_edges(const LongMatrix& matrix) {
  const Eigen::MatrixXd doubles = matrix.cast<double>();
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(doubles, false);
  std::vector<std::complex<double>> values(solver.eigenvalues().begin(),
                                           solver.eigenvalues().end());
  // The stationary eigenvalue is the one nearest to 1.
  const auto nearest = std::min_element(values.begin(), values.end(), [](auto a, auto b) {
    return std::abs(a - 1.0) < std::abs(b - 1.0);
  });
  std::iter_swap(nearest, std::prev(values.end()));
  values.pop_back();
  Edges edges{0, -1};
  for (const std::complex<double> value : values) {
    edges.slem = std::max(edges.slem, std::abs(value));
    edges.second = std::max(edges.second, value.real());
  }
  return edges;
}

Support support(const LongMatrix& matrix) {
  const Eigen::Index states = matrix.rows();
  using Boolean = Eigen::Matrix<bool, Eigen::Dynamic, Eigen::Dynamic>;
  const Boolean edge = matrix.array() > 0;
  Boolean reach = edge;  // Warshall
  for (Eigen::Index k = 0; k < states; ++k)
    for (Eigen::Index i = 0; i < states; ++i)
      if (reach(i, k))
        for (Eigen::Index j = 0; j < states; ++j) reach(i, j) = reach(i, j) || reach(k, j);
  Support result{0, 0};
  std::vector<bool> counted(static_cast<std::size_t>(states), false);
  for (Eigen::Index i = 0; i < states; ++i) {
    if (counted[static_cast<std::size_t>(i)]) continue;
    ++result.components;
    for (Eigen::Index j = i; j < states; ++j)
      if (i == j || (reach(i, j) && reach(j, i))) counted[static_cast<std::size_t>(j)] = true;
  }
  // The period is the gcd of the lengths at which state 0 can return, up to twice the states.
  std::vector<bool> now(static_cast<std::size_t>(states), false);
  now[0] = true;
  for (int length = 1; length <= 2 * states; ++length) {
    std::vector<bool> next(now.size(), false);
    for (Eigen::Index i = 0; i < states; ++i)
      if (now[static_cast<std::size_t>(i)])
        for (Eigen::Index j = 0; j < states; ++j)
          if (edge(i, j)) next[static_cast<std::size_t>(j)] = true;
    now = next;
    if (now[0]) result.period = std::gcd(result.period, length);
  }
  return result;
}

}  // namespace oracle::transition
