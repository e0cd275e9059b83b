#include "boltzmark/exact/enumeration_fast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "boltzmark/core/simd.hpp"

namespace boltzmark {
namespace {

constexpr int kMaxSteps = 8;
constexpr int kMaxRowStates = 64;
/// Keeps every exponent, and sums of 64 of them, inside int32.
constexpr double kMaxInput = 1 << 23;

int steps_of(Unit unit) { return unit.is_bernoulli() ? 1 : unit.code(); }

bool kernel_knows(Unit unit) { return unit.is_discrete() && steps_of(unit) <= kMaxSteps; }

/// How a view's enumerated units are dealt out: a tile is the states of the column group times
/// those of the row group; the high group, slowest first, is walked tile by tile.
struct Groups {
  std::vector<int> columns, rows, high;
};

/// Deals the enumerated units out, smallest weights into the tile, so that inputs vary little in
/// it.
Groups deal(const Bipartite& sides, int row_states) {
  const int n = static_cast<int>(sides.enumerated.size());
  std::vector<double> size(n);
  for (int i = 0; i < n; ++i) {
    size[i] = sides.weights.col(i).cwiseAbs().maxCoeff();
    if (!sides.enumerated[i].is_bernoulli()) size[i] *= 2;
  }
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size[a] < size[b]; });
  Groups groups;
  long columns = 1, rows = 1;
  for (const int i : order) {
    const int values = sides.enumerated[i].values();
    if (columns * values <= kTileColumns) {
      columns *= values;
      groups.columns.push_back(i);
    } else if (rows * values <= row_states) {
      rows *= values;
      groups.rows.push_back(i);
    } else {
      groups.high.push_back(i);
    }
  }
  std::reverse(groups.high.begin(), groups.high.end());
  return groups;
}

/// Multiplies a normal positive double by 2^shift; the caller knows that the result is normal.
double shifted(double x, std::int64_t shift) {
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(x) + (shift << 52));
}

std::int32_t exponent_of(double x) {
  return static_cast<std::int32_t>((std::bit_cast<std::int64_t>(x) >> 52) - 1023);
}

/// Finds per unit the largest exponent of a group's factors and how far they go below it.
void add_span(const GroupFactors& group, std::vector<std::int32_t>& exponent,
              std::vector<std::int32_t>& range, std::vector<std::int32_t>& highest) {
  highest.assign(exponent.size(), std::numeric_limits<std::int32_t>::min());
  std::vector<std::int32_t> lowest(exponent.size(), std::numeric_limits<std::int32_t>::max());
  for (int s = 0; s < group.states; ++s) {
    for (std::size_t j = 0; j < exponent.size(); ++j) {
      const auto k = static_cast<Eigen::Index>(j);
      const std::int32_t e = group.exponent(k, s) + exponent_of(group.mantissa(k, s));
      highest[j] = std::max(highest[j], e);
      lowest[j] = std::min(lowest[j], e);
    }
  }
  for (std::size_t j = 0; j < exponent.size(); ++j) {
    exponent[j] += highest[j];
    range[j] += highest[j] - lowest[j];
  }
}

Scaled product(Scaled a, Scaled b) { return {a.mantissa * b.mantissa, a.exponent + b.exponent}; }

}  // namespace

template <typename T>
std::unique_ptr<FastSum<T>> FastSum<T>::make(const Bipartite& sides) {
  if (sides.other.empty() || sides.enumerated.empty()) return nullptr;
  if (!std::all_of(sides.other.begin(), sides.other.end(), kernel_knows)) return nullptr;
  simd_path();  // settles BOLTZMARK_SIMD before the first kernel
  std::unique_ptr<FastSum> sum(new FastSum);
  sum->order_units(sides);
  const Eigen::VectorXd inputs =
      sides.weights.cwiseAbs().rowwise().sum() + sides.other_input.cwiseAbs();
  if (2 * inputs.maxCoeff() > kMaxInput) return nullptr;
  for (int row_states = kMaxRowStates; row_states >= kTileRowGroup; row_states /= 4) {
    if (!sum->set_groups(sides, row_states)) continue;
    sum->set_error_bound(sides);
    return sum;
  }
  return nullptr;
}

template <typename T>
void FastSum<T>::order_units(const Bipartite& sides) {
  units_ = static_cast<int>(sides.other.size());
  order_.resize(units_);
  std::iota(order_.begin(), order_.end(), 0);
  simple_units_ =
      static_cast<int>(std::stable_partition(order_.begin(), order_.end(),
                                             [&](int j) { return steps_of(sides.other[j]) == 1; }) -
                       order_.begin());
  input_scale_.resize(units_);
  linear_ = sides.bias;
  double constant = sides.constant;
  for (int j = 0; j < units_; ++j) {
    const Unit unit = sides.other[order_[j]];
    steps_.push_back(steps_of(unit));
    input_scale_[j] = unit.is_bernoulli() ? 1.0 : 2.0 / steps_[j];
    if (unit.is_bernoulli()) continue;
    linear_ -= sides.weights.row(order_[j]).transpose();
    constant += unit.log_weight() - sides.other_input[order_[j]];
  }
  constant_ = exp_scaled(constant);
}

