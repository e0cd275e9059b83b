#include "boltzmark/transition/chains.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

double tail_of(std::uint32_t draw) { return (static_cast<double>(draw) + 0.5) * 0x1p-32; }

double normal_value(std::uint32_t draw) { return -normal_quantile(tail_of(draw)); }

// The value that a draw chooses where nothing is known, as stored; not increasing in the draw.
float initial_value(Unit unit, std::uint32_t draw) {
  if (!unit.is_discrete()) return static_cast<float>(1 - 2 * tail_of(draw));
  const auto values = static_cast<std::uint64_t>(unit.values());
  const auto k = static_cast<int>(values - 1 - (draw * values >> 32));
  return unit.state(k);
}

}  // namespace

void require_states(Unit unit, const Eigen::Ref<const Eigen::MatrixXf>& cases) {
  for (const float value : cases.reshaped())
    if (!unit.holds(static_cast<double>(value), kStateTolerance))
      throw InvalidArgument(
          fmt::format("value = {} (must be a state of {} units)", value, unit.name()));
}

void require_within(Unit unit, const Eigen::Ref<const Eigen::MatrixXf>& cases) {
  for (const float value : cases.reshaped())
    if (!std::isfinite(value) || value < static_cast<float>(unit.lowest()) ||
        value > static_cast<float>(unit.highest()))
      throw InvalidArgument(fmt::format("value = {} (must be in {} .. {}, of {} units)", value,
                                        unit.lowest(), unit.highest(), unit.name()));
}

Chains::Chains(const Layered& model, int chains) : chains_(chains) {
  if (chains < 1) throw InvalidArgument(fmt::format("chains = {} (must be at least 1)", chains));
  for (int l = 0; l < model.layers(); ++l) {
    sizes_.push_back(model.size(l));
    units_.push_back(model.layer(l).unit);
    const Unit unit = units_.back();
    means_.push_back(unit.has_scale() ? model.bias(l) : Eigen::VectorXd());
    scales_.push_back(model.layer(l).sigma0);
    values_.emplace_back(static_cast<std::size_t>(blocks()) * model.size(l) * kChainBlock,
                         unit.has_scale() ? 0.0F : unit.stored(static_cast<float>(unit.lowest())));
  }
}

void Chains::require_layer(int layer) const {
  if (layer < 0 || layer >= layers())
    throw InvalidArgument(fmt::format("layer = {} (must be 0 to {})", layer, layers() - 1));
}

void Chains::require_chain(int chain) const {
  if (chain < 0 || chain >= chains_)
    throw InvalidArgument(fmt::format("chain = {} (must be 0 to {})", chain, chains_ - 1));
}

void Chains::set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states) {
  require_layer(layer);
  if (states.rows() != sizes_[layer] || states.cols() != chains_)
    throw InvalidArgument(fmt::format("states = [{} x {}] (must be [{} x {}])", states.rows(),
                                      states.cols(), sizes_[layer], chains_));
  for (int c = 0; c < chains_; ++c)
    for (int u = 0; u < sizes_[layer]; ++u) set(layer, u, c, states(u, c));
}

Eigen::MatrixXf Chains::get_layer(int layer) const {
  require_layer(layer);
  Eigen::MatrixXf states(sizes_[layer], chains_);
  for (int c = 0; c < chains_; ++c)
    for (int u = 0; u < sizes_[layer]; ++u) states(u, c) = get(layer, u, c);
  return states;
}

State Chains::get_chain(int chain) const {
  require_chain(chain);
  State state;
  for (int l = 0; l < layers(); ++l) {
    Eigen::VectorXd& values = state.emplace_back(sizes_[l]);
    for (int u = 0; u < sizes_[l]; ++u) values[u] = get(l, u, chain);
  }
  return state;
}

void Chains::exchange(int first, int second) {
  require_chain(first);
  require_chain(second);
  for (int l = 0; l < layers(); ++l)
    for (int u = 0; u < sizes_[l]; ++u)
      std::swap(values_[l][offset(l, u, first)], values_[l][offset(l, u, second)]);
}

void Chains::copy_chain(int chain, const Chains& from, int source) {
  require_chain(chain);
  from.require_chain(source);
  if (from.sizes_ != sizes_ || from.units_ != units_)
    throw InvalidArgument("from (must be chains of the same model)");
  for (int l = 0; l < layers(); ++l)
    for (int u = 0; u < sizes_[l]; ++u)
      values_[l][offset(l, u, chain)] = from.values_[l][from.offset(l, u, source)];
}

void Chains::randomise(StreamKey key) {
  for (int c = 0; c < chains_; ++c) {
    Stream stream(key, Purpose::initial_state, static_cast<std::uint64_t>(c));
    for (int l = 0; l < layers(); ++l)
      for (int u = 0; u < sizes_[l]; ++u)
        values_[l][offset(l, u, c)] =
            units_[l].has_scale()
                ? static_cast<float>(means_[l][u] + scales_[l][u] * normal_value(stream()))
                : initial_value(units_[l], stream());
  }
}

void require_visits(std::span<const Chains> groups, std::span<const double> visits) {
  std::size_t chains = 0;
  for (const Chains& group : groups) chains += static_cast<std::size_t>(group.chains());
  if (!visits.empty() && visits.size() != chains)
    throw InvalidArgument(
        fmt::format("visits = {} (must be {}, one a chain visited)", visits.size(), chains));
}

}  // namespace boltzmark
