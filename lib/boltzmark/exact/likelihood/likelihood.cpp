#include "boltzmark/exact/likelihood/likelihood.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/moments.hpp"
#include "boltzmark/exact/likelihood/split_marginal.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/transition/chains.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/exact/likelihood/likelihood.cpp"
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace boltzmark {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many hidden units stand side by side in a FreeEnergyTable.
constexpr std::size_t kBlockUnits = 16;

/// Computes one block's terms of one case.  Shapes  rows [visible + 1][kBlockUnits]
template <class D>
HWY_INLINE double block_terms(D d, const double* rows, const double* bias,
                              const std::uint32_t* units, std::size_t count, const float* values) {
  const std::size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d), one = hn::Set(d, 1.0);
  auto linear = zero, product = one;
  const auto take = [&](auto x) HWY_ATTR {
    linear = hn::Add(linear, hn::Max(x, zero));
    product = hn::Mul(product, hn::Add(one, hn::Exp(d, hn::Neg(hn::Abs(x)))));
  };
  for (std::size_t j = 0; j < kBlockUnits; j += 4 * lanes) {
    auto x0 = hn::Load(d, bias + j), x1 = hn::Load(d, bias + j + lanes);
    auto x2 = hn::Load(d, bias + j + 2 * lanes), x3 = hn::Load(d, bias + j + 3 * lanes);
    for (std::size_t k = 0; k < count; ++k) {
      const double* row = rows + units[k] * kBlockUnits + j;
      const auto v = values == nullptr ? one : hn::Set(d, static_cast<double>(values[k]));
      x0 = hn::Add(x0, hn::Mul(v, hn::Load(d, row)));
      x1 = hn::Add(x1, hn::Mul(v, hn::Load(d, row + lanes)));
      x2 = hn::Add(x2, hn::Mul(v, hn::Load(d, row + 2 * lanes)));
      x3 = hn::Add(x3, hn::Mul(v, hn::Load(d, row + 3 * lanes)));
    }
    take(x0);
    take(x1);
    take(x2);
    take(x3);
  }
  // All 16 factors are in (1, 2].
  HWY_ALIGN double lane[kBlockUnits];
  hn::Store(product, d, lane);
  double all = 1;
  for (std::size_t k = 0; k < lanes; ++k) all *= lane[k];
  return std::log(all) + hn::GetLane(hn::SumOfLanes(d, linear));
}

