#include "boltzmark/learn/classes/class_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/learn/classes/class_kernel.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

#include "boltzmark/core/simd.hpp"
#include "boltzmark/learn/classes/discriminative.hpp"

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// ln phi(x) = linear + ln(ratio), and psi(x) = mean.
template <class V>
struct UnitTerms {
  V linear, ratio, mean;
};

struct BernoulliUnit {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE UnitTerms<V> operator()(D d, V x) const {
    const V zero = hn::Zero(d), one = hn::Set(d, 1.0);
    const V e = hn::Exp(d, hn::Neg(hn::Abs(x))), ratio = hn::Add(one, e);
    return {hn::Max(x, zero), ratio, hn::Div(hn::IfThenElse(hn::Lt(x, zero), e, one), ratio)};
  }
};

struct SpinUnit {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE UnitTerms<V> operator()(D d, V x) const {
    const V one = hn::Set(d, 1.0), size = hn::Abs(x);
    const V e = hn::Exp(d, hn::Mul(hn::Set(d, -2.0), size)), ratio = hn::Add(one, e);
    return {size, ratio, hn::CopySign(hn::Div(hn::Sub(one, e), ratio), x)};
  }
};

/// sinh(y) / (y e^y), and the Langevin function coth(y) - 1/y, for y >= 0.
template <class V>
struct SinhTerms {
  V ratio, langevin;
};

// Below 0.3 the Langevin function is its series; the first term left out is below 1e-15 there,
// as is the rounding of coth(y) - 1/y above.
template <class D, class V = hn::Vec<D>>
HWY_INLINE SinhTerms<V> sinh_terms(D d, V size) {
  const V one = hn::Set(d, 1.0), two = hn::Set(d, 2.0);
  const V y = hn::Max(size, hn::Set(d, 1e-30));  // both are flat to rounding there
  const V gap = hn::Neg(hn::Expm1(d, hn::Mul(hn::Set(d, -2.0), y)));  // 1 - e^-2y
  const V inverse = hn::Div(one, y);
  const V exact = hn::Sub(hn::Div(hn::Sub(two, gap), gap), inverse);
  const V z = hn::Mul(y, y);
  V series = hn::Set(d, 4.0 / 18243225);
  for (const double c :
       {-1382.0 / 638512875, 2.0 / 93555, -1.0 / 4725, 2.0 / 945, -1.0 / 45, 1.0 / 3})
    series = hn::Add(hn::Mul(series, z), hn::Set(d, c));
  return {hn::Mul(hn::Mul(gap, inverse), hn::Set(d, 0.5)),
          hn::IfThenElse(hn::Lt(y, hn::Set(d, 0.3)), hn::Mul(series, y), exact)};
}

struct ContinuousUnit {
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE UnitTerms<V> operator()(D d, V x) const {
    const V size = hn::Abs(x);
    const SinhTerms<V> terms = sinh_terms(d, size);
    return {size, hn::Add(terms.ratio, terms.ratio), hn::CopySign(terms.langevin, x)};
  }
};

// phi_s(x) = 2 (sinh((s+1) t) / ((s+1) t)) / (sinh(t) / t), t = x/s.
struct MultivaluedUnit {
  double steps;
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE UnitTerms<V> operator()(D d, V x) const {
    const V s = hn::Set(d, steps), more = hn::Set(d, steps + 1), size = hn::Abs(x);
    const V t = hn::Div(size, s);
    const SinhTerms<V> below = sinh_terms(d, t), above = sinh_terms(d, hn::Mul(more, t));
    const V mean = hn::Div(hn::Sub(hn::Mul(more, above.langevin), below.langevin), s);
    return {size, hn::Div(hn::Add(above.ratio, above.ratio), below.ratio), hn::CopySign(mean, x)};
  }
};

