#include "boltzmark/learn/cases/minibatches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

constexpr std::uint64_t kNoEpoch = std::numeric_limits<std::uint64_t>::max();

}  // namespace

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

}  // namespace boltzmark
