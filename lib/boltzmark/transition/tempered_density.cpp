#include "boltzmark/transition/tempered_density.hpp"

#include <algorithm>
#include <vector>

#include "boltzmark/transition/chains.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/tempered_density.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, kChainBlock>;
using Halves = hn::Rebind<float, Doubles>;
using Vector = hn::Vec<Doubles>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Doubles()));
// A factor 1 + e^-|u| is at most 2, so a product of this many stays within double.
constexpr int kFactors = 512;

HWY_INLINE Vector widen(const float* values) {
  return hn::PromoteTo(Doubles(), hn::LoadU(Halves(), values));
}

HWY_INLINE void add_to(double* sums, Vector value) {
  const Doubles d;
  hn::StoreU(hn::Add(hn::LoadU(d, sums), value), d, sums);
}

// Sums term(unit, lane group) over the units, for each group of lanes in turn.
template <class Term>
HWY_INLINE void add_terms(const DensityBlock& block, double* HWY_RESTRICT sums, const Term& term) {
  const Doubles d;
  for (int v = 0; v < kChainBlock; v += kLanes) {
    Vector sum = hn::Zero(d);
    for (int u = 0; u < block.units; ++u) sum = hn::Add(sum, term(u, u * kChainBlock + v));
    add_to(sums + v, sum);
  }
}

// Adds log of the product of factor(unit, place), each in (1/2, 2].
template <class Factor>
HWY_INLINE void add_log_product(const DensityBlock& block, double* HWY_RESTRICT sums,
                                const Factor& factor) {
  const Doubles d;
  for (int v = 0; v < kChainBlock; v += kLanes)
    for (int first = 0; first < block.units; first += kFactors) {
      Vector product = hn::Set(d, 1.0);
      for (int u = first; u < std::min(first + kFactors, block.units); ++u)
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

void linear(const double* HWY_RESTRICT coefficients, const DensityBlock& block,
            double* HWY_RESTRICT sums) {
  const Doubles d;
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    return hn::Mul(hn::Set(d, coefficients[u]), widen(block.states + at));
  });
}

void bilinear(const double* HWY_RESTRICT weights, double share, const DensityBlock& lower,
              const DensityBlock& upper, double* HWY_RESTRICT sums) {
  constexpr int kVectors = kChainBlock / kLanes;
  const Doubles d;
  const Vector factor = hn::Set(d, share);
  for (int j = 0; j < upper.units; ++j) {
    const double* HWY_RESTRICT column = weights + static_cast<std::size_t>(j) * lower.units;
    Vector inputs[kVectors];
    for (Vector& input : inputs) input = hn::Zero(d);
    for (int i = 0; i < lower.units; ++i) {
      const Vector weight = hn::Set(d, column[i]);
      for (int v = 0; v < kVectors; ++v) {
        const Vector state = widen(lower.states + i * kChainBlock + v * kLanes);
        inputs[v] = hn::Add(inputs[v], hn::Mul(weight, state));
      }
    }
    for (int v = 0; v < kVectors; ++v)
      add_to(sums + v * kLanes, hn::Mul(hn::Mul(factor, inputs[v]),
                                        widen(upper.states + j * kChainBlock + v * kLanes)));
  }
}

void joint(const DensityBlock& block, double* HWY_RESTRICT sums) {
  const Doubles d;
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    const Vector gain = hn::Sub(widen(block.inputs + at), hn::Set(d, block.logits[u]));
    return hn::Mul(widen(block.states + at), gain);
  });
}

void softplus_step(const DensityBlock& block, double from, double to, double* HWY_RESTRICT sums) {
  const Doubles d;
  const Vector one = hn::Set(d, 1.0);
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    const Vector high = hn::Max(tempered_input(block, to, u, at), hn::Zero(d));
    return hn::Sub(high, hn::Max(tempered_input(block, from, u, at), hn::Zero(d)));
  });
  add_log_product(block, sums, [&](int u, int at) HWY_ATTR {
    return hn::Div(hn::Add(one, decay(tempered_input(block, to, u, at))),
                   hn::Add(one, decay(tempered_input(block, from, u, at))));
  });
}

void softplus(const DensityBlock& block, double b, double* HWY_RESTRICT sums) {
  const Doubles d;
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    return hn::Max(tempered_input(block, b, u, at), hn::Zero(d));
  });
  add_log_product(block, sums, [&](int u, int at) HWY_ATTR {
    return hn::Add(hn::Set(d, 1.0), decay(tempered_input(block, b, u, at)));
  });
}

