// How the SIMD kernels draw the next state of Bernoulli units and spins. Included once per SIMD
// target: the guard toggles, as Highway wants of such headers.

#if defined(BOLTZMARK_TRANSITION_TWO_VALUED_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_TWO_VALUED_KERNELS
#undef BOLTZMARK_TRANSITION_TWO_VALUED_KERNELS
#else
#define BOLTZMARK_TRANSITION_TWO_VALUED_KERNELS
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <type_traits>

#include "boltzmark/transition/kernels/kernel_draws.hpp"
#include "boltzmark/transition/kernels/rough_law.hpp"
#include "boltzmark/transition/rules.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {

// Bernoulli units {0, 1} and spins {-1, 1}, whose log odds are twice their input.
template <class Law, bool spin>
struct TwoValued {
  Vector share;

  HWY_INLINE Vector operator()(Vector input, Vector state, Draw draw) const {
    const Floats d;
    const Vector zero = hn::Zero(d);
    const Vector log_odds = spin ? hn::Add(input, input) : input;
    const Mask likely_on = hn::Gt(log_odds, zero);
    const Mask on = hn::Gt(state, zero);
    const Vector ratio = hn::Exp(d, hn::Neg(hn::Abs(log_odds)));
    const Vector q = rules::unlikely<Law>(VectorOps(), ratio, hn::Xor(on, likely_on),
                                          hn::Eq(log_odds, zero), share);
    const Mask unlikely = below(reflected(draw, likely_on), q);
    return value(hn::Xor(unlikely, likely_on));
  }

  HWY_INLINE static Vector value(Mask on) {
    return spin ? hn::IfThenElse(on, set(1), set(-1)) : hn::IfThenElseZero(on, set(1));
  }
};

#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
// Which laws a rough law is known of; others are computed for every draw.
template <class Law>
constexpr bool kRoughlyGibbs = std::is_same_v<Law, rules::Gibbs>;
template <class Law>
constexpr bool kRoughlyFlips =
    std::is_same_v<Law, rules::FlipTheState> || std::is_same_v<Law, rules::Metropolis>;

// Units of two values by a rough law: a draw that is farther from it than its error is decided, and
// a vector with a draw that is not goes to the law itself. The decisions are the law's.
template <class Law, bool spin>
struct Rough {
  static constexpr bool kFlips = kRoughlyFlips<Law>;
  TwoValued<Law, spin> law;
  Vector constant[2], linear[2], square[2];

  explicit Rough(const TwoValued<Law, spin>& exact) : law(exact) {
    const Floats d;
    const RoughLaw& rough = kFlips ? rough_flip() : rough_gibbs();
    for (int half = 0; half < 2; ++half) {
      constant[half] = hn::Load(d, rough.constant.data() + half * kLanes);
      linear[half] = hn::Load(d, rough.linear.data() + half * kLanes);
      square[half] = hn::Load(d, rough.square.data() + half * kLanes);
    }
  }

  HWY_INLINE Vector operator()(Vector input, Vector state, Draw draw) const {
    const Floats d;
    const Vector log_odds = spin ? hn::Add(input, input) : input;
    const Mask likely_on = hn::Gt(log_odds, hn::Zero(d));
    const Vector size = hn::Min(hn::Abs(log_odds), set(kLargest));
    const __m512i interval = _mm512_cvttps_epi32(hn::Mul(size, set(RoughLaw::kPerUnit)).raw);
    const Vector q = hn::MulAdd(hn::MulAdd(entry(square, interval), size, entry(linear, interval)),
                                size, entry(constant, interval));
    const Vector place{_mm512_cvtepu32_ps(reflected(draw, likely_on).raw)};
    const Vector distance = hn::MulSub(place, set(0x1p-32F), q);
    Mask unlikely = hn::Lt(distance, hn::Zero(d));
    Mask close = hn::Le(hn::Abs(distance), set(kRoughError));
    if (kFlips) {  // the less likely state is always left, but for ties
      const Mask at_unlikely = hn::Xor(hn::Gt(state, hn::Zero(d)), likely_on);
      unlikely = hn::AndNot(at_unlikely, unlikely);
      close = hn::Or(hn::AndNot(at_unlikely, close), hn::Eq(size, hn::Zero(d)));
    }
    if (HWY_UNLIKELY(!hn::AllFalse(d, close))) return law(input, state, draw);
    return law.value(hn::Xor(unlikely, likely_on));
  }

 private:
  static constexpr float kLargest =
      (RoughLaw::kIntervals - 0.5F) / RoughLaw::kPerUnit;  // within the last interval

  HWY_INLINE static Vector entry(const Vector (&table)[2], __m512i index) {
    return Vector{_mm512_permutex2var_ps(table[0].raw, index, table[1].raw)};
  }
};
#endif

// Calls body with the kernel that draws the next state of a unit of two values.
template <class Law, bool spin, class Body>
void visit_two_valued(Vector share, const Body& body) {
  const TwoValued<Law, spin> law{share};
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (kRoughlyGibbs<Law> || kRoughlyFlips<Law>) return body(Rough<Law, spin>(law));
#endif
  body(law);
}

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