/// Takes rows from..to in steps of the vector's lanes; returns the first row left.
template <class D, class Law>
HWY_INLINE std::size_t add_log_phi(D d, const Law& law, const double* a, const double* u,
                                   std::size_t from, std::size_t to, double* psi, double* sum) {
  const std::size_t lanes = hn::Lanes(d);
  auto total = hn::Zero(d), product = hn::Set(d, 1.0);
  std::size_t j = from, factors = 0;
  for (; j + lanes <= to; j += lanes) {
    const auto terms = law(d, hn::Add(hn::LoadU(d, a + j), hn::LoadU(d, u + j)));
    if (psi != nullptr) hn::StoreU(terms.mean, d, psi + j);
    total = hn::Add(total, terms.linear);
    // A factor is about 1/|x| at least; where it is cut off, its log is below an ulp of |x|.
    product = hn::Mul(product, hn::Max(terms.ratio, hn::Set(d, 1e-75)));
    if (++factors % 4 == 0) {
      total = hn::Add(total, hn::Log(d, product));
      product = hn::Set(d, 1.0);
    }
  }
  *sum += hn::GetLane(hn::SumOfLanes(d, hn::Add(total, hn::Log(d, product))));
  return j;
}

template <class Law>
double sum_of(const Law& law, const double* a, const double* u, std::size_t rows, double* psi) {
  double sum = 0;
  const std::size_t left = add_log_phi(hn::ScalableTag<double>(), law, a, u, 0, rows, psi, &sum);
  if (left < rows) add_log_phi(hn::CappedTag<double, 1>(), law, a, u, left, rows, psi, &sum);
  return sum;
}

double log_phi_rows(Unit unit, const double* a, const double* u, std::size_t rows, double* psi) {
  if (unit.is_bernoulli()) return sum_of(BernoulliUnit(), a, u, rows, psi);
  if (!unit.is_discrete()) return sum_of(ContinuousUnit(), a, u, rows, psi);
  if (unit.is_two_valued()) return sum_of(SpinUnit(), a, u, rows, psi);
  return sum_of(MultivaluedUnit{static_cast<double>(unit.steps())}, a, u, rows, psi);
}

/// Adds to `vectors` vectors of rows, held in registers meanwhile.
template <std::size_t vectors, class D>
HWY_INLINE void add_panel(D d, const double* columns, std::size_t rows, SparseValues x,
                          double* out) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[vectors];
  for (std::size_t v = 0; v < vectors; ++v) sum[v] = hn::LoadU(d, out + v * lanes);
  for (std::size_t k = 0; k < x.places.size(); ++k) {
    const double* column = columns + x.places[k] * rows;
    const auto value = hn::Set(d, static_cast<double>(x.values[k]));
    for (std::size_t v = 0; v < vectors; ++v)
      sum[v] = hn::MulAdd(value, hn::LoadU(d, column + v * lanes), sum[v]);
  }
  for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, out + v * lanes);
}

void add_column_rows(const double* columns, std::size_t rows, SparseValues x, double* out) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + 8 * lanes <= rows; j += 8 * lanes) add_panel<8>(d, columns + j, rows, x, out + j);
  for (; j + lanes <= rows; j += lanes) add_panel<1>(d, columns + j, rows, x, out + j);
  const hn::CappedTag<double, 1> one;
  for (; j < rows; ++j) add_panel<1>(one, columns + j, rows, x, out + j);
}

void add_outer_rows(const double* v, std::size_t rows, std::size_t first, std::size_t count,
                    SparseValues x, double* columns) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d), end = first + count;
  for (std::size_t k = 0; k < x.places.size(); ++k) {
    double* column = columns + x.places[k] * rows;
    const double value = static_cast<double>(x.values[k]);
    const auto factor = hn::Set(d, value);
    std::size_t j = first;
    for (; j + lanes <= end; j += lanes)
      hn::StoreU(hn::MulAdd(factor, hn::LoadU(d, v + j), hn::LoadU(d, column + j)), d, column + j);
    for (; j < end; ++j) column[j] += value * v[j];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(log_phi_rows);
HWY_EXPORT(add_column_rows);
HWY_EXPORT(add_outer_rows);

void add_columns(const double* columns, std::size_t rows, SparseValues x, double* out) {
  HWY_DYNAMIC_DISPATCH(add_column_rows)(columns, rows, x, out);
}

void add_outer(const double* v, std::size_t rows, std::size_t first, std::size_t count,
               SparseValues x, double* columns) {
  HWY_DYNAMIC_DISPATCH(add_outer_rows)(v, rows, first, count, x, columns);
}

double log_phi_sum(Unit unit, const double* a, const double* u, std::size_t rows, double* psi) {
  return HWY_DYNAMIC_DISPATCH(log_phi_rows)(unit, a, u, rows, psi);
}

}  // namespace boltzmark
#endif
