#include "boltzmark/exact/enumeration/fast.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "boltzmark/core/simd.hpp"

namespace boltzmark {
namespace {

constexpr int kMaxSteps = 8;
constexpr int kMinRowStates = 4, kMaxRowStates = 64;
constexpr std::uint64_t kMaxMiddleStates = 16;
/// Keeps every exponent, and sums of 64 of them, inside int32.
constexpr double kMaxInput = 1 << 23;

bool kernel_knows(Unit unit) { return unit.is_discrete() && unit.steps() <= kMaxSteps; }

struct Groups {
  std::vector<int> columns, rows, middle, high;  ///< high: slowest first
};

/// Deals the enumerated units out, smallest weights into the plane and then the slab, so that inputs
/// vary little in them.
Groups deal(const Bipartite& sides, int row_states, int middle_states) {
  const int n = static_cast<int>(sides.enumerated.size());
  std::vector<double> size(n);
  for (int i = 0; i < n; ++i) {
    const Unit unit = sides.enumerated[i];
    size[i] = (unit.highest() - unit.lowest()) * sides.weights.col(i).cwiseAbs().maxCoeff();
  }
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return size[a] < size[b]; });
  Groups groups;
  long columns = 1, rows = 1, middle = 1;
  for (const int i : order) {
    const int values = sides.enumerated[i].values();
    if (columns * values <= kPlaneColumns) {
      columns *= values;
      groups.columns.push_back(i);
    } else if (rows * values <= row_states) {
      rows *= values;
      groups.rows.push_back(i);
    } else if (middle * values <= middle_states) {
      middle *= values;
      groups.middle.push_back(i);
    } else {
      groups.high.push_back(i);
    }
  }
  std::reverse(groups.high.begin(), groups.high.end());
  return groups;
}

/// Multiplies a normal positive double by 2^shift, shift <= 0, at least 2^-900 of it.
double lowered(double x, std::int32_t shift) {
  const std::int64_t some = std::max(shift, -900);
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(x) + (some << 52));
}

/// Sums in twice the working precision (Neumaier's compensated sum).
class CompensatedSum {
 public:
  void add(double x) {
    const double total = sum_ + x;
    rest_ += std::abs(sum_) >= std::abs(x) ? (sum_ - total) + x : (x - total) + sum_;
    sum_ = total;
  }
  double value() const { return sum_ + rest_; }

 private:
  double sum_ = 0, rest_ = 0;
};

}  // namespace

