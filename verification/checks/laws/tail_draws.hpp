#pragma once

#include <cstdint>

#include "boltzmark/random/draws.hpp"

namespace boltzmark {

/// Philox's draws, moved to both tails: shifted by 0 to 31 bits, every other one complemented.
class TailDraws final : public Draws {
 public:
  explicit TailDraws(StreamKey key) : philox_(key) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    philox_.fill(out, range);
    for (std::uint32_t* draw = out; draw != out + range.units * range.chains; ++draw) {
      const std::uint32_t bits = *draw >> (*draw & 31);
      *draw = (*draw & 32) != 0 ? ~bits : bits;
    }
  }

 private:
  PhiloxDraws philox_;
};

}  // namespace boltzmark
