#include "boltzmark/learn/cases/case_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

constexpr int kVisibleLayer = 0;

float* first_value(Chains& chains, int chain) {
  return chains.block(kVisibleLayer, chain / kChainBlock) + chain % kChainBlock;
}

// Cases and chains that are not there would be read and written beyond what is.
void require_fits(const CaseValues& data, const Chains& chains, std::span<const int> cases) {
  if (chains.size(kVisibleLayer) != data.rows() || static_cast<int>(cases.size()) > chains.chains())
    throw InvalidArgument(fmt::format("chains = {} of {} units (must be at least {}, of {})",
                                      chains.chains(), chains.size(kVisibleLayer), cases.size(),
                                      data.rows()));
  for (const int number : cases) data.require_case(number);
}

constexpr std::uint64_t kNoEpoch = std::numeric_limits<std::uint64_t>::max();

}  // namespace

GivenCases::GivenCases(CaseValues data, Unit unit) : data_(std::move(data)), unit_(unit) {
  const auto lowest = static_cast<float>(unit.lowest());
  const auto highest = static_cast<float>(unit.highest());
  if (!data_.all([&](float x) { return std::isfinite(x) && x >= lowest && x <= highest; }))
    throw InvalidArgument(
        fmt::format("data = a value outside [{}, {}] (must be within, for {} units)", lowest,
                    highest, unit.name()));
}

bool GivenCases::are_values() const {
  if (unit_.has_scale()) return true;
  const auto low = static_cast<float>(unit_.lowest()), high = static_cast<float>(unit_.highest());
  return data_.all([&](float x) { return x == low || x == high; });
}

bool GivenCases::are_states() const {
  return !unit_.is_discrete() || are_values() ||
         data_.all([&](float x) { return unit_.holds(static_cast<double>(x), 0x1p-23); });
}

void GivenCases::fill(Chains& chains, std::span<const int> cases, std::uint64_t) {
  require_fits(data_, chains, cases);
  for (int c = 0; c < static_cast<int>(cases.size()); ++c) {
    const Eigen::VectorXf values = data_.col(cases[c]);
    float* out = first_value(chains, c);
    for (int u = 0; u < units(); ++u)
      out[static_cast<std::size_t>(u) * kChainBlock] = unit_.stored(values[u]);
  }
}

std::uint64_t GivenCases::hash(std::uint64_t seed) const { return data_.hash(seed); }

DrawnCases::DrawnCases(CaseValues means, Unit unit, StreamKey key)
    : GivenCases(std::move(means), unit), key_(key) {
  if (unit.has_scale())
    throw InvalidArgument("unit = Gaussian (must have a least and a greatest value to draw)");
}

// By blocks of chains, which share cache lines.
void DrawnCases::fill(Chains& chains, std::span<const int> cases, std::uint64_t update) {
  require_fits(data(), chains, cases);
  const Unit unit = chains.unit(kVisibleLayer);
  const double low = unit.lowest(), range = unit.highest() - low;
  const float stored[] = {unit.stored(static_cast<float>(low)),
                          unit.stored(static_cast<float>(unit.highest()))};
  parallel_for((cases.size() + kChainBlock - 1) / kChainBlock, [&](std::size_t block) {
    const std::size_t end = std::min(cases.size(), (block + 1) * kChainBlock);
    for (std::size_t c = block * kChainBlock; c < end; ++c) {
      const int number = cases[c];
      Stream stream(
          key_, Purpose::drawn_case,
          update * static_cast<std::uint64_t>(this->cases()) + static_cast<std::uint64_t>(number));
      float* out = first_value(chains, static_cast<int>(c));
      for (int u = 0; u < units(); ++u) {
        const double mean = data()(u, number);
        out[static_cast<std::size_t>(u) * kChainBlock] =
            stored[stream.bernoulli((mean - low) / range) ? 1 : 0];
      }
    }
  });
}

std::uint64_t DrawnCases::hash(std::uint64_t seed) const {
  CheckpointWriter bytes;
  bytes.write("cases drawn anew");
  bytes.write(std::uint64_t{key_.high} << 32 | key_.low);
  return GivenCases::hash(hash_bytes(bytes.finish(), seed));
}

Minibatches::Minibatches(int cases, int batch, StreamKey key)
    : cases_(cases), batch_(batch), key_(key), epoch_(kNoEpoch) {
  if (batch < 1 || batch > cases)
    throw InvalidArgument(fmt::format("batch = {} (must be 1..{}, the cases)", batch, cases));
  order_.resize(cases);
  std::iota(order_.begin(), order_.end(), 0);
}

std::span<const int> Minibatches::cases(std::uint64_t update) {
  if (is_whole()) return order_;
  const auto minibatches = static_cast<std::uint64_t>(per_epoch());
  if (update / minibatches != epoch_) permute(update / minibatches);
  const int first = static_cast<int>(update % minibatches) * batch_;
  return std::span<const int>(order_).subspan(first, std::min(batch_, cases_ - first));
}

// Each epoch starts from the cases' own order, so that it depends on its number alone.
void Minibatches::permute(std::uint64_t epoch) {
  Stream stream(key_, Purpose::minibatch, epoch);
  order_ = permutation(cases_, stream);
  epoch_ = epoch;
}

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
