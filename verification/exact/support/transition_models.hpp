#pragma once

#include <cstdint>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/transition/rule.hpp"
#include "oracle/transition.hpp"

// The models of the transition tests, and their other life in the oracle.
namespace transition_models {

inline oracle::transition::Network network(const boltzmark::Layered& model) {
  oracle::transition::Network result;
  for (int l = 0; l < model.layers(); ++l) result.biases.push_back(model.bias(l));
  result.weights = model.weights();
  return result;
}

inline oracle::transition::Law law(const boltzmark::Rule& rule) {
  using Kind = boltzmark::Rule::Kind;
  switch (rule.kind) {
    case Kind::gibbs:
      return oracle::transition::Law::gibbs;
    case Kind::flip:
      return oracle::transition::Law::flip;
    case Kind::blend:
      return oracle::transition::Law::blend;
    case Kind::metropolis:
      return oracle::transition::Law::metropolis;
    case Kind::own:
      break;
  }
  return oracle::transition::Law::gibbs;
}

inline oracle::transition::LongMatrix sweep_of(const boltzmark::Layered& model,
                                               const boltzmark::Rule& rule) {
  return oracle::transition::sweep_matrix(network(model), law(rule), rule.blend);
}

/// An RBM with parameters uniform on (-scale, scale).
inline boltzmark::Layered uniform_rbm(int visible, int hidden, double scale, std::uint64_t index,
                                      double bias_scale = -1) {
  boltzmark::Stream stream(boltzmark::make_key(7, "transition tests"), boltzmark::Purpose::test,
                           index);
  if (bias_scale < 0) bias_scale = scale;
  Eigen::MatrixXd w(visible, hidden);
  Eigen::VectorXd b(visible), c(hidden);
  for (double& x : w.reshaped()) x = stream.uniform(-scale, scale);
  for (double& x : b) x = bias_scale == 0 ? 0 : stream.uniform(-bias_scale, bias_scale);
  for (double& x : c) x = bias_scale == 0 ? 0 : stream.uniform(-bias_scale, bias_scale);
  return boltzmark::Layered::rbm(w, b, c);
}

/// A network of any depth whose parameters are in {-1, 0, 1} quarters: many exact ties.
inline boltzmark::Layered tied_network(const std::vector<int>& sizes, std::uint64_t index) {
  boltzmark::Stream stream(boltzmark::make_key(8, "tied networks"), boltzmark::Purpose::test,
                           index);
  const auto draw = [&stream] { return (static_cast<double>(stream.below(9)) - 4) / 4; };
  std::vector<boltzmark::Layer> layers(sizes.size());
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    layers[l].bias.resize(sizes[l]);
    for (double& x : layers[l].bias) x = draw();
    if (l + 1 == sizes.size()) break;
    Eigen::MatrixXd w(sizes[l], sizes[l + 1]);
    for (double& x : w.reshaped()) x = draw();
    weights.push_back(w);
  }
  return boltzmark::Layered(layers, weights);
}

inline boltzmark::Layered zero_rbm(int visible, int hidden) {
  return boltzmark::Layered::rbm(Eigen::MatrixXd::Zero(visible, hidden),
                                 Eigen::VectorXd::Zero(visible), Eigen::VectorXd::Zero(hidden));
}

inline std::vector<boltzmark::Rule> all_rules() {
  std::vector<boltzmark::Rule> rules;
  for (const boltzmark::RuleInfo& info : boltzmark::registered_rules())
    rules.push_back(boltzmark::parse_rule(info.name));
  return rules;
}

}  // namespace transition_models
