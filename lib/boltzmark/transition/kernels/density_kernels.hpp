// Sums over a block of chains in double, and log phi of each kind of unit. Included once per SIMD
// target: the guard toggles, as Highway wants of such headers.

#if defined(BOLTZMARK_TRANSITION_DENSITY_KERNELS) == defined(HWY_TARGET_TOGGLE)
#ifdef BOLTZMARK_TRANSITION_DENSITY_KERNELS
#undef BOLTZMARK_TRANSITION_DENSITY_KERNELS
#else
#define BOLTZMARK_TRANSITION_DENSITY_KERNELS
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>

#include "boltzmark/transition/tempered_density.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE::densities {
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, kChainBlock>;
using Halves = hn::Rebind<float, Doubles>;
using Vector = hn::Vec<Doubles>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Doubles()));
constexpr int kVectors = kChainBlock / kLanes;
HWY_INLINE Vector widen(const float* values) {
  return hn::PromoteTo(Doubles(), hn::LoadU(Halves(), values));
}

HWY_INLINE void add_to(double* sums, Vector value) {
  const Doubles d;
  hn::StoreU(hn::Add(hn::LoadU(d, sums), value), d, sums);
}

// Sums term(unit, place) over the units, all lane groups at once to hide an addition's latency.
template <class Term>
HWY_INLINE void add_terms(const DensityBlock& block, double* HWY_RESTRICT sums, const Term& term) {
  const Doubles d;
  Vector sum[kVectors];
  for (Vector& group : sum) group = hn::Zero(d);
  for (int u = 0; u < block.units; ++u)
    for (int v = 0; v < kVectors; ++v)
      sum[v] = hn::Add(sum[v], term(u, u * kChainBlock + v * kLanes));
  for (int v = 0; v < kVectors; ++v) add_to(sums + v * kLanes, sum[v]);
}

// Adds log of the product of factor(unit, place), multiplied in runs that stay within double.
template <class Factor>
HWY_INLINE void add_log_product(const DensityBlock& block, int run, double* HWY_RESTRICT sums,
                                const Factor& factor) {
  const Doubles d;
  for (int v = 0; v < block.chains; v += kLanes)
    for (int first = 0; first < block.units; first += run) {
      Vector product = hn::Set(d, 1.0);
      for (int u = first; u < std::min(first + run, block.units); ++u)
        product = hn::Mul(product, factor(u, u * kChainBlock + v));
      add_to(sums + v, hn::Log(d, product));
    }
}

HWY_INLINE Vector tempered_input(const DensityBlock& block, double b, int u, int at) {
  const Doubles d;
  return hn::Add(hn::Mul(hn::Set(d, b), widen(block.inputs + at)),
                 hn::Set(d, (1 - b) * block.logits[u]));
}

HWY_INLINE Vector decay(Vector input) {
  const Doubles d;
  return hn::Exp(d, hn::Neg(hn::Abs(input)));
}

// Each kind of unit gives  log phi(u) = peak(u) + log factor(u),  peak(u) the largest u x of its
// values x, and how many factors (and their quotients) stay within double.

// {low, 1}: the factor is 1 + e^-|z|, in (1, 2].
struct TwoValued {
  static constexpr int kRun = 512;
  Vector spacing, low;
  HWY_INLINE Vector peak(Vector u) const { return hn::Max(u, hn::Mul(low, u)); }
  HWY_INLINE Vector factor(Vector u) const {
    return hn::Add(hn::Set(Doubles(), 1.0), decay(hn::Mul(spacing, u)));
  }
};

// -expm1(-x) / x, x >= 0: in (0, 1], 1 at 0.
HWY_INLINE Vector mean_decay(Vector x) {
  const Doubles d;
  const Vector positive = hn::Max(x, hn::Set(d, 1e-300));
  return hn::Neg(hn::Div(hn::Expm1(d, hn::Neg(positive)), positive));
}

// X(s): the factor is 2/(s+1) expm1(-(s+1) z) / expm1(-z), in (2^-15, 2].   [yokoyama2019, Eq. 6]
struct Multivalued {
  static constexpr int kRun = 56;
  double steps;
  HWY_INLINE Vector peak(Vector u) const { return hn::Abs(u); }
  HWY_INLINE Vector factor(Vector u) const {
    const Doubles d;
    const Vector z = hn::Mul(hn::Set(d, 2 / steps), hn::Abs(u));
    const Vector whole = mean_decay(hn::Mul(hn::Set(d, steps + 1), z));
    return hn::Div(hn::Add(whole, whole), mean_decay(z));
  }
};

// [-1, 1]: the factor is -2 expm1(-2 |u|) / (2 |u|), in (2^-128, 2] of float inputs. [ibid., Eq. 7]
struct Continuous {
  static constexpr int kRun = 7;
  HWY_INLINE Vector peak(Vector u) const { return hn::Abs(u); }
  HWY_INLINE Vector factor(Vector u) const {
    const Vector half = mean_decay(hn::Add(hn::Abs(u), hn::Abs(u)));
    return hn::Add(half, half);
  }
};

HWY_INLINE TwoValued two_valued(Unit unit) {
  const Doubles d;
  return {hn::Set(d, unit.spacing()), hn::Set(d, unit.lowest())};
}

template <class Body>
HWY_INLINE void visit_unit(Unit unit, const Body& body) {
  if (!unit.is_discrete()) return body(Continuous{});
  if (unit.is_two_valued()) return body(two_valued(unit));
  body(Multivalued{static_cast<double>(unit.steps())});
}

}  // namespace boltzmark::HWY_NAMESPACE::densities
HWY_AFTER_NAMESPACE();

#endif
