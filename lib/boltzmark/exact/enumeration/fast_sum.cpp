#include "boltzmark/exact/enumeration/fast_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/exact/enumeration/chunk_total.hpp"

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

/// Deals the enumerated units out, smallest weights into the plane and then the slab, so that
/// inputs vary little in them.
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

/// Walks the states of the high group in order, the last unit fastest. Each state's factors are
/// products in a fixed order, so that they do not depend on where the walk began.
class HighWalk {
 public:
  HighWalk(const std::vector<HighFactors>& units, int size, std::uint64_t first)
      : units_(units),
        digits_(units.size()),
        mantissa_(Eigen::MatrixXd::Ones(size, static_cast<Eigen::Index>(units.size()) + 1)),
        exponent_(decltype(exponent_)::Zero(size, static_cast<Eigen::Index>(units.size()) + 1)),
        linear_(units.size() + 1, Scaled{1.0, 0}) {
    for (std::size_t t = units.size(); t-- > 0;) {
      digits_[t] = static_cast<int>(first % units[t].states);
      first /= units[t].states;
    }
    rebuild(0);
  }

  void next() {
    std::size_t t = units_.size();
    while (t > 0 && ++digits_[t - 1] == units_[t - 1].states) digits_[--t] = 0;
    rebuild(t == 0 ? 0 : t - 1);
  }

  const double* mantissa() const { return mantissa_.col(mantissa_.cols() - 1).data(); }
  const std::int32_t* exponent() const { return exponent_.col(exponent_.cols() - 1).data(); }
  Scaled linear() const { return linear_.back(); }

 private:
  void rebuild(std::size_t from) {
    for (std::size_t t = from; t < units_.size(); ++t) {
      const auto c = static_cast<Eigen::Index>(t);
      mantissa_.col(c + 1) = mantissa_.col(c).cwiseProduct(units_[t].mantissa.col(digits_[t]));
      exponent_.col(c + 1) = exponent_.col(c) + units_[t].exponent.col(digits_[t]);
      const Scaled& factor = units_[t].linear[digits_[t]];
      linear_[t + 1] = {linear_[t].mantissa * factor.mantissa,
                        linear_[t].exponent + factor.exponent};
    }
  }
  const std::vector<HighFactors>& units_;
  std::vector<int> digits_;
  Eigen::MatrixXd mantissa_;
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic> exponent_;
  std::vector<Scaled> linear_;
};

/// Owns the room for one slab's work.
template <typename T>
class Workspace {
 public:
  Workspace(int units, int rows) {
    const std::size_t n = (static_cast<std::size_t>(units) + 15) / 16 * 16;
    const std::size_t states = static_cast<std::size_t>(rows) * kPlaneColumns;
    const std::size_t block = std::size_t{kPlaneColumns} * kPlaneBlock;
    tables_ = hwy::AllocateAligned<T>(n * (rows + 1) + block + states);
    scales_ = hwy::AllocateAligned<double>(n);
    numbers_ = hwy::AllocateAligned<std::int32_t>(n * 3 + 16);
    exponent_ = hwy::AllocateAligned<ExponentOf<T>>(states);
    T* columns = tables_.get() + n * rows;
    std::int32_t* numbers = numbers_.get();
    work_ = {.rows = tables_.get(),
             .columns = columns,
             .row_scale = columns + block,
             .column_scale = scales_.get(),
             .low = numbers,
             .high = numbers + n,
             .schedule = numbers + 2 * n,
             .mantissa = columns + block + n,
             .exponent = exponent_.get()};
  }
  const PlaneWork<T>& get() const { return work_; }

