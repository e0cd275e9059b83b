#include "verification/checks/laws/table_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

TableTarget::TableTarget(const Layered& model, const Base& base)
    : log_normaliser_(log_normaliser(model, base)) {
  if (!model.is_binary()) throw InvalidArgument("units (must all be Bernoulli for a table)");
  if (model.units() > kMaxUnits)
    throw InvalidArgument(
        fmt::format("units = {} (must be at most {} for a table)", model.units(), kMaxUnits));
  std::vector<int> firsts;
  for (int l = 0; l < model.layers(); ++l) {
    firsts.push_back(units());
    for (int i = 0; i < model.size(l); ++i) {
      if (l % 2 == 0) marginal_mask_ |= std::uint32_t{1} << units();
      units_.push_back({.layer = l,
                        .place = i,
                        .bias = model.bias(l)[i],
                        .base_logit = base.logits[l][i],
                        .couplings = std::vector<double>(model.units(), 0.0)});
    }
  }
  for (int l = 0; l + 1 < model.layers(); ++l)
    for (int i = 0; i < model.size(l); ++i)
      for (int j = 0; j < model.size(l + 1); ++j) {
        const int below = firsts[l] + i, above = firsts[l + 1] + j;
        units_[below].couplings[above] = units_[above].couplings[below] = model.weights(l)(i, j);
      }
  // Each state from the one without its highest unit, which the units below it act on.
  log_ratio_.assign(states(), log_normaliser_);
  for (std::uint32_t state = 1; state < states(); ++state) {
    const int top = std::bit_width(state) - 1;
    const std::uint32_t rest = state ^ (std::uint32_t{1} << top);
    log_ratio_[state] = log_ratio_[rest] + input(top, rest, 1) - units_[top].base_logit;
  }
}

std::unique_ptr<Population> TableTarget::populate(int first_chain, int chains,
                                                  StreamKey key) const {
  return std::make_unique<TablePopulation>(*this, first_chain, chains, key);
}

double TableTarget::input(int unit, std::uint32_t state, double inverse_temperature) const {
  const Unit& own = units_[unit];
  double sum = own.bias;
  for (int u = 0; u < units(); ++u)
    if (state >> u & 1U) sum += own.couplings[u];
  return inverse_temperature * sum + (1 - inverse_temperature) * own.base_logit;
}

double TableTarget::log_density(std::uint32_t state, double inverse_temperature) const {
  const double b = inverse_temperature;
  const std::uint32_t marginal = state & marginal_mask_;
  double sum = -(1 - b) * log_normaliser_;
  for (int u = 0; u < units(); ++u) {
    if (units_[u].summed())
      sum += softplus(input(u, marginal, b));
    else if (marginal >> u & 1U)
      sum += b * units_[u].bias + (1 - b) * units_[u].base_logit;
  }
  return sum;
}

TablePopulation::TablePopulation(const TableTarget& target, int first_chain, int chains,
                                 StreamKey key)
    : target_(&target), first_chain_(first_chain), key_(key), states_(chains, 0) {}

// At inverse temperature 0 a sweep draws every unit from p1, whatever the state was.
void TablePopulation::draw_base() { move(std::vector<float>(states_.size(), 0.0F)); }

void TablePopulation::move(std::span<const float> inverse_temperatures) {
  const int units = target_->units();
  for (const bool odd : {true, false})
    for (int first = 0; first < units;) {
      const int layer = target_->unit(first).layer;
      int last = first;
      while (last < units && target_->unit(last).layer == layer) ++last;
      if ((layer % 2 == 1) == odd) update_layer(layer, first, last, inverse_temperatures);
      first = last;
    }
  ++sweep_;
}

void TablePopulation::update_layer(int layer, int first_unit, int last_unit,
                                   std::span<const float> betas) {
  const auto rows = static_cast<std::uint32_t>((last_unit - first_unit + 3) / 4 * 4);
  std::vector<std::uint32_t> draws(static_cast<std::size_t>(rows) * kChainBlock);
  const PhiloxDraws philox(key_);
  for (int block = 0; block < chains(); block += kChainBlock) {
    philox.fill(draws.data(), {.layer = static_cast<std::uint32_t>(layer),
                               .units = rows,
                               .first_chain = static_cast<std::uint32_t>(first_chain_ + block),
                               .chains = kChainBlock,
                               .sweep = sweep_});
    update_block(first_unit, last_unit, betas, block, draws.data());
  }
}

void TablePopulation::update_block(int first, int last_unit, std::span<const float> betas,
                                   int block, const std::uint32_t* draws) {
  const int end = std::min(chains(), block + kChainBlock);
  for (int u = first; u < last_unit; ++u)
    for (int c = block; c < end; ++c) {
      const double on = sigmoid(target_->input(u, states_[c], static_cast<double>(betas[c])));
      const auto threshold = static_cast<std::uint64_t>(std::llround(on * 0x1p32));
      const std::uint32_t bit = std::uint32_t{1} << u;
      const bool next = draws[(u - first) * kChainBlock + (c - block)] < threshold;
      states_[c] = next ? states_[c] | bit : states_[c] & ~bit;
    }
}

void TablePopulation::log_ratio(std::span<double> out) {
  for (int c = 0; c < chains(); ++c) out[c] = target_->log_ratio(states_[c]);
}

void TablePopulation::log_densities(const Ladder& ladder, std::span<double> out) {
  for (int c = 0; c < chains(); ++c)
    for (int k = 0; k < ladder.rungs(); ++k)
      out[static_cast<std::size_t>(c) * ladder.rungs() + k] =
          target_->log_density(states_[c], ladder[k]);
}

void TablePopulation::log_increment(float from, float to, std::span<double> out) {
  for (int c = 0; c < chains(); ++c)
    out[c] = target_->log_density(states_[c], static_cast<double>(to)) -
             target_->log_density(states_[c], static_cast<double>(from));
}

void TablePopulation::copy_chain(int chain, const Population& from, int source) {
  states_[chain] = dynamic_cast<const TablePopulation&>(from).states_[source];
}

}  // namespace boltzmark
