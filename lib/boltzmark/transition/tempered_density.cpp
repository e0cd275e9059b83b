#include "boltzmark/transition/tempered_density.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/tempered_density.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own headers after foreach_target.
#include <hwy/highway.h>

#include "boltzmark/transition/kernels/density_kernels.hpp"

HWY_BEFORE_NAMESPACE();
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

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(linear);
HWY_EXPORT(joint);
HWY_EXPORT(log_phi_step);
HWY_EXPORT(log_phi);

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
}  // namespace boltzmark
#endif