 private:
  hwy::AlignedFreeUniquePtr<T[]> tables_;
  hwy::AlignedFreeUniquePtr<double[]> scales_;
  hwy::AlignedFreeUniquePtr<std::int32_t[]> numbers_;
  hwy::AlignedFreeUniquePtr<ExponentOf<T>[]> exponent_;
  PlaneWork<T> work_;
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

// The linear term gathers the biases, e^{lowest x} of the other units, and prod_j R_j^-steps with
// R_j = e^{-input_scale (bias_j + row group)}, where input_scale * steps = highest - lowest.
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
      row.add(sides.other[j].highest() * w);
    }
    linear_[i] = plain.value();
    row_linear_[i] = row.value();
  }
  CompensatedSum constant;
  constant.add(sides.constant);
  for (Eigen::Index j = 0; j < units_; ++j) {
    constant.add(sides.other[j].log_weight());
    constant.add(sides.other[j].highest() * sides.other_input[j]);
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
  set_rows();
  set_columns();
  high_.clear();
  slabs_ = 1;
  for (const int i : groups.high) {
    high_.push_back(make_factors(sides, i));
    slabs_ *= static_cast<std::uint64_t>(high_.back().states);
  }
  // A chunk is a slab or about half a millisecond of work, or more where there would be more than
  // 2^14 chunks.
  const auto slab_work = static_cast<std::uint64_t>(middle_table_.states) *
                         static_cast<std::uint64_t>(row_groups_) * kPlaneRowGroup * kPlaneColumns *
                         static_cast<std::uint64_t>(units_);
  chunk_slabs_ =
      std::max((std::uint64_t{1} << 23) / slab_work + 1, least_chunk_blocks(sides, slabs_));
  return true;
}

template <typename T>
void FastSum<T>::set_rows() {
  row_groups_ = (row_table_.states + kPlaneRowGroup - 1) / kPlaneRowGroup;
  const auto units = static_cast<std::size_t>(units_);
  rows_ = hwy::AllocateAligned<T>(units * row_groups_ * kPlaneRowGroup);
  row_table_.linear.resize(static_cast<std::size_t>(row_groups_) * kPlaneRowGroup, {0.0, 0});
  for (int g = 0; g < row_groups_; ++g) {
    T* out = rows_.get() + g * units * kPlaneRowGroup;
    for (int k = 0; k < kPlaneRowGroup; ++k) {
      const int s = g * kPlaneRowGroup + k;
      const double* in = row_table_.entries.col(s < row_table_.states ? s : 0).data();
      for (int j = 0; j < units_; ++j) out[j * kPlaneRowGroup + k] = static_cast<T>(in[j]);
    }
  }
  row_table_.entries.resize(0, 0);
}

template <typename T>
void FastSum<T>::set_columns() {
  columns_ = hwy::AllocateAligned<T>(static_cast<std::size_t>(units_) * kPlaneColumns);
  column_mantissa_ = hwy::AllocateAligned<double>(kPlaneColumns);
  column_linear_exponent_ = hwy::AllocateAligned<std::int64_t>(kPlaneColumns);
  for (int l = 0; l < kPlaneColumns; ++l) {
    const int s = l < column_table_.states ? l : 0;
    const double* in = column_table_.entries.col(s).data();
    for (int j = 0; j < units_; ++j) {
      columns_[static_cast<std::size_t>(j) * kPlaneColumns + l] = static_cast<T>(in[j]);
    }
    column_mantissa_[l] = l < column_table_.states ? column_table_.linear[s].mantissa : 0.0;
    column_linear_exponent_[l] = column_table_.linear[s].exponent;
  }
  column_table_.entries.resize(0, 0);
}

template <typename T>
std::uint64_t FastSum<T>::chunks() const {
  return (slabs_ + chunk_slabs_ - 1) / chunk_slabs_;
}

template <typename T>
ScaledSum FastSum<T>::sum(std::uint64_t chunk) const {
  const std::uint64_t first = chunk * chunk_slabs_;
  const std::uint64_t count = std::min(chunk_slabs_, slabs_ - first);
  const PlaneTables<T> t = tables();
  const Workspace<T> work(units_, row_groups_ * kPlaneRowGroup);
  HighWalk walk(high_, units_, first);
  ScaledSum total;
  const Scaled constant = exp_scaled(constant_);
  for (std::uint64_t k = 0; k < count; ++k, walk.next()) {
    const Slab slab = plan_slab(t, work.get(), walk.mantissa(), walk.exponent());
    scale_rows(t, work.get());
    const Scaled high = product(walk.linear(), constant);
    for (int m = 0; m < middle_table_.states; ++m) {
      const Scaled linear = product(high, middle_table_.linear[m]);
      const Scaled plane = sum_plane(t, work.get(), slab, middle_table_.entries.col(m).data());
      total.add(product(plane, linear));
    }
  }
  return total;
}

