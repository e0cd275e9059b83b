#include "boltzmark/learn/cases/stacked_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

void copy_to_visible(const Chains& from, int layer, Chains& to) {
  const std::size_t values =
      static_cast<std::size_t>(to.blocks()) * static_cast<std::size_t>(to.size(0)) * kChainBlock;
  std::copy_n(from.block(layer, 0), values, to.block(0, 0));
}

}  // namespace

StackedCases::StackedCases(std::shared_ptr<CaseSource> cases, std::vector<Layered> below,
                           std::uint64_t first_update, StreamKey key)
    : cases_(std::move(cases)), below_(std::move(below)), first_update_(first_update), key_(key) {
  int units = cases_->units();
  for (const Layered& rbm : below_) {
    if (!rbm.is_rbm() || rbm.size(0) != units)
      throw InvalidArgument(fmt::format("below (must be RBMs, this one on {} units)", units));
    units = rbm.size(1);
    packed_.emplace_back(rbm, Packing{.values = packed_.empty() ? cases_->are_values() : true});
  }
}

int StackedCases::units() const { return below_.empty() ? cases_->units() : below_.back().size(1); }

void StackedCases::fill(Chains& chains, std::span<const int> cases, std::uint64_t update) {
  if (below_.empty()) return cases_->fill(chains, cases, first_update_ + update);
  Chains states(below_.front(), chains.chains());
  cases_->fill(states, cases, first_update_ + update);
  for (std::size_t l = 0; l < below_.size(); ++l) {
    if (l > 0) {
      Chains next(below_[l], chains.chains());
      copy_to_visible(states, 1, next);
      states = std::move(next);
    }
    const PhiloxDraws draws(derive_key(key_, "stacked cases", fmt::format("{}", l)));
    half_sweep(packed_[l], states, draws, {.first_sweep = first_update_ + update}, 1);
  }
  copy_to_visible(states, 1, chains);
}

std::uint64_t StackedCases::hash(std::uint64_t seed) const {
  CheckpointWriter bytes;
  for (const Layered& rbm : below_) {
    bytes.write(rbm.weights(0));
    bytes.write(rbm.bias(1));
    bytes.write(static_cast<std::uint64_t>(rbm.layer(1).unit.code()));
  }
  bytes.write(std::uint64_t{key_.high} << 32 | key_.low);
  bytes.write(first_update_);
  return cases_->hash(hash_bytes(bytes.finish(), seed));
}

}  // namespace boltzmark
