// How the SIMD kernels draw a unit's next state, and its mean, for each kind of unit. Included once
// per SIMD target: the guard toggles, as Highway wants of such headers.

#if defined(BOLTZMARK_TRANSITION_UNIT_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_UNIT_KERNELS
#undef BOLTZMARK_TRANSITION_UNIT_KERNELS
#else
#define BOLTZMARK_TRANSITION_UNIT_KERNELS
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "boltzmark/transition/kernels/kernel_draws.hpp"
#include "boltzmark/transition/kernels/two_valued_kernels.hpp"
#include "boltzmark/transition/rules.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::kernels {

constexpr int kMostCounted = 16;  // steps up to which a Gibbs update counts its thresholds

// X(s) by a pass over its values: weights upwards, then tails downwards.
template <class Law>
struct Counted {
  int steps;
  Vector spacing, share;
  float* weights;  // scratch [steps + 1][kLanes]

  HWY_INLINE Vector operator()(Vector input, Vector state, Draw draw) const {
    const Floats d;
    const VectorOps ops;
    const Vector log_odds = hn::Mul(input, spacing);
    const Mask likely_high = hn::Gt(log_odds, hn::Zero(d));
    const Vector sign = hn::IfThenElse(likely_high, set(1), set(-1));
    const Vector now =
        hn::Mul(set(0.5F), hn::Sub(set(static_cast<float>(steps)), hn::Mul(sign, state)));
    Vector total, weight_now;
    fill_weights(hn::Neg(hn::Abs(log_odds)), now, total, weight_now);

    const Draw reflected_draw = reflected(draw, likely_high);
    const Vector others_now = hn::Sub(total, weight_now);
    Vector tail = hn::Zero(d), left = hn::Zero(d), next = hn::Zero(d);
    for (int y = steps; y > 0; --y) {
      const Vector weight = hn::LoadU(d, weights + y * kLanes);
      const Mask beyond = hn::Lt(now, set(static_cast<float>(y)));
      const Vector others = hn::Sub(total, hn::IfThenElse(beyond, weight, weight_now));
      const Vector odds = hn::Div(weight, others);
      const rules::Move<Vector, Mask> move{
          weight, total, odds, left, hn::Eq(now, set(static_cast<float>(y))), no_lane()};
      tail = hn::Add(tail, Law::next(ops, move, share));
      left = hn::Add(left, hn::IfThenElseZero(beyond, rules::stay_term(ops, odds, weight,
                                                                       weight_now, others_now)));
      next = hn::Add(next, hn::IfThenElseZero(below(reflected_draw, tail), set(1)));
    }
    return hn::Mul(sign, hn::NegMulAdd(set(2), next, set(static_cast<float>(steps))));
  }

 private:
  HWY_INLINE void fill_weights(Vector log_ratio, Vector now, Vector& total,
                               Vector& weight_now) const {
    const Floats d;
    total = weight_now = set(1);
    for (int y = 1; y <= steps; ++y) {
      const Vector k = set(static_cast<float>(y));
      const Vector weight = hn::Exp(d, hn::Mul(log_ratio, k));
      hn::StoreU(weight, d, weights + y * kLanes);
      total = hn::Add(total, weight);
      weight_now = hn::IfThenElse(hn::Eq(now, k), weight, weight_now);
    }
  }
};

// (draw + 1/2) / 2^32.
HWY_INLINE Vector midpoint(Draw draw) {
  const Floats d;
  const hn::RebindToSigned<Floats> i;
  const auto high = hn::ConvertTo(d, hn::BitCast(i, hn::ShiftRight<16>(draw)));
  const auto low = hn::ConvertTo(d, hn::BitCast(i, hn::And(draw, hn::Set(Words(), 0xffffU))));
  const Vector sum = hn::Add(hn::Mul(high, set(0x1p16F)), hn::Add(low, set(0.5F)));
  return hn::Mul(sum, set(0x1p-32F));
}

