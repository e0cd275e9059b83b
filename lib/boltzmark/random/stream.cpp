#include "boltzmark/random/stream.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/random/draws.hpp"

namespace boltzmark {

std::array<std::uint32_t, 4> philox(StreamKey key, std::array<std::uint32_t, 4> counter) {
  const r123::Philox4x32::ctr_type in{{counter[0], counter[1], counter[2], counter[3]}};
  const auto out = r123::Philox4x32{}(in, {{key.low, key.high}});
  return {out[0], out[1], out[2], out[3]};
}

Stream::Stream(StreamKey key, Purpose purpose, std::uint64_t index)
    : key_(key), purpose_(static_cast<std::uint32_t>(purpose)), index_(index) {}

std::uint32_t Stream::operator()() {
  if (left_ == 0) {
    const std::array counter = {block_++, static_cast<std::uint32_t>(index_),
                                static_cast<std::uint32_t>(index_ >> 32), purpose_};
    draws_ = philox(key_, counter);
    if (const DrawAudit* audit = draw_audit.load(std::memory_order_relaxed))
      (*audit)(key_, counter);
    left_ = 4;
  }
  return draws_[4 - left_--];
}

void Stream::skip(std::uint64_t draws) {
  const std::uint64_t here = std::min<std::uint64_t>(draws, static_cast<std::uint64_t>(left_));
  left_ -= static_cast<int>(here);
  block_ += static_cast<std::uint32_t>((draws - here) / 4);
  for (std::uint64_t rest = (draws - here) % 4; rest > 0; --rest) (*this)();
}

double Stream::uniform() {
  const std::uint64_t high = (*this)();
  const std::uint64_t bits = (high << 21) ^ ((*this)() >> 11);
  // From 2^52 on the half is rounded away or up, of the last one to 1.
  return std::min((static_cast<double>(bits) + 0.5) * 0x1p-53, 1 - 0x1p-53);
}

double Stream::uniform(double low, double high) { return low + (high - low) * uniform(); }

// A uniform is never 0 or 1.
double Stream::normal() { return normal_quantile(uniform()); }

bool Stream::bernoulli(double p) {
  return (*this)() < static_cast<std::uint64_t>(std::round(p * 0x1p32));
}

std::uint64_t Stream::below(std::uint64_t n) {
  if (n == 0) throw InvalidArgument("n = 0 (must be at least 1)");
  // Draws past the last whole multiple of n are rejected: no modulo bias.
  const std::uint64_t limit = std::numeric_limits<std::uint64_t>::max() / n * n;
  for (;;) {
    const std::uint64_t high = (*this)();
    const std::uint64_t draw = (high << 32) | (*this)();
    if (draw < limit) return draw % n;
  }
}

std::vector<int> permutation(int count, Stream& stream) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (int last = count - 1; last > 0; --last)
    std::swap(order[last], order[stream.below(static_cast<std::uint64_t>(last) + 1)]);
  return order;
}

}  // namespace boltzmark
