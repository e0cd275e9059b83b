// The laws of the update rules, each written once for the double-precision law (doubles and bools)
// and for the SIMD kernels (vectors and masks). Included once per SIMD target, so that each kernel
// can inline them: the guard toggles, as Highway wants of such headers.
//
// A law returns the probability that the unit's next state is its less likely one:
//   ratio        p(less likely) / p(likelier) = e^-|x|
//   at_unlikely  the unit is now in its less likely state
//   tie          x = 0; the less likely state is then 1 by convention
// `select(mask, a, b)` is a where the mask is true, else b.

#if defined(BOLTZMARK_TRANSITION_RULES) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_RULES
#undef BOLTZMARK_TRANSITION_RULES
#else
#define BOLTZMARK_TRANSITION_RULES
#endif

#include <hwy/highway.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/rule.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::rules {

/// Draws the next state from its conditional law.  q = ratio / (1 + ratio)
struct Gibbs {
  template <class Ops, class Real, class Mask>
  static Real unlikely(const Ops& ops, Real ratio, Mask, Mask, Real) {
    return ops.divide(ratio, ops.add(ops.set(1), ratio));
  }
};

/// Flips with the Metropolis acceptance probability, and no tie rule: the non-ergodic
/// counter-example.
///   [bruegge2013, Sec. 3.2]
struct Metropolis {
  template <class Ops, class Real, class Mask>
  static Real unlikely(const Ops& ops, Real ratio, Mask at_unlikely, Mask, Real) {
    return ops.select(at_unlikely, ops.set(0), ratio);
  }
};

/// Flips with the largest probability that keeps detailed balance; a fair coin at ties.
/// [bruegge2013, Def. 1]
struct FlipTheState {
  template <class Ops, class Real, class Mask>
  static Real unlikely(const Ops& ops, Real ratio, Mask at_unlikely, Mask tie, Real share) {
    const Real q = Metropolis::unlikely(ops, ratio, at_unlikely, tie, share);
    return ops.select(tie, ops.set(0.5F), q);
  }
};

/// Mixes flip-the-state and Gibbs unit by unit: T_a = a T + (1 - a) G. [bruegge2013, Sec. 5.2]
struct Blend {
  template <class Ops, class Real, class Mask>
  static Real unlikely(const Ops& ops, Real ratio, Mask at_unlikely, Mask tie, Real share) {
    const Real flip = FlipTheState::unlikely(ops, ratio, at_unlikely, tie, share);
    const Real gibbs = Gibbs::unlikely(ops, ratio, at_unlikely, tie, share);
    return ops.add(ops.multiply(share, flip), ops.multiply(ops.subtract(ops.set(1), share), gibbs));
  }
};

/// Calls body with the law of a kind: the one place that ties kinds to laws.
template <class Body>
decltype(auto) visit(Rule::Kind kind, Body&& body) {
  switch (kind) {
    case Rule::Kind::gibbs:
      return body(Gibbs{});
    case Rule::Kind::flip:
      return body(FlipTheState{});
    case Rule::Kind::blend:
      return body(Blend{});
    case Rule::Kind::metropolis:
      return body(Metropolis{});
  }
  throw InvalidArgument("rule (must be a registered kind)");
}

}  // namespace boltzmark::HWY_NAMESPACE::rules
HWY_AFTER_NAMESPACE();

#endif