// The place t in [0, width] beyond which a density ~ e^{-rate t} leaves S = midpoint(draw):
//   t = -log(S + (1 - S) e^{-rate width}) / rate = -log1p((1 - S) expm1(-rate width)) / rate,
// each form where it is precise.  rate > 0
HWY_INLINE Vector quantile(Vector rate, Vector width, Draw draw) {
  const Floats d;
  const Vector tail = midpoint(draw), rest = midpoint(hn::Not(draw));
  const Vector exponent = hn::Neg(hn::Mul(rate, width));
  const Vector y = hn::Mul(rest, hn::Expm1(d, exponent));
  const Mask near = hn::Gt(y, set(-0.5F));
  const Vector log_near = hn::Log1p(d, hn::IfThenElseZero(near, y));
  const Vector log_far = hn::Log(d, hn::Add(hn::Mul(rest, hn::Exp(d, exponent)), tail));
  return hn::Neg(hn::Div(hn::IfThenElse(near, log_near, log_far), rate));
}

// A rate that divides: the law at 1e-30 is the uniform one to float32.
HWY_INLINE Vector positive(Vector rate) { return hn::Max(rate, set(1e-30F)); }

// X(s) by inversion, for Gibbs updates of many values: value m is t = m..m+1 of a density e^{-|z|
// t} on [0, s+1]. The guess is moved until it is the number of thresholds above the draw.
struct Inverted {
  int steps;
  Vector spacing;

  HWY_INLINE Vector operator()(Vector input, Vector, Draw draw) const {
    const Floats d;
    const Vector log_odds = hn::Mul(input, spacing);
    const Mask likely_high = hn::Gt(log_odds, hn::Zero(d));
    const Draw reflected_draw = reflected(draw, likely_high);
    const Vector rate = positive(hn::Abs(log_odds));
    const Vector last = set(static_cast<float>(steps)), width = set(static_cast<float>(steps + 1));
    const Vector whole = hn::Expm1(d, hn::Neg(hn::Mul(rate, width)));
    const auto tail = [&](Vector m) HWY_ATTR {
      const Vector rest = hn::Expm1(d, hn::Neg(hn::Mul(rate, hn::Sub(width, m))));
      return hn::Mul(hn::Exp(d, hn::Neg(hn::Mul(rate, m))), hn::Div(rest, whole));
    };
    Vector next = hn::Min(hn::Floor(quantile(rate, width, reflected_draw)), last);
    for (;;) {
      const Mask beyond = hn::AndNot(below(reflected_draw, tail(next)), hn::Gt(next, hn::Zero(d)));
      if (hn::AllFalse(d, beyond)) break;
      next = hn::Sub(next, hn::IfThenElseZero(beyond, set(1)));
    }
    for (;;) {
      const Vector higher = hn::Add(next, set(1));
      const Mask short_of = hn::And(below(reflected_draw, tail(higher)), hn::Lt(next, last));
      if (hn::AllFalse(d, short_of)) break;
      next = hn::IfThenElse(short_of, higher, next);
    }
    const Vector from_likely = hn::NegMulAdd(set(2), next, last);
    return hn::IfThenElse(likely_high, from_likely, hn::Neg(from_likely));
  }
};

// A law of one's own, lane by lane in double precision.
struct Scalar {
  const Rule& rule;
  Unit unit;
  double* law;  // scratch [unit.values()]

  HWY_INLINE Vector operator()(Vector input, Vector state, Draw draw) const {
    const Floats d;
    HWY_ALIGN float inputs[kLanes], states[kLanes];
    HWY_ALIGN std::uint32_t draws[kLanes];
    hn::Store(input, d, inputs);
    hn::Store(state, d, states);
    hn::Store(draw, Words(), draws);
    for (int i = 0; i < kLanes; ++i) states[i] = next(inputs[i], states[i], draws[i]);
    return hn::Load(d, states);
  }

