#include "boltzmark/random/draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/random/draws.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own header after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::uint32_t kMultiplier0 = 0xD2511F53U;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57U;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9U;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85U;

// Full 32 x 32 products of all lanes: even and odd lanes apart, then interleaved again.
template <class D, class V>
HWY_INLINE void multiply(D d, V a, V multiplier, V& high, V& low) {
  const hn::Repartition<std::uint64_t, D> wide;
  const auto even = hn::MulEven(a, multiplier);
  const auto odd =
      hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), multiplier);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

void fill(std::uint32_t* HWY_RESTRICT out, const DrawTile& tile, StreamKey key) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const std::uint32_t lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const auto multiplier0 = hn::Set(d, kMultiplier0);
  const auto multiplier1 = hn::Set(d, kMultiplier1);
  const auto sweep_low = static_cast<std::uint32_t>(tile.sweep);
  const auto purpose = static_cast<std::uint32_t>(Purpose::unit_update) + tile.layer +
                       (static_cast<std::uint32_t>(tile.sweep >> 32) << 8);
  for (std::uint32_t u = 0; u < tile.units; u += 4) {
    for (std::uint32_t c = 0; c < tile.chains; c += lanes) {
      auto c0 = hn::Set(d, (tile.first_unit + u) / 4);
      auto c1 = hn::Iota(d, tile.first_chain + c);
      auto c2 = hn::Set(d, sweep_low);
      auto c3 = hn::Set(d, purpose);
      std::uint32_t k0 = key.low;
      std::uint32_t k1 = key.high;
      for (int round = 0; round < 10; ++round) {
        hn::Vec<decltype(d)> high0, low0, high1, low1;
        multiply(d, c0, multiplier0, high0, low0);
        multiply(d, c2, multiplier1, high1, low1);
        c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
        c1 = low1;
        c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
        c3 = low0;
        k0 += kWeyl0;
        k1 += kWeyl1;
      }
      std::uint32_t* row = out + static_cast<std::size_t>(u) * tile.chains + c;
      hn::StoreU(c0, d, row);
      hn::StoreU(c1, d, row + tile.chains);
      hn::StoreU(c2, d, row + 2 * static_cast<std::size_t>(tile.chains));
      hn::StoreU(c3, d, row + 3 * static_cast<std::size_t>(tile.chains));
    }
  }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(fill);

void PhiloxDraws::fill(std::uint32_t* out, const DrawTile& tile) const {
  HWY_DYNAMIC_DISPATCH(fill)(out, tile, key_);
}

}  // namespace boltzmark
#endif