void add_block(const double* rows, const double* bias, const Cases& cases, std::size_t first,
               std::size_t count, double* out) {
  const hn::CappedTag<double, kBlockUnits / 4> d;
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t* units = cases.begin(first + k);
    const auto on = static_cast<std::size_t>(cases.end(first + k) - units);
    out[k] += block_terms(d, rows, bias, units, on, cases.values(first + k));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace boltzmark
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
HWY_EXPORT(add_block);
namespace {

using HWY_NAMESPACE::kBlockUnits;

/// A binary RBM laid out for the free energies of sparse cases: hidden units in blocks of 16, in
/// each the weights of every visible unit side by side, so that a block stays in cache while many
/// cases pass. Padding units are always off.
class FreeEnergyTable {
 public:
  /// Shapes  weights [visible x hidden], hidden_bias [hidden]
  FreeEnergyTable(const Eigen::MatrixXd& weights, const Eigen::VectorXd& hidden_bias);

  /// Adds sum_j log(1 + e^{c_j + sum_i W_ij v_i}) of the distinct cases first..first + count - 1
  /// to out[0..count - 1].
  ///   max(x, 0) is added up; the factors 1 + e^-|x| are multiplied up, with one logarithm for a
  ///   block. Nothing is cut off: at any x the error is a few u (|x| + 1)
  void add_hidden_terms(const Cases& cases, std::size_t first, std::size_t count,
                        double* out) const;

 private:
  std::size_t visible_;
  std::size_t blocks_;
  hwy::AlignedFreeUniquePtr<double[]>
      rows_;  ///< [block][visible + 1][16], the last row is the bias
};

FreeEnergyTable::FreeEnergyTable(const Eigen::MatrixXd& weights, const Eigen::VectorXd& hidden_bias)
    : visible_(static_cast<std::size_t>(weights.rows())),
      blocks_((static_cast<std::size_t>(weights.cols()) + kBlockUnits - 1) / kBlockUnits),
      rows_(hwy::AllocateAligned<double>(blocks_ * (visible_ + 1) * kBlockUnits)) {
  constexpr double kOff = -1e9;  // e^-1e9 is 0, so a padding unit adds log(1 + 0)
  simd_path();                   // settles BOLTZMARK_SIMD before the first kernel
  const auto hidden = static_cast<std::size_t>(weights.cols());
  for (std::size_t j = 0; j < blocks_ * kBlockUnits; ++j) {
    double* out = rows_.get() + j / kBlockUnits * (visible_ + 1) * kBlockUnits + j % kBlockUnits;
    for (std::size_t i = 0; i < visible_; ++i) {
      out[i * kBlockUnits] = j < hidden ? weights(i, j) : 0.0;
    }
    out[visible_ * kBlockUnits] = j < hidden ? hidden_bias[j] : kOff;
  }
}

void FreeEnergyTable::add_hidden_terms(const Cases& cases, std::size_t first, std::size_t count,
                                       double* out) const {
  for (std::size_t b = 0; b < blocks_; ++b) {
    const double* rows = rows_.get() + b * (visible_ + 1) * kBlockUnits;
    const double* bias = rows + visible_ * kBlockUnits;
    HWY_DYNAMIC_DISPATCH(add_block)(rows, bias, cases, first, count, out);
  }
}

constexpr std::size_t kChunkCases = 256;

[[noreturn]] void refuse_value(double x, Unit unit) {
  throw InvalidArgument("data value = " + std::to_string(x) + " (must be a value of the visible " +
                        unit.name() + " units)");
}

/// Computes -own_energy, sum_i b_i v_i from the non-zero values.
double visible_term(const Layered& model, const Cases& cases, std::size_t k) {
  const Layer& layer = model.layer(0);
  if (layer.unit.has_scale()) return -own_energy(layer, cases.state(k));
  double sum = 0;
  cases.for_each(k, [&](std::uint32_t i, double x) { sum += layer.bias[i] * x; });
  return sum;
}

/// Computes log f of every distinct case by `fill(first, count, out)`, which writes those of some.
template <typename Fill>
Eigen::VectorXd fill_chunks(const Cases& cases, const Fill& fill) {
  const std::size_t chunks = (cases.distinct() + kChunkCases - 1) / kChunkCases;
  Eigen::VectorXd log_f(static_cast<Eigen::Index>(cases.distinct()));
  parallel_for(chunks, [&](std::size_t chunk) {
    const std::size_t first = chunk * kChunkCases;
    fill(first, std::min(kChunkCases, cases.distinct() - first), log_f.data() + first);
  });
  return log_f;
}

/// Sums the hidden units of a binary RBM out in closed form.
Eigen::VectorXd by_free_energy(const Layered& model, const Cases& cases) {
  const FreeEnergyTable table(model.weights(0), model.bias(1));
  return fill_chunks(cases, [&](std::size_t first, std::size_t count, double* out) {
    for (std::size_t k = 0; k < count; ++k) out[k] = visible_term(model, cases, first + k);
    table.add_hidden_terms(cases, first, count, out);
  });
}

/// Enumerates hidden layers once for every case.
Eigen::VectorXd case_by_case(const Layered& model, const Cases& cases) {
  return fill_chunks(cases, [&](std::size_t first, std::size_t count, double* out) {
    for (std::size_t k = 0; k < count; ++k)
      out[k] = log_unnormalised(model, cases.state(first + k));
  });
}

/// Computes W0'v of every distinct case.  Shapes  [units of h1 x cases]
Eigen::MatrixXd hidden_inputs(const Layered& model, const Cases& cases) {
  const Eigen::MatrixXd rows = model.weights(0).transpose();
  Eigen::MatrixXd inputs = Eigen::MatrixXd::Zero(rows.rows(), cases.distinct());
  for (std::size_t k = 0; k < cases.distinct(); ++k)
    cases.for_each(k, [&](std::uint32_t i, double x) { inputs.col(k) += x * rows.col(i); });
  return inputs;
}

/// Enumerates hidden layers once for all cases.
Eigen::VectorXd by_product(const Layered& model, const Cases& cases) {
  const Eigen::VectorXd sums = SplitMarginal(model).log_sums(hidden_inputs(model, cases));
  return fill_chunks(cases, [&](std::size_t first, std::size_t count, double* out) {
    for (std::size_t k = 0; k < count; ++k) {
      const double sum = sums[static_cast<Eigen::Index>(first + k)];
      out[k] = std::isnan(sum) ? log_unnormalised(model, cases.state(first + k))
                               : visible_term(model, cases, first + k) + sum;
    }
  });
}

/// What both ways to sum the hidden layers of a deep model take on one core, roughly.
struct Costs {
  double case_by_case_seconds = 0;
  double product_seconds = std::numeric_limits<double>::infinity();  ///< where h1 is discrete
};

Costs costs_of(const Layered& model, std::size_t cases) {
  constexpr double kSumSeconds = 1e-10, kExponentialSeconds = 8e-9, kProductSeconds = 6e-11;
  constexpr double kCaseSeconds = 1e-5;  // of the tables that an enumeration starts from
  const double states[2] = {std::exp2(log2_states(model, 0, 1)),
                            std::exp2(log2_states(model, 1, 1))};
  double units[2] = {0, 0};
  for (int l = 1; l < model.layers(); ++l) units[l % 2] += model.size(l);
  const int smaller = states[0] < states[1] ? 0 : 1;
  const auto count = static_cast<double>(cases);
  Costs costs;
  costs.case_by_case_seconds =
      count * (kCaseSeconds + states[smaller] * (1 + units[1 - smaller]) * kSumSeconds);
  if (std::isinf(states[1])) return costs;
  costs.product_seconds =
      states[1] * (1 + units[0]) * kExponentialSeconds +
      count * std::pow(model.layer(1).unit.values(), model.size(1)) * kProductSeconds;
  return costs;
}

/// Whether the product serves at less cost than an enumeration of the smaller side for every case.
bool prefers_product(const Layered& model, std::size_t cases) {
  if (model.is_rbm() || log2_states(model, 1, 1) > 40) return false;
  const Costs costs = costs_of(model, cases);
  return costs.product_seconds < costs.case_by_case_seconds;
}

/// FNV-1a over the bit patterns of a case; -0 counts as 0.
std::uint64_t hash_of(const float* values, Eigen::Index size) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (Eigen::Index i = 0; i < size; ++i) {
    std::uint32_t bits;
    const float x = values[i] + 0.0F;
    std::memcpy(&bits, &x, sizeof bits);
    hash = (hash ^ bits) * 0x100000001b3ULL;
  }
  return hash;
}

/// Adds the moments of one case, clamped, and of the hidden units given it.
void add_case(const Layered& model, const Cases& cases, std::size_t k, Parameters& sum) {
  const double weight = cases.weight(k);
  const Bipartite sides = given_visible(model, cases.state(k));
  const Moments hidden = moments(sides);
  add_moments(sides, hidden, weight, sum);
  Eigen::VectorXd first_hidden(model.size(1));
  for (std::size_t i = 0; i < sides.places.size(); ++i) {
    const UnitPlace p = sides.places[i];
    if (p.layer == 1) first_hidden[p.unit] = hidden.enumerated[static_cast<Eigen::Index>(i)];
  }
  for (std::size_t j = 0; j < sides.other_places.size(); ++j) {
    const UnitPlace q = sides.other_places[j];
    if (q.layer == 1) first_hidden[q.unit] = hidden.other[static_cast<Eigen::Index>(j)];
  }
  cases.for_each(k, [&](std::uint32_t i, double x) {
    sum.biases[0][i] += weight * x;
    sum.weights[0].row(i) += weight * x * first_hidden.transpose();
  });
}

Parameters data_moments(const Layered& model, const Cases& cases) {
  const std::size_t chunk = std::max<std::size_t>(16, (cases.distinct() + 63) / 64);
  const std::size_t chunks = (cases.distinct() + chunk - 1) / chunk;
  std::vector<Parameters> parts(chunks, model.zero_parameters());
  parallel_for(chunks, [&](std::size_t c) {
    const std::size_t end = std::min((c + 1) * chunk, cases.distinct());
    for (std::size_t k = c * chunk; k < end; ++k) add_case(model, cases, k, parts[c]);
  });
  for (std::size_t c = 1; c < chunks; ++c) combine(1, parts[0], 1, parts[c]);
  return parts[0];
}

}  // namespace

