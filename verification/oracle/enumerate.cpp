#include "oracle/enumerate.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace oracle {

std::vector<Real> values(int code) {
  if (code < 0) throw std::logic_error("only discrete units can be listed");
  if (code == 0) return {0, 1};
  std::vector<Real> x;
  for (int k = 0; k <= code; ++k) x.push_back(static_cast<Real>(2 * k - code) / code);
  return x;
}

Real measure(int code) { return code == 0 ? Real(1) : Real(2) / (code + 1); }

Real log_f(const Network& network, const Joint& x) {
  Real sum = 0;
  for (std::size_t l = 0; l < x.size(); ++l) {
    for (std::size_t i = 0; i < x[l].size(); ++i) {
      if (network.code[l] == -2) {
        const Real d = (x[l][i] - network.bias[l][i]) / network.sigma[l][i];
        sum -= d * d / 2;
      } else {
        sum += network.bias[l][i] * x[l][i];
      }
      if (l + 1 == x.size()) continue;
      for (std::size_t j = 0; j < x[l + 1].size(); ++j) {
        sum += x[l][i] * network.weights[l][i][j] * x[l + 1][j];
      }
    }
  }
  return sum;
}

Real log_sum(const std::vector<Real>& terms) {
  const Real high = *std::max_element(terms.begin(), terms.end());
  Real sum = 0;
  for (const Real term : terms) sum += std::exp(term - high);
  return high + std::log(sum);
}

namespace {

/// Extends every state of a list by the values of one more unit of a layer.
std::vector<Joint> with_unit(const std::vector<Joint>& states, std::size_t layer, int code) {
  std::vector<Joint> more;
  for (const Joint& x : states) {
    for (const Real value : values(code)) {
      more.push_back(x);
      more.back()[layer].push_back(value);
    }
  }
  return more;
}

std::vector<Joint> states_given(const Network& network, const std::vector<Real>* visible) {
  std::vector<Joint> states(1, Joint(network.code.size()));
  if (visible) states[0][0] = *visible;
  for (std::size_t l = visible ? 1 : 0; l < network.code.size(); ++l) {
    for (std::size_t i = 0; i < network.bias[l].size(); ++i) {
      states = with_unit(states, l, network.code[l]);
    }
  }
  return states;
}

/// Computes log f plus the log measures of the layers from `first` on.
std::vector<Real> log_weights(const Network& network, const std::vector<Joint>& states,
                              std::size_t first) {
  Real measures = 0;
  for (std::size_t l = first; l < network.code.size(); ++l) {
    measures += static_cast<Real>(network.bias[l].size()) * std::log(measure(network.code[l]));
  }
  std::vector<Real> terms;
  for (const Joint& x : states) terms.push_back(log_f(network, x) + measures);
  return terms;
}

struct Node {
  Real x, weight;
};

/// Finds the nodes of 20-point Gauss-Legendre quadrature by Newton's method on P_20.
std::vector<Node> gauss_legendre() {
  constexpr int kNodes = 20;
  std::vector<Node> nodes;
  for (int k = 1; k <= kNodes; ++k) {
    Real x = std::cos(std::acos(Real(-1)) * (k - Real(0.25)) / (kNodes + Real(0.5))), slope = 0;
    for (int step = 0; step < 20; ++step) {
      Real p0 = 1, p1 = x;
      for (int n = 2; n <= kNodes; ++n) {
        const Real p2 = ((2 * n - 1) * x * p1 - (n - 1) * p0) / n;
        p0 = p1;
        p1 = p2;
      }
      slope = kNodes * (x * p1 - p0) / (x * x - 1);
      x -= p1 / slope;
    }
    nodes.push_back({x, 2 / ((1 - x * x) * slope * slope)});
  }
  return nodes;
}

/// Integrates e^{u x} over [-1, 1], in pieces over which the exponent varies by at most 4.
Real log_integral(Real u) {
  static const std::vector<Node> nodes = gauss_legendre();
  const int pieces = 1 + static_cast<int>(std::abs(u) / 2);
  std::vector<Real> terms;
  for (const Node& node : nodes) {
    for (int piece = 0; piece < pieces; ++piece) {
      const Real middle = -1 + (2 * piece + 1) / static_cast<Real>(pieces);
      terms.push_back(u * (middle + node.x / pieces) + std::log(node.weight / pieces));
    }
  }
  return log_sum(terms);
}

Real log_unit_sum(const Network& network, std::size_t unit, Real input) {
  const int code = network.code[0];
  if (code == -1) return log_integral(input + network.bias[0][unit]);
  if (code == -2) {
    const Real a = network.bias[0][unit], sigma = network.sigma[0][unit];
    return std::log(sigma * std::sqrt(2 * std::acos(Real(-1)))) + a * input +
           sigma * sigma * input * input / 2;
  }
  std::vector<Real> terms;
  for (const Real x : values(code)) {
    terms.push_back((input + network.bias[0][unit]) * x + std::log(measure(code)));
  }
  return log_sum(terms);
}

void add_statistics(const Joint& x, Real weight, Network& sum) {
  for (std::size_t l = 0; l < x.size(); ++l) {
    for (std::size_t i = 0; i < x[l].size(); ++i) {
      sum.bias[l][i] += weight * x[l][i];
      for (std::size_t j = 0; l + 1 < x.size() && j < x[l + 1].size(); ++j) {
        sum.weights[l][i][j] += weight * x[l][i] * x[l + 1][j];
      }
    }
  }
}

}  // namespace

