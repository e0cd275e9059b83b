#include "oracle/learn_enumeration.hpp"

#include <algorithm>
#include <cmath>

namespace oracle {
namespace {

int bit(int state, int unit) { return state >> unit & 1; }

double log_one_plus_exp(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

// p(on after the update); `ratio` = p(on)/p(off) with everything else fixed.
double on_after(double log_ratio, bool on, double flip) {
  const double gibbs = 1 / (1 + std::exp(-log_ratio));
  double t = 0.5;
  if (log_ratio != 0) {
    t = on ? 1 - std::min(1.0, std::exp(-log_ratio)) : std::min(1.0, std::exp(log_ratio));
  }
  return flip * t + (1 - flip) * gibbs;
}

// Rounding of sums of logs must not hide a tie, where the law of T jumps.
double snap(double x) { return std::abs(x) < 1e-12 ? 0.0 : x; }

}  // namespace

double log_f(const SmallRbm& rbm, int state) {
  double sum = 0;
  for (int i = 0; i < rbm.visible(); ++i) sum += rbm.visible_bias[i] * bit(state, i);
  for (int j = 0; j < rbm.hidden(); ++j) {
    const int h = bit(state, rbm.visible() + j);
    sum += rbm.hidden_bias[j] * h;
    for (int i = 0; i < rbm.visible(); ++i) sum += rbm.weights(i, j) * bit(state, i) * h;
  }
  return sum;
}

double log_tempered(const SmallRbm& rbm, const Eigen::VectorXd& base_logits, double b, int state) {
  double base = 0;
  for (Eigen::Index u = 0; u < base_logits.size(); ++u)
    base += base_logits[u] * bit(state, static_cast<int>(u));
  return b * log_f(rbm, state) + (1 - b) * base;
}

Eigen::MatrixXd side_matrix(const SmallRbm& rbm, const Step& step, bool hidden_side) {
  const int first = hidden_side ? rbm.visible() : 0;
  const int last = hidden_side ? rbm.units() : rbm.visible();
  const int side = ((1 << last) - 1) & ~((1 << first) - 1);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(rbm.states(), rbm.states());
  for (int from = 0; from < rbm.states(); ++from) {
    for (int to = 0; to < rbm.states(); ++to) {
      if ((from & ~side) != (to & ~side)) continue;
      double p = 1;
      for (int u = first; u < last; ++u) {
        const double x = snap(log_tempered(rbm, step.base_logits, step.b, from | 1 << u) -
                              log_tempered(rbm, step.base_logits, step.b, from & ~(1 << u)));
        const double on = on_after(x, bit(from, u) == 1, step.flip);
        p *= bit(to, u) == 1 ? on : 1 - on;
      }
      matrix(from, to) = p;
    }
  }
  return matrix;
}

Eigen::MatrixXd sweep_matrix(const SmallRbm& rbm, const Step& step) {
  return side_matrix(rbm, step, true) * side_matrix(rbm, step, false);
}

Eigen::VectorXd probabilities(const SmallRbm& rbm, const Eigen::VectorXd& base_logits, double b) {
  Eigen::VectorXd p(rbm.states());
  for (int state = 0; state < rbm.states(); ++state)
    p[state] = std::exp(log_tempered(rbm, base_logits, b, state));
  return p / p.sum();
}

Means means(const SmallRbm& rbm, const Eigen::VectorXd& law) {
  Means sum{Eigen::MatrixXd::Zero(rbm.visible(), rbm.hidden()),
            Eigen::VectorXd::Zero(rbm.visible()), Eigen::VectorXd::Zero(rbm.hidden())};
  for (int state = 0; state < rbm.states(); ++state) {
    Eigen::VectorXd v(rbm.visible());
    for (int i = 0; i < rbm.visible(); ++i) v[i] = bit(state, i);
    const Eigen::VectorXd input = rbm.hidden_bias + rbm.weights.transpose() * v;
    const Eigen::VectorXd h = (1 + (-input.array()).exp()).inverse();
    sum.weights += law[state] * v * h.transpose();
    sum.visible += law[state] * v;
    sum.hidden += law[state] * h;
  }
  return sum;
}

Eigen::VectorXd cd_law(const SmallRbm& rbm, int visible_state, const Step& step, int k) {
  Eigen::VectorXd law = Eigen::VectorXd::Zero(rbm.states());
  law[visible_state] = 1;
  law = side_matrix(rbm, {}, true).transpose() * law;
  law = side_matrix(rbm, step, false).transpose() * law;
  for (int i = 1; i < k; ++i) law = sweep_matrix(rbm, step).transpose() * law;
  return law;
}

double mean_log_likelihood(const SmallRbm& rbm, const Eigen::MatrixXf& cases) {
  const auto hidden_states = 1 << rbm.hidden();
  Eigen::VectorXd log_weights(hidden_states);
  for (int h = 0; h < hidden_states; ++h) {
    double sum = 0;
    Eigen::VectorXd input = rbm.visible_bias;
    for (int j = 0; j < rbm.hidden(); ++j) {
      if (bit(h, j) == 0) continue;
      sum += rbm.hidden_bias[j];
      input += rbm.weights.col(j);
    }
    for (const double x : input) sum += log_one_plus_exp(x);
    log_weights[h] = sum;
  }
  const double highest = log_weights.maxCoeff();
  const double log_z = highest + std::log((log_weights.array() - highest).exp().sum());
  double mean = 0;
  for (Eigen::Index c = 0; c < cases.cols(); ++c) {
    const Eigen::VectorXd v = cases.col(c).cast<double>();
    double sum = rbm.visible_bias.dot(v);
    const Eigen::VectorXd input = rbm.hidden_bias + rbm.weights.transpose() * v;
    for (const double x : input) sum += log_one_plus_exp(x);
    mean += sum / static_cast<double>(cases.cols());
  }
  return mean - log_z;
}

}  // namespace oracle