template <typename T>
GroupFactors FastSum<T>::factors(const Bipartite& sides, const std::vector<int>& group,
                                 bool biases) const {
  int states = 1;
  for (const int i : group) states *= sides.enumerated[i].values();
  GroupFactors f;
  f.mantissa.setOnes(units_, states);
  f.exponent.setZero(units_, states);
  f.linear.assign(states, {1.0, 0});
  for (int j = 0; biases && j < units_; ++j) {
    const Scaled y = exp_scaled(input_scale_[j] * sides.other_input[order_[j]]);
    f.mantissa(j, 0) = y.mantissa;
    f.exponent(j, 0) = static_cast<std::int32_t>(y.exponent);
  }
  Eigen::VectorXd mantissa(units_);
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1> exponent(units_);
  for (const int i : group) {
    const int old = f.states;
    const Unit unit = sides.enumerated[i];
    for (int k = unit.values() - 1; k >= 0; --k) {  // the first value last: it overwrites
      const double value = unit.value(k);
      if (value == 0 && k == 0) continue;
      for (int j = 0; j < units_; ++j) {
        const Scaled y = exp_scaled(input_scale_[j] * (value * sides.weights(order_[j], i)));
        mantissa[j] = y.mantissa;
        exponent[j] = static_cast<std::int32_t>(y.exponent);
      }
      const Scaled linear = exp_scaled(value * linear_[i]);
      for (int s = 0; s < old; ++s) {
        f.mantissa.col(k * old + s).array() = f.mantissa.col(s).array() * mantissa.array();
        f.exponent.col(k * old + s) = f.exponent.col(s) + exponent;
        f.linear[k * old + s] = product(f.linear[s], linear);
      }
    }
    f.states = old * unit.values();
  }
  return f;
}

template <typename T>
bool FastSum<T>::set_groups(const Bipartite& sides, int row_states) {
  const Groups groups = deal(sides, row_states);
  exponent_.assign(units_, 0);
  range_.assign(units_, 0);
  const GroupFactors rows = factors(sides, groups.rows, true);
  const GroupFactors columns = factors(sides, groups.columns, false);
  set_rows(rows);
  set_columns(columns);
  for (int j = 0; j < units_; ++j) {
    if (range_[j] * static_cast<double>(steps_[j]) > kTileRange<T>) return false;
  }
  high_.clear();
  tiles_ = 1;
  for (const int i : groups.high) {
    high_.push_back(factors(sides, {i}, false));
    tiles_ *= static_cast<std::uint64_t>(high_.back().states);
  }
  // A chunk is about a millisecond of work; at most 2^14, so that adding them rounds little.
  const auto tile_work = static_cast<std::uint64_t>(row_groups_) * kTileRowGroup * kTileColumns *
                         static_cast<std::uint64_t>(units_);
  chunk_tiles_ = std::max((std::uint64_t{1} << 23) / tile_work + 1, (tiles_ + 16383) / 16384);
  return true;
}

template <typename T>
void FastSum<T>::set_rows(const GroupFactors& group) {
  std::vector<std::int32_t> highest;
  add_span(group, exponent_, range_, highest);
  row_groups_ = (group.states + kTileRowGroup - 1) / kTileRowGroup;
  const int rows = row_groups_ * kTileRowGroup;
  const auto units = static_cast<std::size_t>(units_);
  rows_ = hwy::AllocateAligned<T>(units * rows);
  row_mantissa_.assign(rows, 0);
  row_exponent_.assign(rows, 0);
  for (int r = 0; r < rows; ++r) {
    const int s = r < group.states ? r : 0;
    T* out = rows_.get() + (r / kTileRowGroup) * units * kTileRowGroup + r % kTileRowGroup;
    for (int j = 0; j < units_; ++j) {
      // Out of range is refused by the caller; the table only has to hold something then.
      const std::int64_t e = std::max(group.exponent(j, s) - highest[j], -900);
      out[static_cast<std::size_t>(j) * kTileRowGroup] =
          static_cast<T>(shifted(group.mantissa(j, s), e));
    }
    if (r < group.states) row_mantissa_[r] = group.linear[s].mantissa;
    row_exponent_[r] = group.linear[s].exponent;
  }
}

template <typename T>
void FastSum<T>::set_columns(const GroupFactors& group) {
  std::vector<std::int32_t> highest;
  add_span(group, exponent_, range_, highest);
  columns_ = hwy::AllocateAligned<T>(static_cast<std::size_t>(units_) * kTileColumns);
  column_mantissa_ = hwy::AllocateAligned<double>(kTileColumns);
  column_exponent_ = hwy::AllocateAligned<std::int64_t>(kTileColumns);
  for (int l = 0; l < kTileColumns; ++l) {
    const int s = l < group.states ? l : 0;
    for (int j = 0; j < units_; ++j) {
      const std::int64_t e = std::max(group.exponent(j, s) - highest[j], -900);
      columns_[static_cast<std::size_t>(j) * kTileColumns + l] =
          static_cast<T>(shifted(group.mantissa(j, s), e));
    }
    column_mantissa_[l] = l < group.states ? group.linear[s].mantissa : 0.0;
    column_exponent_[l] = group.linear[s].exponent;
  }
}

template class FastSum<double>;
template class FastSum<float>;

}  // namespace boltzmark
