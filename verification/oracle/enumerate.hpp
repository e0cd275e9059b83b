#pragma once

#include <cstdint>
#include <vector>

// Brute force in long double: every joint state of a network, by its definition. It shares no
// code with the library and is meant to be read, not to be fast.
namespace oracle {

using Real = long double;

/// A layered network in plain vectors; `code` is the model file's: 0 Bernoulli, s >= 1 X(s),
/// -1 continuous on [-1, 1], -2 Gaussian.
struct Network {
  std::vector<int> code;                                ///< per layer
  std::vector<std::vector<Real>> bias;                  ///< per layer [units]
  std::vector<std::vector<Real>> sigma;                 ///< per layer [units], Gaussian only
  std::vector<std::vector<std::vector<Real>>> weights;  ///< [l][unit of l][unit of l+1]
};

/// Copies a model with the library's accessors into plain vectors.
template <class Model>
Network network(const Model& model) {
  Network n;
  for (int l = 0; l < model.layers(); ++l) {
    n.code.push_back(model.layer(l).unit.code());
    n.bias.emplace_back(model.bias(l).data(), model.bias(l).data() + model.size(l));
    const auto& sigma = model.layer(l).sigma0;
    n.sigma.emplace_back(sigma.data(), sigma.data() + sigma.size());
    if (l + 1 == model.layers()) continue;
    n.weights.emplace_back();
    for (int i = 0; i < model.size(l); ++i) {
      n.weights[l].emplace_back();
      for (int j = 0; j < model.size(l + 1); ++j) n.weights[l][i].push_back(model.weights(l)(i, j));
    }
  }
  return n;
}

/// The values of a discrete unit and the reference measure of each.
std::vector<Real> values(int code);
Real measure(int code);

/// A joint state, values per layer.
using Joint = std::vector<std::vector<Real>>;

/// Computes -E(x) term by term.
Real log_f(const Network& network, const Joint& x);

/// Computes log of the sum of e^term, largest first taken out.
Real log_sum(const std::vector<Real>& terms);

/// Lists all joint states of a network of discrete units; the last unit of the last layer turns
/// fastest.
std::vector<Joint> joint_states(const Network& network);

/// Computes log Z over all joint states.  Cost  (number of joint states) x (weights)
Real log_z(const Network& network);

/// Computes the probability of every joint state, in the order of joint_states.
std::vector<Real> probabilities(const Network& network);

/// Computes log f(v), the hidden layers summed over all their states.
Real log_f_visible(const Network& network, const std::vector<Real>& visible);

/// Computes log Z of a two-layer network by listing the hidden states; the sum or integral over
/// each visible unit is taken unit by unit: over its values, by Gauss-Legendre quadrature
/// (continuous), or in closed form (Gaussian).
Real log_z_two_layers(const Network& network);

/// Computes the gradient of the mean log-likelihood of equally weighted cases, by listing joint
/// states; same layout as the network's biases and weights.
Network gradient(const Network& network, const std::vector<std::vector<Real>>& cases);

}  // namespace oracle
