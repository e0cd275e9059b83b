#include <algorithm>
#include <numeric>
#include <vector>

#include "boltzmark/core/aligned.hpp"
#include "boltzmark/transition/tempered_density.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/kernels/rung_density.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/highway.h>

#include "boltzmark/transition/kernels/density_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
using namespace densities;

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
HWY_EXPORT(log_phi_nodes);
HWY_EXPORT(rungs);

void add_log_phi_nodes(const DensityBlock& block, double step, const RungNodes& nodes,
                       double* peaks, double* sums) {
  HWY_DYNAMIC_DISPATCH(log_phi_nodes)(block, step, nodes, peaks, sums);
}
void fill_rungs(const RungNodes& nodes, const double* sums, double* out) {
  HWY_DYNAMIC_DISPATCH(rungs)(nodes, sums, out);
}

}  // namespace boltzmark
#endif
