#include "boltzmark/transition/tempered_density.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "boltzmark/core/aligned.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/tempered_density.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

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

namespace boltzmark::HWY_NAMESPACE {
using namespace densities;

void linear(const double* HWY_RESTRICT coefficients, const DensityBlock& block,
            double* HWY_RESTRICT sums) {
  const Doubles d;
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    return hn::Mul(hn::Set(d, coefficients[u]), widen(block.states + at));
  });
}

void joint(const DensityBlock& block, double* HWY_RESTRICT sums) {
  const Doubles d;
  const Vector share = hn::Set(d, 1 / static_cast<double>(block.unit.state_scale()));
  add_terms(block, sums, [&](int u, int at) HWY_ATTR {
    const Vector gain = hn::Sub(widen(block.inputs + at), hn::Set(d, block.logits[u]));
    return hn::Mul(hn::Mul(share, widen(block.states + at)), gain);
  });
}

void log_phi_step(const DensityBlock& block, double from, double to, double* HWY_RESTRICT sums) {
  visit_unit(block.unit, [&](const auto& unit) {
    add_terms(block, sums, [&](int u, int at) HWY_ATTR {
      const Vector high = unit.peak(tempered_input(block, to, u, at));
      return hn::Sub(high, unit.peak(tempered_input(block, from, u, at)));
    });
    add_log_product(block, unit.kRun, sums, [&](int u, int at) HWY_ATTR {
      return hn::Div(unit.factor(tempered_input(block, to, u, at)),
                     unit.factor(tempered_input(block, from, u, at)));
    });
  });
}

void log_phi(const DensityBlock& block, double b, double* HWY_RESTRICT sums) {
  visit_unit(block.unit, [&](const auto& unit) {
    add_terms(block, sums,
              [&](int u, int at) HWY_ATTR { return unit.peak(tempered_input(block, b, u, at)); });
    add_log_product(block, unit.kRun, sums, [&](int u, int at) HWY_ATTR {
      return unit.factor(tempered_input(block, b, u, at));
    });
  });
}

// Multiplies the nodes' products by (1 + t) of up to kTogether units, so that each product is
// loaded and stored once for all of them.
constexpr int kTogether = 4;
using Aligned = AlignedVector<double>;

// t = ratio^k of kTogether units at rung k, and the powers of ratio that lead to later rungs.
class GeometricTerms {
 public:
  explicit GeometricTerms(int longest_jump)
      : powers_(static_cast<std::size_t>(longest_jump + 1) * kTogether * kLanes) {}

  // A missing unit's terms are 0.
  HWY_INLINE void start(const DensityBlock& block, int first, int v, Vector step) {
    const Doubles d;
    for (int i = 0; i < kTogether; ++i) {
      const bool real = first + i < block.units;
      const Vector one = real ? hn::Set(d, 1.0) : hn::Zero(d);
      Vector ratio = one;
      if (real) ratio = decay(hn::Mul(step, widen(block.inputs + (first + i) * kChainBlock + v)));
      Vector power = one;
      for (std::size_t at = static_cast<std::size_t>(i) * kLanes; at < powers_.size();
           at += kTogether * kLanes) {
        hn::Store(power, d, powers_.data() + at);
        power = hn::Mul(power, ratio);
      }
    }
  }
  HWY_INLINE const double* power(int jump) const {
    return powers_.data() + static_cast<std::size_t>(jump) * kTogether * kLanes;
  }

 private:
  Aligned powers_;  // [jump][kTogether][kLanes]
};

HWY_INLINE void multiply_nodes(const GeometricTerms& terms, const std::vector<int>& jumps,
                               double* HWY_RESTRICT products) {
  const Doubles d;
  Vector term[kTogether];
  for (int i = 0; i < kTogether; ++i) term[i] = hn::Load(d, terms.power(0) + i * kLanes);
  for (const int jump : jumps) {
    const double* HWY_RESTRICT power = terms.power(jump);
    Vector product = hn::Load(d, products);
    for (int i = 0; i < kTogether; ++i) {
      term[i] = hn::Mul(term[i], hn::Load(d, power + i * kLanes));
      product = hn::MulAdd(product, term[i], product);
    }
    hn::Store(product, d, products);
    products += kLanes;
  }
}

