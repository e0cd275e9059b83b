#include "verification/exact/support/spin_encoding.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

// x = scale y + shift.
struct Change {
  double scale = 1;
  double shift = 0;
};

std::vector<Change> changes(const Layered& model) {
  std::vector<Change> result;
  for (int l = 0; l < model.layers(); ++l) {
    const Unit unit = model.layer(l).unit;
    if (unit.has_scale())
      throw InvalidArgument(fmt::format("units of layer {} = Gaussian (must be others)", l));
    result.push_back(unit.code() == 1 ? Change{2, -1} : Change{});
  }
  return result;
}

}  // namespace

BernoulliForm to_bernoulli(const Layered& spins) {
  const std::vector<Change> change = changes(spins);
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  double constant = 0;
  for (int l = 0; l < spins.layers(); ++l) {
    Layer layer = spins.layer(l);
    if (layer.unit.code() == 1) layer.unit = Unit::bernoulli();
    constant += change[l].shift * layer.bias.sum();
    if (l > 0) layer.bias += change[l - 1].shift * spins.weights(l - 1).colwise().sum().transpose();
    if (l + 1 < spins.layers()) {
      const Eigen::MatrixXd& w = spins.weights(l);
      layer.bias += change[l + 1].shift * w.rowwise().sum();
      constant += change[l].shift * change[l + 1].shift * w.sum();
      weights.push_back(change[l].scale * change[l + 1].scale * w);
    }
    layer.bias *= change[l].scale;
    layers.push_back(std::move(layer));
  }
  return {Layered(std::move(layers), std::move(weights)), constant};
}

Parameters spin_gradient(const Layered& spins, const Parameters& bernoulli_gradient) {
  const std::vector<Change> change = changes(spins);
  Parameters result = bernoulli_gradient;
  bool same = result.biases.size() == change.size() && result.weights.size() + 1 == change.size();
  for (std::size_t l = 0; same && l < change.size(); ++l)
    same = result.biases[l].size() == spins.size(static_cast<int>(l));
  for (std::size_t l = 0; same && l + 1 < change.size(); ++l)
    same = result.weights[l].rows() == result.biases[l].size() &&
           result.weights[l].cols() == result.biases[l + 1].size();
  if (!same) throw InvalidArgument("gradient (must have the shapes of the model)");
  for (std::size_t l = 0; l < change.size(); ++l) {
    result.biases[l] *= change[l].scale;
    if (l + 1 == change.size()) break;
    const Change below = change[l], above = change[l + 1];
    result.weights[l] *= below.scale * above.scale;
    result.weights[l].colwise() += below.scale * above.shift * bernoulli_gradient.biases[l];
    result.weights[l].rowwise() +=
        below.shift * above.scale * bernoulli_gradient.biases[l + 1].transpose();
  }
  return result;
}

}  // namespace boltzmark