std::vector<Joint> joint_states(const Network& network) { return states_given(network, nullptr); }

Real log_z(const Network& network) {
  return log_sum(log_weights(network, joint_states(network), 0));
}

std::vector<Real> probabilities(const Network& network) {
  std::vector<Real> terms = log_weights(network, joint_states(network), 0);
  const Real total = log_sum(terms);
  for (Real& term : terms) term = std::exp(term - total);
  return terms;
}

Real log_f_visible(const Network& network, const std::vector<Real>& visible) {
  return log_sum(log_weights(network, states_given(network, &visible), 1));
}

Real log_z_two_layers(const Network& network) {
  Network hidden;
  hidden.code = {network.code[1]};
  hidden.bias = {network.bias[1]};
  std::vector<Real> terms;
  for (const Joint& h : joint_states(hidden)) {
    Real term = static_cast<Real>(h[0].size()) * std::log(measure(network.code[1]));
    for (std::size_t j = 0; j < h[0].size(); ++j) term += network.bias[1][j] * h[0][j];
    for (std::size_t i = 0; i < network.bias[0].size(); ++i) {
      Real input = 0;
      for (std::size_t j = 0; j < h[0].size(); ++j) input += network.weights[0][i][j] * h[0][j];
      term += log_unit_sum(network, i, input);
    }
    terms.push_back(term);
  }
  return log_sum(terms);
}

Network gradient(const Network& network, const std::vector<std::vector<Real>>& cases) {
  Network sum = network;
  for (auto& layer : sum.bias) std::fill(layer.begin(), layer.end(), Real(0));
  for (auto& layer : sum.weights) {
    for (auto& row : layer) std::fill(row.begin(), row.end(), Real(0));
  }
  for (const std::vector<Real>& v : cases) {
    const std::vector<Joint> states = states_given(network, &v);
    const std::vector<Real> terms = log_weights(network, states, 1);
    const Real total = log_sum(terms);
    for (std::size_t k = 0; k < states.size(); ++k) {
      add_statistics(states[k], std::exp(terms[k] - total) / cases.size(), sum);
    }
  }
  const std::vector<Joint> states = joint_states(network);
  const std::vector<Real> p = probabilities(network);
  for (std::size_t k = 0; k < states.size(); ++k) add_statistics(states[k], -p[k], sum);
  return sum;
}

}  // namespace oracle
