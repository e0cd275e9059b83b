#include "boltzmark/transition/chains.hpp"

#include <fmt/format.h>

#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

Chains::Chains(const Layered& model, int chains) : chains_(chains) {
  if (chains < 1) throw InvalidArgument(fmt::format("chains = {} (must be at least 1)", chains));
  for (int l = 0; l < model.layers(); ++l) {
    sizes_.push_back(model.size(l));
    values_.emplace_back(static_cast<std::size_t>(blocks()) * model.size(l) * kChainBlock, 0.0F);
  }
}

void Chains::set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states) {
  if (states.rows() != sizes_[layer] || states.cols() != chains_)
    throw InvalidArgument(fmt::format("states = [{} x {}] (must be [{} x {}])", states.rows(),
                                      states.cols(), sizes_[layer], chains_));
  for (int c = 0; c < chains_; ++c)
    for (int u = 0; u < sizes_[layer]; ++u) set(layer, u, c, states(u, c));
}

Eigen::MatrixXf Chains::get_layer(int layer) const {
  Eigen::MatrixXf states(sizes_[layer], chains_);
  for (int c = 0; c < chains_; ++c)
    for (int u = 0; u < sizes_[layer]; ++u) states(u, c) = get(layer, u, c);
  return states;
}

State Chains::get_chain(int chain) const {
  State state;
  for (int l = 0; l < layers(); ++l) {
    Eigen::VectorXd& values = state.emplace_back(sizes_[l]);
    for (int u = 0; u < sizes_[l]; ++u) values[u] = get(l, u, chain);
  }
  return state;
}

void Chains::exchange(int first, int second) {
  for (int l = 0; l < layers(); ++l)
    for (int u = 0; u < sizes_[l]; ++u)
      std::swap(values_[l][offset(l, u, first)], values_[l][offset(l, u, second)]);
}

void Chains::randomise(StreamKey key) {
  for (int c = 0; c < chains_; ++c) {
    Stream stream(key, Purpose::initial_state, static_cast<std::uint64_t>(c));
    for (int l = 0; l < layers(); ++l)
      for (int u = 0; u < sizes_[l]; ++u) set(l, u, c, stream() < 0x80000000U ? 1.0F : 0.0F);
  }
}

}  // namespace boltzmark
