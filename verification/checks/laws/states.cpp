#include "verification/checks/laws/states.hpp"

#include <vector>

namespace boltzmark {

Eigen::VectorXd layer_input(const Layered& model, const State& state, int layer) {
  Eigen::VectorXd input = model.bias(layer);
  if (model.layer(layer).unit.has_scale()) input.setZero();
  if (layer > 0) input += model.weights(layer - 1).transpose() * state[layer - 1];
  if (layer + 1 < model.layers()) input += model.weights(layer) * state[layer + 1];
  return input;
}

State state_at(const StateSpace& space, std::size_t index) {
  std::vector<std::vector<double>> layers(
      static_cast<std::size_t>(space.place(space.units() - 1).layer + 1));
  for (int u = 0; u < space.units(); ++u)
    layers[static_cast<std::size_t>(space.place(u).layer)].push_back(space.value(u, index));
  State state;
  for (const std::vector<double>& values : layers)
    state.emplace_back(
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size())));
  return state;
}

std::size_t index_of(const StateSpace& space, const State& state) {
  std::size_t result = 0;
  int unit = 0;
  for (const Eigen::VectorXd& values : state)
    for (const double value : values) {
      const Unit kind = space.place(unit).kind;
      const int k = kind.index(kind.stored(static_cast<float>(value)));
      result += static_cast<std::size_t>(k) * space.place(unit++).stride;
    }
  return result;
}

void put_state(Chains& chains, int chain, const StateSpace& space, std::size_t index) {
  for (int u = 0; u < space.units(); ++u)
    chains.set(space.place(u).layer, space.place(u).unit, chain,
               static_cast<float>(space.value(u, index)));
}

}  // namespace boltzmark