void check_cases(const Layered& model, const Cases& cases) {
  if (cases.visible() != model.size(0)) {
    throw InvalidArgument("data units = " + std::to_string(cases.visible()) + " (must be " +
                          std::to_string(model.size(0)) + ")");
  }
  const Unit unit = model.layer(0).unit;
  if (unit.has_scale() || (unit.is_bernoulli() && cases.is_binary())) return;
  for (std::size_t k = 0; k < cases.distinct(); ++k) {
    const Eigen::VectorXd v = cases.state(k);
    for (const double x : v)
      if (!unit.holds(x, 2e-6)) refuse_value(x, unit);
  }
}

double log_unnormalised(const Layered& model, const Eigen::Ref<const Eigen::VectorXd>& visible) {
  require_within(model.layer(0).unit, visible.cast<float>());
  return sum_states(given_visible(model, visible)).log_z;
}

Eigen::VectorXd log_unnormalised(const Layered& model, const Cases& cases) {
  check_cases(model, cases);
  if (model.is_rbm() && model.layer(1).unit.is_bernoulli()) return by_free_energy(model, cases);
  return prefers_product(model, cases.distinct()) ? by_product(model, cases)
                                                  : case_by_case(model, cases);
}

double log_unnormalised_seconds(const Layered& model, std::size_t cases) {
  if (model.is_rbm()) return 0;
  const Costs costs = costs_of(model, cases);
  return prefers_product(model, cases) ? costs.product_seconds : costs.case_by_case_seconds;
}