template <typename T>
std::unique_ptr<FastSum<T>> FastSum<T>::make(const Bipartite& sides) {
  if (sides.other.empty() || sides.enumerated.empty()) return nullptr;
  if (!std::all_of(sides.other.begin(), sides.other.end(), kernel_knows)) return nullptr;
  const Eigen::VectorXd inputs =
      sides.weights.cwiseAbs().rowwise().sum() + sides.other_input.cwiseAbs();
  if (2 * inputs.maxCoeff() > kMaxInput) return nullptr;
  simd_path();  // settles BOLTZMARK_SIMD before the first kernel
  std::unique_ptr<FastSum> sum(new FastSum);
  sum->order_units(sides);
  sum->set_linear(sides);
  // Slabs enough for several threads.
  const auto planes = sides.states / (std::uint64_t{kPlaneColumns} * kMaxRowStates);
  const auto middle = static_cast<int>(std::clamp(planes / 16, std::uint64_t{1}, kMaxMiddleStates));
  for (int rows = kMaxRowStates; rows >= kMinRowStates; rows /= 2) {
    const auto fits = [&](int states) { return sum->set_groups(sides, rows, states); };
    if (!fits(middle) && (middle == 1 || !fits(1))) continue;
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
  const auto simple = [&](int j) { return sides.other[j].steps() == 1; };
  simple_units_ = static_cast<int>(std::stable_partition(order_.begin(), order_.end(), simple) -
                                   order_.begin());
  input_scale_.resize(units_);
  for (int j = 0; j < units_; ++j) {
    const Unit unit = sides.other[order_[j]];
    steps_.push_back(unit.steps());
    input_scale_[j] = unit.spacing();
  }
}

// The linear term gathers the biases, e^-x of X(s) units, and prod_j R_j^-steps with
// R_j = e^{-input_scale (bias_j + row group)}, where input_scale * steps = 1 (Bernoulli) or 2.
template <typename T>
void FastSum<T>::set_linear(const Bipartite& sides) {
  linear_.resize(sides.bias.size());
  row_linear_.resize(sides.bias.size());
  for (Eigen::Index i = 0; i < sides.bias.size(); ++i) {
    CompensatedSum plain, row;
    plain.add(sides.bias[i]);
    row.add(sides.bias[i]);
    for (Eigen::Index j = 0; j < units_; ++j) {
      const double w = sides.weights(j, i);
      plain.add(sides.other[j].lowest() * w);
      row.add(w);
    }
    linear_[i] = plain.value();
    row_linear_[i] = row.value();
  }
  CompensatedSum constant;
  constant.add(sides.constant);
  for (Eigen::Index j = 0; j < units_; ++j) {
    constant.add(sides.other[j].log_weight());
    constant.add(sides.other_input[j]);
  }
  constant_ = constant.value();
}

template <typename T>
void FastSum<T>::exponentials(const Bipartite& sides, int unit, double value, double* mantissa,
                              std::int32_t* exponent) const {
  Eigen::VectorXd x(units_);
  for (int j = 0; j < units_; ++j) {
    x[j] = input_scale_[j] * (value * sides.weights(order_[j], unit));
  }
  exp_scaled(x.data(), units_, mantissa, exponent);
}

template <typename T>
GroupTable FastSum<T>::make_table(const Bipartite& sides, const std::vector<int>& group,
                                  bool rows) const {
  int states = 1;
  for (const int i : group) states *= sides.enumerated[i].values();
  GroupTable table{1, Eigen::MatrixXd(units_, states), std::vector<std::int32_t>(units_),
                   std::vector<std::int32_t>(units_), std::vector<Scaled>(states, {1.0, 0})};
  table.entries.col(0).setOnes();
  if (rows) {
    Eigen::VectorXd x(units_);
    for (int j = 0; j < units_; ++j) x[j] = -input_scale_[j] * sides.other_input[order_[j]];
    exp_scaled(x.data(), units_, table.entries.data(), table.exponent.data());
  }
  for (const int i : group) {
    const Unit unit = sides.enumerated[i];
    Eigen::MatrixXd mantissa(units_, unit.values());
    Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic> e(units_, unit.values());
    for (int k = 0; k < unit.values(); ++k) {
      exponentials(sides, i, rows ? -unit.value(k) : unit.value(k), mantissa.col(k).data(),
                   e.col(k).data());
    }
    for (int j = 0; j < units_; ++j) {
      const std::int32_t high = e.row(j).maxCoeff();
      table.exponent[j] += high;
      table.range[j] += high - e.row(j).minCoeff();
      for (int k = 0; k < unit.values(); ++k)
        mantissa(j, k) = lowered(mantissa(j, k), e(j, k) - high);
    }
    const int old = table.states;
    for (int k = unit.values() - 1; k >= 0; --k) {  // the first value last: it overwrites
      const Scaled linear = exp_scaled(unit.value(k) * (rows ? row_linear_[i] : linear_[i]));
      for (int s = 0; s < old; ++s) {
        table.entries.col(k * old + s) = table.entries.col(s).cwiseProduct(mantissa.col(k));
        table.linear[k * old + s] = product(table.linear[s], linear);
      }
    }
    table.states = old * unit.values();
  }
  return table;
}

template <typename T>
HighFactors FastSum<T>::make_factors(const Bipartite& sides, int unit) const {
  const int states = sides.enumerated[unit].values();
  HighFactors factors;
  factors.states = states;
  factors.mantissa.resize(units_, states);
  factors.exponent.resize(units_, states);
  for (int k = 0; k < states; ++k) {
    const double value = sides.enumerated[unit].value(k);
    exponentials(sides, unit, value, factors.mantissa.col(k).data(),
                 factors.exponent.col(k).data());
    factors.linear.push_back(exp_scaled(value * linear_[unit]));
  }
  return factors;
}

template <typename T>
bool FastSum<T>::set_groups(const Bipartite& sides, int row_states, int middle_states) {
  const Groups groups = deal(sides, row_states, middle_states);
  row_table_ = make_table(sides, groups.rows, true);
  column_table_ = make_table(sides, groups.columns, false);
  middle_table_ = make_table(sides, groups.middle, false);
  column_exponent_.resize(units_);
  for (int j = 0; j < units_; ++j) {
    const double range =
        std::max(row_table_.range[j], column_table_.range[j] + middle_table_.range[j]);
    if (range * steps_[j] > kPlaneRange<T>) return false;
    column_exponent_[j] = column_table_.exponent[j] + middle_table_.exponent[j];
  }
  row_least_ = row_table_.entries.rowwise().minCoeff();
  row_most_ = row_table_.entries.rowwise().maxCoeff();
  column_least_ = column_table_.entries.rowwise().minCoeff().cwiseProduct(
      middle_table_.entries.rowwise().minCoeff());
  column_most_ = column_table_.entries.rowwise().maxCoeff().cwiseProduct(
      middle_table_.entries.rowwise().maxCoeff());
  set_rows(row_table_);
  set_columns(column_table_);
  high_.clear();
  slabs_ = 1;
  for (const int i : groups.high) {
    high_.push_back(make_factors(sides, i));
    slabs_ *= static_cast<std::uint64_t>(high_.back().states);
  }
  // A chunk is a slab or about half a millisecond of work; at most 2^14, so that adding them rounds
  // little.
  const auto slab_work = static_cast<std::uint64_t>(middle_table_.states) *
                         static_cast<std::uint64_t>(row_groups_) * kPlaneRowGroup * kPlaneColumns *
                         static_cast<std::uint64_t>(units_);
  chunk_slabs_ = std::max((std::uint64_t{1} << 23) / slab_work + 1, (slabs_ + 16383) / 16384);
  return true;
}

template <typename T>
void FastSum<T>::set_rows(const GroupTable& table) {
  row_groups_ = (table.states + kPlaneRowGroup - 1) / kPlaneRowGroup;
  const auto units = static_cast<std::size_t>(units_);
  rows_ = hwy::AllocateAligned<T>(units * row_groups_ * kPlaneRowGroup);
  row_table_.linear.resize(static_cast<std::size_t>(row_groups_) * kPlaneRowGroup, {0.0, 0});
  for (int g = 0; g < row_groups_; ++g) {
    T* out = rows_.get() + g * units * kPlaneRowGroup;
    for (int k = 0; k < kPlaneRowGroup; ++k) {
      const int s = g * kPlaneRowGroup + k;
      const double* in = table.entries.col(s < table.states ? s : 0).data();
      for (int j = 0; j < units_; ++j) out[j * kPlaneRowGroup + k] = static_cast<T>(in[j]);
    }
  }
  row_table_.entries.resize(0, 0);
}

template <typename T>
void FastSum<T>::set_columns(const GroupTable& table) {
  columns_ = hwy::AllocateAligned<T>(static_cast<std::size_t>(units_) * kPlaneColumns);
  column_mantissa_ = hwy::AllocateAligned<double>(kPlaneColumns);
  column_linear_exponent_ = hwy::AllocateAligned<std::int64_t>(kPlaneColumns);
  for (int l = 0; l < kPlaneColumns; ++l) {
    const int s = l < table.states ? l : 0;
    const double* in = table.entries.col(s).data();
    for (int j = 0; j < units_; ++j) {
      columns_[static_cast<std::size_t>(j) * kPlaneColumns + l] = static_cast<T>(in[j]);
    }
    column_mantissa_[l] = l < table.states ? table.linear[s].mantissa : 0.0;
    column_linear_exponent_[l] = table.linear[s].exponent;
  }
  column_table_.entries.resize(0, 0);
}

template class FastSum<double>;
template class FastSum<float>;

}  // namespace boltzmark
