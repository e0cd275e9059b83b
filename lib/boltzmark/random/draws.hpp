#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// Where a range of draws stands: which units of which layer, which chains, which sweep.
struct DrawRange {
  std::uint32_t layer = 0;
  std::uint32_t first_unit = 0;   ///< a multiple of 4
  std::uint32_t units = 0;        ///< a multiple of 4
  std::uint32_t first_chain = 0;  ///< a multiple of 16, unless chains = 1
  std::uint32_t chains = 0;       ///< a multiple of 16, or 1
  std::uint64_t sweep = 0;

  /// Returns the last word of the counters.
  std::uint32_t last_word() const {
    return static_cast<std::uint32_t>(Purpose::unit_update) + layer +
           (static_cast<std::uint32_t>(sweep >> 32) << 8);
  }
};

/// The source of the draws of unit updates. A kernel calls fill once per range, so that the same
/// compiled kernel runs on Philox in production and on a script in verification.
class Draws {
 public:
  virtual ~Draws() = default;
  /// Writes uniform uint32 draws.  Shapes  out [range.units x range.chains], chains contiguous
  virtual void fill(std::uint32_t* out, const DrawRange& range) const = 0;
};

/// Philox4x32-10 draws, keyed by (seed, experiment, trial), counted by (unit block, chain, sweep,
/// purpose).
///   The draw of unit u, chain c at sweep s in layer l is word u % 4 of
///   philox(key, {u / 4, c, low 32 bits of s, unit_update + l + 2^8 (high 24 bits of s)})
class PhiloxDraws final : public Draws {
 public:
  explicit PhiloxDraws(StreamKey key) : key_(key) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override;

 private:
  StreamKey key_;
};

/// Sees each block of four draws, by its key and its counter, as it is made: for the check that no
/// draw is made for two uses. Called by all threads at once.
using DrawAudit = std::function<void(StreamKey, const std::array<std::uint32_t, 4>& counter)>;

/// Who sees the draws from now on; null: nobody. It must outlive its being here.
inline std::atomic<const DrawAudit*> draw_audit = nullptr;

}  // namespace boltzmark
