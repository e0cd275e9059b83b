#pragma once

#include <string>
#include <vector>

#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "boltzmark/random/stream.hpp"

// Models whose spectra are known to the last bit.
namespace spectrum_cases {

/// Layers of so many units each, with parameters uniform on (-1, 1).
inline boltzmark::Layered uniform_network(const std::vector<boltzmark::Unit>& units,
                                          const std::vector<int>& sizes) {
  boltzmark::Stream stream(boltzmark::make_key(9, "spectrum cases"), boltzmark::Purpose::test);
  std::vector<boltzmark::Layer> layers(sizes.size());
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    layers[l].unit = units[l];
    layers[l].bias.resize(sizes[l]);
    for (double& x : layers[l].bias) x = stream.uniform(-1, 1);
    if (l + 1 == sizes.size()) break;
    Eigen::MatrixXd w(sizes[l], sizes[l + 1]);
    for (double& x : w.reshaped()) x = stream.uniform(-1, 1);
    weights.push_back(w);
  }
  return boltzmark::Layered(layers, weights);
}

struct Case {
  std::string name;
  boltzmark::Layered model;
  boltzmark::Rule rule;
  boltzmark::Scan scan;
};

/// The models: sides of equal and unequal size, units of many values, chunks that cut through a
/// side's states and a last one that is short, a deep network, a side that is one unit.
inline std::vector<Case> cases() {
  using boltzmark::Rule, boltzmark::Scan, boltzmark::Unit;
  const Unit bit = Unit::bernoulli(), three = Unit::multivalued(2), four = Unit::multivalued(3);
  std::vector<Case> all;
  const auto add = [&all](const std::string& name, const boltzmark::Layered& model,
                          const Rule& rule) {
    all.push_back({name, model, rule, Scan::periodic});
    all.push_back({name, model, rule, Scan::random});
  };
  add("8x8", uniform_network({bit, bit}, {8, 8}), Rule::flip());
  add("7x9", uniform_network({bit, bit}, {7, 9}), Rule::blended(0.5));
  add("8x8 gibbs", uniform_network({bit, bit}, {8, 8}), Rule::gibbs());
  add("three values x four", uniform_network({three, four}, {6, 3}), Rule::flip());
  add("all three values", uniform_network({three, three}, {5, 4}), Rule::blended(0.3));
  add("deep", uniform_network({bit, bit, three, bit}, {4, 3, 2, 3}), Rule::flip());
  add("13x1", uniform_network({bit, bit}, {13, 1}), Rule::flip());
  return all;
}

}  // namespace spectrum_cases