// As measured with AVX-512 in double, 60 ns a state of 784 binary units: a factor costs as much as it has
// steps, in every cell of a plane, those that only pad it too; and the tables of a slab are made for every unit.
template <typename T>
double FastSum<T>::seconds() const {
  constexpr double kSlab = 20e-9, kBinarySlabCells = 64 * 32 * 16;
  constexpr double kStep = 60e-9 / 784 - kSlab / kBinarySlabCells;
  constexpr int kLeastSteps = 8;  // what else a state takes
  const double cells = double{kPlaneColumns} * kPlaneRowGroup * row_groups_ * middle_table_.states;
  const int steps = std::accumulate(steps_.begin(), steps_.end(), 0);
  return static_cast<double>(slabs_) *
         (cells * std::max(steps, kLeastSteps) * kStep + units_ * kSlab);
}

template <typename T>
PlaneTables<T> FastSum<T>::tables() const {
  return {.units = units_,
          .simple_units = simple_units_,
          .steps = steps_.data(),
          .row_groups = row_groups_,
          .rows = rows_.get(),
          .columns = columns_.get(),
          .row_exponent = row_table_.exponent.data(),
          .row_least = row_least_.data(),
          .row_most = row_most_.data(),
          .column_exponent = column_exponent_.data(),
          .column_least = column_least_.data(),
          .column_most = column_most_.data(),
          .row_linear = row_table_.linear.data(),
          .column_mantissa = column_mantissa_.get(),
          .column_linear_exponent = column_linear_exponent_.get()};
}

// Every term is positive, so relative errors add up and a sum's is at most its worst term's. With
// u = 2^-53, t = u or 2^-24 (the kernel's arithmetic), n enumerated units and s_j steps:
//   R_j and C_j: together n + 1 exponentials of 3 u and n + 3 products of u, in float 3 roundings
//     of t (entry, scale, their product); where values or scales are no powers of two, arguments
//     round too: 4 u input_scale_j X_j, and the same once more in the linear terms;
//   R^s + .. + C^s: s_j times that, and 2 s_j roundings of t; one more to multiply it in;
//   linear terms: n + 1 exponentials of 3 u and n + 6 products; their arguments, compensated sums
//     rounded once and multiplied by a value: 3 u times their size, and second-order terms
//     2 (m u)^2 times the sum of sizes;
//   sums: at most 36 + rows roundings in a plane, one per plane of a chunk, one per
//     chunk of a group and one per group (or one per chunk, without groups).
// What is dropped below 2^-55 (float) or 2^-115 of a factor is far inside the slack of 1.01.
template <typename T>
void FastSum<T>::set_error_bound(const Bipartite& sides) {
  const double u = std::numeric_limits<double>::epsilon() / 2;
  const double t = std::numeric_limits<T>::epsilon() / 2.0;
  const double n = static_cast<double>(sides.enumerated.size());
  const auto rounds = [](Unit unit) { return !std::has_single_bit(unsigned(unit.steps())); };
  const bool inexact = std::any_of(sides.enumerated.begin(), sides.enumerated.end(), rounds) ||
                       std::any_of(sides.other.begin(), sides.other.end(), rounds);
  double error = (4 * n + 9) * u;
  double sizes = std::abs(sides.constant) + sides.bias.cwiseAbs().sum();
  for (int j = 0; j < units_; ++j) {
    const int row = order_[j];
    const double x = std::abs(sides.other_input[row]) + sides.weights.row(row).cwiseAbs().sum();
    const double y = (4 * n + 6) * u + (sizeof(T) < 8 ? 3 * t : 0.0) +
                     (inexact ? 8 * u * input_scale_[j] * x : 0.0);
    error += steps_[j] * y + (2 * steps_[j] + 1) * t;
    sizes += x + 1;
  }
  const double second_order = 2 * std::pow((units_ + 1) * u, 2) * sizes;
  const double linear =
      std::abs(constant_) + linear_.cwiseAbs().cwiseMax(row_linear_.cwiseAbs()).sum();
  error += 3 * u * linear + second_order;
  error += (36 + row_groups_ * kPlaneRowGroup +
            static_cast<double>(chunk_slabs_ * middle_table_.states +
                                additions_of(chunks(), chunks_of_group(sides)))) *
           u;
  error_bound_ = error < 0.5 ? 1.01 * error / (1 - error) : std::numeric_limits<double>::infinity();
}

template class FastSum<double>;
template class FastSum<float>;

}  // namespace boltzmark