void softplus_slope(const DensityBlock& block, double b, double* HWY_RESTRICT sums) {
  const Doubles d;
  const Vector one = hn::Set(d, 1.0);
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    const Vector input = tempered_input(block, b, u, at);
    const Vector ratio = decay(input);
    const Vector numerator = hn::IfThenElse(hn::Gt(input, hn::Zero(d)), one, ratio);
    const Vector sigmoid = hn::Div(numerator, hn::Add(one, ratio));
    return hn::Mul(hn::Sub(widen(block.inputs + at), hn::Set(d, block.logits[u])), sigmoid);
  });
}

// Multiplies the rungs' products by (1 + t) of up to kTogether units, so that each product is
// loaded and stored once for all of them.
constexpr int kTogether = 4;
HWY_INLINE void multiply_rungs(const DensityBlock& block, int first, int v, double step, int rungs,
                               double* HWY_RESTRICT products) {
  const Doubles d;
  Vector factor[kTogether], term[kTogether];
  for (int i = 0; i < kTogether; ++i) {
    const bool real = first + i < block.units;
    factor[i] = hn::Zero(d);  // a missing unit's factor is 1 + 0
    term[i] = hn::Zero(d);
    if (!real) continue;
    const Vector input = widen(block.inputs + (first + i) * kChainBlock + v);
    factor[i] = decay(hn::Mul(hn::Set(d, step), input));
    term[i] = hn::Set(d, 1.0);
  }
  for (int k = 0; k < rungs; ++k) {
    Vector product = hn::LoadU(d, products + static_cast<std::size_t>(k) * kLanes);
    for (int i = 0; i < kTogether; ++i) {
      product = hn::MulAdd(product, term[i], product);
      term[i] = hn::Mul(term[i], factor[i]);
    }
    hn::StoreU(product, d, products + static_cast<std::size_t>(k) * kLanes);
  }
}

void softplus_ladder(const DensityBlock& block, double step, int rungs, double* HWY_RESTRICT sums) {
  const Doubles d;
  double positive[kChainBlock] = {};
  add_terms(block, positive,
            [&](int, int at) HWY_ATTR { return hn::Max(widen(block.inputs + at), hn::Zero(d)); });
  std::vector<double> products(static_cast<std::size_t>(rungs) * kLanes);
  for (int v = 0; v < kChainBlock; v += kLanes)
    for (int first = 0; first < block.units; first += kFactors) {
      std::fill(products.begin(), products.end(), 1.0);
      const int last = std::min(first + kFactors, block.units);
      for (int u = first; u < last; u += kTogether)
        multiply_rungs(block, u, v, step, rungs, products.data());
      for (int k = 0; k < rungs; ++k) {
        const Vector product = hn::LoadU(d, products.data() + static_cast<std::size_t>(k) * kLanes);
        add_to(sums + static_cast<std::size_t>(k) * kChainBlock + v, hn::Log(d, product));
      }
    }
  for (int k = 0; k < rungs; ++k)
    for (int v = 0; v < kChainBlock; v += kLanes)
      add_to(sums + static_cast<std::size_t>(k) * kChainBlock + v,
             hn::Mul(hn::Set(d, k * step), hn::LoadU(d, positive + v)));
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(linear);
HWY_EXPORT(bilinear);
HWY_EXPORT(joint);
HWY_EXPORT(softplus_step);
HWY_EXPORT(softplus);
HWY_EXPORT(softplus_slope);
HWY_EXPORT(softplus_ladder);

void add_linear(const double* coefficients, const DensityBlock& block, double* sums) {
  HWY_DYNAMIC_DISPATCH(linear)(coefficients, block, sums);
}
void add_bilinear(const double* weights, double share, const DensityBlock& lower,
                  const DensityBlock& upper, double* sums) {
  HWY_DYNAMIC_DISPATCH(bilinear)(weights, share, lower, upper, sums);
}
void add_joint(const DensityBlock& block, double* sums) {
  HWY_DYNAMIC_DISPATCH(joint)(block, sums);
}
void add_softplus_step(const DensityBlock& block, double from, double to, double* sums) {
  HWY_DYNAMIC_DISPATCH(softplus_step)(block, from, to, sums);
}
void add_softplus(const DensityBlock& block, double b, double* sums) {
  HWY_DYNAMIC_DISPATCH(softplus)(block, b, sums);
}
void add_softplus_slope(const DensityBlock& block, double b, double* sums) {
  HWY_DYNAMIC_DISPATCH(softplus_slope)(block, b, sums);
}
void add_softplus_ladder(const DensityBlock& block, double step, int rungs, double* sums) {
  HWY_DYNAMIC_DISPATCH(softplus_ladder)(block, step, rungs, sums);
}

}  // namespace boltzmark
#endif
