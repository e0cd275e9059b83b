// The laws of the update rules, each written once for the double-precision law (doubles and bools)
// and for the SIMD kernels (vectors and masks). Included once per SIMD target, so that each kernel
// can inline them: the guard toggles, as Highway wants of such headers.
//
// A law returns the probability of one value y that a unit may take next. The values of a unit are
// equally spaced, so their conditional probabilities are a geometric sequence: counted from the
// likeliest value, 0, value k has the weight ratio^k, ratio = e^-|z|, with z the log odds of
// neighbouring values (the input x of a Bernoulli unit; 2x/s of X(s)). If z = 0 the lowest value
// counts as the likeliest. `select(mask, a, b)` is a where the mask is true, else b.

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

/// What a law sees of a value y that the unit may take next; i is its value now.
template <class Real, class Mask>
struct Move {
  Real weight;  ///< of y
  Real total;   ///< sum of all weights
  Real odds;    ///< weight / (total less the smaller of the weights of y and i)
  Real left;    ///< y = i: what Metropolised Gibbs leaves for staying, see stay_term
  Mask same;    ///< y = i
  Mask tie;     ///< the unit has two values, equally likely
};

/// Draws the next value from its conditional law.
struct Gibbs {
  template <class Ops, class Real, class Mask>
  static Real next(const Ops& ops, const Move<Real, Mask>& move, Real) {
    return ops.divide(move.weight, move.total);
  }
};

/// Metropolised Gibbs: T(i -> y) = p(y) min(1 / (1 - p(i)), 1 / (1 - p(y))), y != i. [Liu 1996]
/// For two values it flips with the Metropolis acceptance probability, and without a tie rule is
/// the non-ergodic counter-example.  [bruegge2013, Sec. 3.2]
struct Metropolis {
  template <class Ops, class Real, class Mask>
  static Real next(const Ops& ops, const Move<Real, Mask>& move, Real) {
    return ops.select(move.same, move.left, move.odds);
  }
};

/// Flips with the largest probability that keeps detailed balance; a fair coin at ties of two
/// values.  [bruegge2013, Def. 1]
struct FlipTheState {
  template <class Ops, class Real, class Mask>
  static Real next(const Ops& ops, const Move<Real, Mask>& move, Real share) {
    return ops.select(move.tie, ops.set(0.5F), Metropolis::next(ops, move, share));
  }
};

/// Mixes flip-the-state and Gibbs unit by unit: T_a = a T + (1 - a) G. [bruegge2013, Sec. 5.2]
struct Blend {
  template <class Ops, class Real, class Mask>
  static Real next(const Ops& ops, const Move<Real, Mask>& move, Real share) {
    const Real flip = FlipTheState::next(ops, move, share);
    const Real gibbs = Gibbs::next(ops, move, share);
    return ops.add(ops.multiply(share, flip), ops.multiply(ops.subtract(ops.set(1), share), gibbs));
  }
};

/// Computes the probability that a unit of two values is in its less likely state next.
///   at_unlikely  it is there now     tie  ratio = 1
template <class Law, class Ops, class Real, class Mask>
Real unlikely(const Ops& ops, Real ratio, Mask at_unlikely, Mask tie, Real share) {
  const Move<Real, Mask> move{.weight = ratio,
                              .total = ops.add(ops.set(1), ratio),
                              .odds = ratio,
                              .left = ops.set(0),
                              .same = at_unlikely,
                              .tie = tie};
  return Law::next(ops, move, share);
}

/// One value's share of what Metropolised Gibbs leaves for staying at i: positive terms only, so
/// that nothing cancels.
///   T(i -> i) = sum over y less likely than i of p(y) (p(i) - p(y)) / ((1 - p(i)) (1 - p(y)))
template <class Ops, class Real>
Real stay_term(const Ops& ops, Real odds, Real weight, Real weight_now, Real others_now) {
  return ops.divide(ops.multiply(odds, ops.subtract(weight_now, weight)), others_now);
}

/// Calls body with the law of a kind that has kernels: the one place that ties kinds to laws.
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
    case Rule::Kind::own:
      break;
  }
  throw InvalidArgument("rule (must be a registered kind)");
}

}  // namespace boltzmark::HWY_NAMESPACE::rules
HWY_AFTER_NAMESPACE();

#endif
