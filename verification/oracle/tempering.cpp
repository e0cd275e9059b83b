#include "oracle/tempering.hpp"

#include <algorithm>
#include <cmath>

namespace oracle::tempering {
namespace {

// -E(x) of a two-layer network; visible bits are the low ones.
long double log_f(const transition::Network& network, Eigen::Index x) {
  const Eigen::Index visible = network.biases[0].size(), hidden = network.biases[1].size();
  const auto on = [x](Eigen::Index unit) { return static_cast<long double>((x >> unit) & 1); };
  long double sum = 0;
  for (Eigen::Index i = 0; i < visible; ++i) sum += network.biases[0][i] * on(i);
  for (Eigen::Index j = 0; j < hidden; ++j) sum += network.biases[1][j] * on(visible + j);
  for (Eigen::Index i = 0; i < visible; ++i)
    for (Eigen::Index j = 0; j < hidden; ++j)
      sum += network.weights[0](i, j) * on(i) * on(visible + j);
  return sum;
}

long double log_p1(const std::vector<Eigen::VectorXd>& logits, Eigen::Index x) {
  long double sum = 0;
  int unit = 0;
  for (const Eigen::VectorXd& layer : logits)
    for (const double logit : layer) {
      sum +=
          ((x >> unit) & 1 ? logit : 0.0L) - std::log1p(std::exp(static_cast<long double>(logit)));
      ++unit;
    }
  return sum;
}

transition::Network at(const Setting& setting, double b) {
  transition::Network network = setting.network;
  for (std::size_t l = 0; l < network.biases.size(); ++l)
    network.biases[l] = b * network.biases[l] + (1 - b) * setting.logits[l];
  for (Eigen::MatrixXd& w : network.weights) w *= b;
  return network;
}

// R_k(k' | x) from the densities at every rung.
long double rung_law(const Setting& setting, const LongMatrix& f, Eigen::Index x, int from, int to,
                     Rung rung) {
  const int rungs = static_cast<int>(setting.b.size());
  const auto q = [&](int k) { return f(x, k) * setting.weight[k]; };
  if (rung == Rung::gibbs) {
    long double sum = 0;
    for (int k = 0; k < rungs; ++k) sum += q(k);
    return q(to) / sum;
  }
  const auto leave = [&](int k) {
    return k < 0 || k >= rungs ? 0.0L : std::min(1.0L, q(k) / q(from)) / 2;
  };
  if (std::abs(from - to) == 1) return leave(to);
  return from == to ? 1 - leave(from - 1) - leave(from + 1) : 0;
}

template <class Kernel>
LongMatrix pair_matrix(const Setting& setting, const LongMatrix& f, Rung rung,
                       const Kernel& kernel) {
  const Eigen::Index states = f.rows();
  const int rungs = static_cast<int>(setting.b.size());
  LongMatrix matrix(states * rungs, states * rungs);
  for (int to = 0; to < rungs; ++to) {
    const LongMatrix sweep = kernel(to);
    for (int from = 0; from < rungs; ++from)
      for (Eigen::Index x = 0; x < states; ++x)
        for (Eigen::Index y = 0; y < states; ++y)
          matrix(from * states + x, to * states + y) =
              rung_law(setting, f, x, from, to, rung) * sweep(x, y);
  }
  return matrix;
}

}  // namespace

LongMatrix densities(const Setting& setting) {
  const Eigen::Index states = Eigen::Index{1} << setting.network.units();
  LongMatrix f(states, setting.b.size());
  for (Eigen::Index x = 0; x < states; ++x)
    for (std::size_t k = 0; k < setting.b.size(); ++k) {
      const long double b = setting.b[k];
      f(x, static_cast<Eigen::Index>(k)) =
          std::exp(b * log_f(setting.network, x) + (1 - b) * log_p1(setting.logits, x));
    }
  return f;
}

LongMatrix visible_densities(const Setting& setting) {
  const LongMatrix joint = densities(setting);
  const Eigen::Index visible = Eigen::Index{1} << setting.network.biases[0].size();
  LongMatrix f = LongMatrix::Zero(visible, joint.cols());
  for (Eigen::Index x = 0; x < joint.rows(); ++x) f.row(x % visible) += joint.row(x);
  return f;
}

LongMatrix joint_matrix(const Setting& setting, transition::Law law, long double share, Rung rung) {
  return pair_matrix(setting, densities(setting), rung, [&](int k) {
    return transition::sweep_matrix(at(setting, setting.b[k]), law, share);
  });
}

LongMatrix visible_matrix(const Setting& setting, Rung rung) {
  const LongMatrix joint = densities(setting);
  const Eigen::Index visible = Eigen::Index{1} << setting.network.biases[0].size();
  const Eigen::Index hidden = joint.rows() / visible;
  return pair_matrix(setting, visible_densities(setting), rung, [&](int k) {
    LongMatrix kernel = LongMatrix::Zero(visible, visible);
    const LongMatrix f = joint.col(k).reshaped(visible, hidden);
    for (Eigen::Index v = 0; v < visible; ++v)
      for (Eigen::Index h = 0; h < hidden; ++h)
        kernel.row(v) += f(v, h) / f.row(v).sum() * f.col(h).transpose() / f.col(h).sum();
    return kernel;
  });
}

long double variance_of_mean(const LongMatrix& matrix, const LongVector& p, const LongVector& f,
                             int steps) {
  const LongVector centred = f.array() - p.dot(f);
  LongVector later = centred;
  long double sum = p.cwiseProduct(centred).dot(centred);
  for (int t = 1; t < steps; ++t) {
    later = (matrix * later).eval();
    sum += 2 * (1 - static_cast<long double>(t) / steps) * p.cwiseProduct(centred).dot(later);
  }
  return sum;
}

long double limit_variance(const LongMatrix& matrix, const LongVector& p, const LongVector& f,
                           int steps) {
  return 2 * variance_of_mean(matrix, p, f, 2 * steps) - variance_of_mean(matrix, p, f, steps);
}

}  // namespace oracle::tempering