// From each node to the next, 0 for the first.
std::vector<int> jumps_of(const RungNodes& nodes) {
  std::vector<int> jumps(nodes.nodes().size());
  std::adjacent_difference(nodes.nodes().begin(), nodes.nodes().end(), jumps.begin());
  return jumps;
}

void log_phi_nodes(const DensityBlock& block, double step, const RungNodes& nodes,
                   double* HWY_RESTRICT peaks, double* HWY_RESTRICT sums) {
  const Doubles d;
  const TwoValued unit = two_valued(block.unit);
  const Vector log_odds_step = hn::Mul(unit.spacing, hn::Set(d, step));
  add_terms(block, peaks,
            [&](int, int at) HWY_ATTR { return unit.peak(widen(block.inputs + at)); });
  const std::vector<int> jumps = jumps_of(nodes);
  GeometricTerms terms(*std::max_element(jumps.begin(), jumps.end()));
  Aligned products(jumps.size() * kLanes);
  for (int v = 0; v < block.chains; v += kLanes)
    for (int first = 0; first < block.units; first += TwoValued::kRun) {
      std::fill(products.begin(), products.end(), 1.0);
      const int last = std::min(first + TwoValued::kRun, block.units);
      for (int u = first; u < last; u += kTogether) {
        terms.start(block, u, v, log_odds_step);
        multiply_nodes(terms, jumps, products.data());
      }
      for (std::size_t n = 0; n < jumps.size(); ++n)
        add_to(sums + n * kChainBlock + v, hn::Log(d, hn::Load(d, products.data() + n * kLanes)));
    }
}

void rungs(const RungNodes& nodes, const double* HWY_RESTRICT sums, double* HWY_RESTRICT out) {
  const Doubles d;
  for (std::size_t n = 0; n < nodes.nodes().size(); ++n)
    std::copy_n(sums + n * kChainBlock, kChainBlock,
                out + static_cast<std::size_t>(nodes.nodes()[n]) * kChainBlock);
  for (const RungNodes::Interpolated& rung : nodes.interpolated())
    for (int v = 0; v < kChainBlock; v += kLanes) {
      Vector sum = hn::Zero(d);
      const double* from = sums + kChainBlock + v;
      for (const double weight : rung.weights) {
        sum = hn::MulAdd(hn::Set(d, weight), hn::LoadU(d, from), sum);
        from += kChainBlock;
      }
      hn::StoreU(sum, d, out + static_cast<std::size_t>(rung.rung) * kChainBlock + v);
    }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(linear);
HWY_EXPORT(joint);
HWY_EXPORT(log_phi_step);
HWY_EXPORT(log_phi);
HWY_EXPORT(log_phi_nodes);
HWY_EXPORT(rungs);

void add_linear(const double* coefficients, const DensityBlock& block, double* sums) {
  HWY_DYNAMIC_DISPATCH(linear)(coefficients, block, sums);
}
void add_joint(const DensityBlock& block, double* sums) {
  HWY_DYNAMIC_DISPATCH(joint)(block, sums);
}
void add_log_phi_step(const DensityBlock& block, double from, double to, double* sums) {
  HWY_DYNAMIC_DISPATCH(log_phi_step)(block, from, to, sums);
}
void add_log_phi(const DensityBlock& block, double b, double* sums) {
  HWY_DYNAMIC_DISPATCH(log_phi)(block, b, sums);
}

void add_log_phi_nodes(const DensityBlock& block, double step, const RungNodes& nodes,
                       double* peaks, double* sums) {
  HWY_DYNAMIC_DISPATCH(log_phi_nodes)(block, step, nodes, peaks, sums);
}
void fill_rungs(const RungNodes& nodes, const double* sums, double* out) {
  HWY_DYNAMIC_DISPATCH(rungs)(nodes, sums, out);
}

}  // namespace boltzmark
#endif