 private:
  // The lanes beyond a layer's units hold none.
  float next(float input, float state, std::uint32_t draw) const {
    const int now = std::clamp(unit.index(state), 0, unit.steps());
    return unit.state(next_value(rule, unit, static_cast<double>(input), now, draw,
                                 {law, static_cast<std::size_t>(unit.values())}));
  }
};

// The continuous unit: x = F^-1(1 - (draw + 1/2) / 2^32), counted from the likelier end of [-1, 1].
struct Continuous {
  HWY_INLINE Vector operator()(Vector input, Vector, Draw draw) const {
    const Floats d;
    const Mask likely_high = hn::Gt(input, hn::Zero(d));
    const Vector t = quantile(positive(hn::Abs(input)), set(2), reflected(draw, likely_high));
    const Vector x = hn::Max(hn::Sub(set(1), t), set(-1));
    return hn::IfThenElse(likely_high, x, hn::Neg(x));
  }
};

// A kernel of units that have a scale: its input and what it gives are in units of that.
struct InScale {};

// Calls a kernel of a unit's next state or mean: a Gaussian unit of input u and scale sigma has
// sigma (sigma u + N(0, 1)).
template <class Kernel, class... Rest>
HWY_INLINE Vector in_scale(const Kernel& kernel, Vector scale, Vector input, Rest... rest) {
  if constexpr (std::is_base_of_v<InScale, Kernel>)
    return hn::Mul(scale, kernel(hn::Mul(scale, input), rest...));
  else
    return kernel(input, rest...);
}

// A polynomial in x by Horner's rule, the highest power first.
template <std::size_t N>
HWY_INLINE Vector polynomial(Vector x, const float (&coefficients)[N]) {
  Vector sum = set(coefficients[0]);
  for (std::size_t i = 1; i < N; ++i) sum = hn::MulAdd(sum, x, set(coefficients[i]));
  return sum;
}

// Phi^-1(1 - S) of S = midpoint(draw): 1/2 - S times a function of w = -log(4 S (1 - S)) that is
// smooth in w, and in sqrt(w) far out [Giles 2010]; interpolated at Chebyshev's nodes for w in
// [0, 5.5] and [5.5, 21.6], to 3 * 2^-24 of its value.
HWY_INLINE Vector normal_quantile(Draw draw) {
  constexpr float near[] = {-2.05799034e-08F, 2.12441208e-08F, 1.34524698e-06F, -7.53021075e-06F,
                            -2.67725443e-05F, 0.000592007845F, -0.00293760898F, -0.0142445176F,
                            0.69107034F,      4.42023662F};
  constexpr float far[] = {6.33025425e-05F, 6.01248139e-05F, -0.000725439842F, 0.0014157424F,
                           -0.00188016941F, 0.00299757476F,  -0.00584318492F,  0.00928428738F,
                           2.84926956F,     9.43417785F};
  const Floats d;
  const hn::RebindToSigned<Floats> i;
  const auto below_middle = hn::BitCast(i, hn::Xor(draw, hn::Set(Words(), 0x7fffffffU)));
  const Vector from_middle =
      hn::Mul(hn::Add(hn::ConvertTo(d, below_middle), set(0.5F)), set(0x1p-32F));
  const Vector both = hn::Mul(midpoint(draw), midpoint(hn::Not(draw)));
  const Vector w = hn::Neg(hn::Log(d, hn::Mul(set(4), both)));
  const Mask in_tail = hn::Gt(w, set(5.5F));
  const Vector inside = polynomial(hn::Sub(w, set(2.75F)), near);
  const Vector outside = polynomial(hn::Sub(hn::Sqrt(hn::Max(w, hn::Zero(d))), set(3.5F)), far);
  return hn::Mul(from_middle, hn::IfThenElse(in_tail, outside, inside));
}

// The Gaussian unit, in units of its scale, by inversion of its draw.
struct Gaussian : InScale {
  HWY_INLINE Vector operator()(Vector input, Vector, Draw draw) const {
    return hn::Add(input, normal_quantile(draw));
  }
};

