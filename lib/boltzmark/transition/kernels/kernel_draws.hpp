// What the kernels of every kind of unit share: vector types and how a draw meets a probability.
// Included once per SIMD target: the guard toggles, as Highway wants of such headers.
//
// Draw and state are reflected so that values are counted from the likeliest one, 0: the tail
// P(next >= m) and its threshold round(2^32 P) are then precise however small they are, and the
// next value is the number of thresholds above the draw.

#if defined(BOLTZMARK_TRANSITION_KERNEL_DRAWS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_KERNEL_DRAWS
#undef BOLTZMARK_TRANSITION_KERNEL_DRAWS
#else
#define BOLTZMARK_TRANSITION_KERNEL_DRAWS
#endif

#include <hwy/highway.h>

#include "boltzmark/transition/chains.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, kChainBlock>;
using Words = hn::RebindToUnsigned<Floats>;
using Vector = hn::Vec<Floats>;
using Draw = hn::Vec<Words>;
using Mask = hn::Mask<Floats>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Floats()));

struct VectorOps {
  Vector set(float x) const { return hn::Set(Floats(), x); }
  Vector add(Vector a, Vector b) const { return hn::Add(a, b); }
  Vector subtract(Vector a, Vector b) const { return hn::Sub(a, b); }
  Vector multiply(Vector a, Vector b) const { return hn::Mul(a, b); }
  Vector divide(Vector a, Vector b) const { return hn::Div(a, b); }
  Vector select(Mask mask, Vector a, Vector b) const { return hn::IfThenElse(mask, a, b); }
};

HWY_INLINE Vector set(float x) { return hn::Set(Floats(), x); }
HWY_INLINE Mask no_lane() { return hn::Lt(set(0), set(0)); }

// draw < round(2^32 probability): never at 0, always at 1.
HWY_INLINE Mask below(Draw draw, Vector probability) {
  const Floats d;
  const Words w;
  const Vector scaled = hn::Mul(probability, set(0x1p32F));
  const Vector half_range = set(0x1p31F);
  const Mask high = hn::Ge(scaled, half_range);
  const auto low_bits =
      hn::BitCast(w, hn::NearestInt(hn::IfThenElse(high, hn::Sub(scaled, half_range), scaled)));
  const auto top_bit = hn::IfThenElseZero(hn::RebindMask(w, high), hn::Set(w, 0x80000000U));
  const auto threshold = hn::Xor(low_bits, top_bit);
  const Mask always = hn::Ge(scaled, set(0x1p32F));
  return hn::Or(hn::RebindMask(d, hn::Lt(draw, threshold)), always);
}

// Complements the draw where the higher values are the likelier ones.
HWY_INLINE Draw reflected(Draw draw, Mask likely_high) {
  const Words w;
  return hn::Xor(draw, hn::VecFromMask(w, hn::RebindMask(w, likely_high)));
}

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