double mean_log_f(const Layered& model, const Cases& cases) {
  return cases.mean(log_unnormalised(model, cases));
}

double mean_log_likelihood(const Layered& model, const Cases& cases, double log_z) {
  return mean_log_f(model, cases) - log_z;
}

double exact_mean_log_likelihood(const Layered& model, const Cases& cases) {
  return mean_log_likelihood(model, cases, exact_log_z(model).log_z);
}

Cases::Cases(const CaseValues& data)
    : visible_(static_cast<int>(data.rows())), count_(static_cast<std::size_t>(data.cols())) {
  if (data.rows() < 1 || data.cols() < 1) {
    throw InvalidArgument("data = " + std::to_string(data.rows()) + " x " +
                          std::to_string(data.cols()) + " (must have a unit and a case)");
  }
  if (!data.all([](float x) { return std::isfinite(x); }))
    throw InvalidArgument("data = not finite (must be finite)");
  const bool binary = data.all([](float x) { return x == 0.0F || x == 1.0F; });
  std::unordered_multimap<std::uint64_t, std::size_t> known;
  std::vector<Eigen::Index> first;  // where each distinct case first stands
  starts_.push_back(0);
  for (Eigen::Index c = 0; c < data.cols(); ++c) {
    const Eigen::VectorXf values = data.col(c);
    const std::uint64_t hash = hash_of(values.data(), values.size());
    const auto [begin, end] = known.equal_range(hash);
    auto same = begin;
    while (same != end && data.col(first[same->second]) != values) ++same;
    if (same != end) {
      weights_[same->second] += 1;
      continue;
    }
    known.emplace(hash, first.size());
    first.push_back(c);
    weights_.push_back(1);
    for (Eigen::Index i = 0; i < data.rows(); ++i) {
      if (values[i] == 0.0F) continue;
      units_.push_back(static_cast<std::uint32_t>(i));
      if (!binary) values_.push_back(values[i]);
    }
    starts_.push_back(units_.size());
  }
  for (double& weight : weights_) weight /= static_cast<double>(count_);
}

double Cases::entropy() const {
  double sum = 0;
  for (const double weight : weights_) sum -= weight * std::log(weight);
  return sum;
}

double Cases::mean(const Eigen::Ref<const Eigen::VectorXd>& values) const {
  double total = 0;
  for (std::size_t first = 0; first < distinct(); first += kChunkCases) {
    double sum = 0;
    for (std::size_t k = first; k < std::min(first + kChunkCases, distinct()); ++k)
      sum += weights_[k] * values[static_cast<Eigen::Index>(k)];
    total += sum;
  }
  return total;
}

Eigen::VectorXd Cases::state(std::size_t k) const {
  Eigen::VectorXd v = Eigen::VectorXd::Zero(visible_);
  for_each(k, [&](std::uint32_t i, double x) { v[i] = x; });
  return v;
}

Parameters exact_gradient(const Layered& model, const Cases& cases) {
  check_cases(model, cases);
  const Bipartite sides = enumerate_smaller_side(model);
  Parameters gradient = data_moments(model, cases);
  add_moments(sides, moments(sides), -1, gradient);
  for (int l = 0; l < model.layers(); ++l) {
    if (model.layer(l).sigma0.size() == 0) continue;
    // d/da of -(x - a)^2 / (2 sigma^2); the a's of data and model cancel.
    gradient.biases[l].array() /= model.layer(l).sigma0.array().square();
  }
  return gradient;
}

}  // namespace boltzmark
#endif  // HWY_ONCE