// Calls body with the kernel that draws a unit's next state by a rule.
template <class Body>
void visit_next(const Rule& rule, Unit unit, const Body& body) {
  if (rule.kind == Rule::Kind::own) {
    require_law(rule, unit);
    std::vector<double> law(static_cast<std::size_t>(unit.values()));
    return body(Scalar{rule, unit, law.data()});
  }
  const Vector share = set(static_cast<float>(rule.blend));
  if (unit.has_scale()) return body(Gaussian{});
  if (!unit.is_discrete()) return body(Continuous{});
  const Vector spacing = set(static_cast<float>(unit.spacing()));
  const int steps = unit.steps();
  rules::visit(rule.kind, [&](auto law) {
    using Law = decltype(law);
    if (unit.is_bernoulli()) return visit_two_valued<Law, false>(share, body);
    if (steps == 1) return visit_two_valued<Law, true>(share, body);
    if (std::is_same_v<Law, rules::Gibbs> && steps > kMostCounted)
      return body(Inverted{steps, spacing});
    std::vector<float> weights(static_cast<std::size_t>(steps + 1) * kLanes);
    body(Counted<Law>{steps, spacing, share, weights.data()});
  });
}

// L(y) = coth y - 1/y: by Lambert's continued fraction where the difference cancels.
HWY_INLINE Vector langevin(Vector y) {
  const Floats d;
  const Vector size = hn::Abs(y), square = hn::Mul(y, y);
  const Mask near = hn::Lt(size, set(1.5F));
  Vector tail = hn::Zero(d);
  for (int odd = 15; odd >= 5; odd -= 2)
    tail = hn::Div(square, hn::Add(set(static_cast<float>(odd)), tail));
  const Vector inside = hn::Div(size, hn::Add(set(3), tail));
  const Vector grown = hn::Expm1(d, hn::Min(hn::Add(size, size), set(80)));
  const Vector outside = hn::Sub(hn::Add(set(1), hn::Div(set(2), grown)), hn::Div(set(1), size));
  return hn::CopySign(hn::IfThenElse(near, inside, outside), y);
}

struct TwoValuedMean {
  Vector spacing, low;
  HWY_INLINE Vector operator()(Vector input) const {
    const Floats d;
    const Vector log_odds = hn::Mul(input, spacing);
    const Vector ratio = hn::Exp(d, hn::Neg(hn::Abs(log_odds)));
    const Vector unlikely = hn::Div(ratio, hn::Add(set(1), ratio));
    const Mask likely_on = hn::Gt(log_odds, hn::Zero(d));
    const Vector p = hn::IfThenElse(likely_on, hn::Sub(set(1), unlikely), unlikely);
    return hn::MulAdd(p, spacing, low);
  }
};

// s psi_s(x) = (s+1) L((s+1) x/s) - L(x/s), as stored.                     [yokoyama2019, Eq. 14]
struct MultivaluedMean {
  float steps;
  HWY_INLINE Vector operator()(Vector input) const {
    const Vector outer = langevin(hn::Mul(input, set((steps + 1) / steps)));
    const Vector inner = langevin(hn::Mul(input, set(1 / steps)));
    return hn::MulSub(outer, set(steps + 1), inner);
  }
};

struct ContinuousMean {
  HWY_INLINE Vector operator()(Vector input) const { return langevin(input); }
};

struct GaussianMean : InScale {
  HWY_INLINE Vector operator()(Vector input) const { return input; }
};

// Calls body with the kernel of a unit's mean, as stored.
template <class Body>
void visit_mean(Unit unit, const Body& body) {
  if (unit.has_scale()) return body(GaussianMean{});
  if (!unit.is_discrete()) return body(ContinuousMean{});
  if (!unit.is_two_valued()) return body(MultivaluedMean{static_cast<float>(unit.steps())});
  body(TwoValuedMean{set(static_cast<float>(unit.spacing())),
                     set(static_cast<float>(unit.lowest()))});
}

}  // namespace boltzmark::HWY_NAMESPACE::kernels
HWY_AFTER_NAMESPACE();

#endif
