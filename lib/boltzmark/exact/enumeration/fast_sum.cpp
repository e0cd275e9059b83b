#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/exact/enumeration/fast.hpp"

namespace boltzmark {
namespace {

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
//   sums: at most 36 + rows roundings in a plane, one per plane of a chunk, one per chunk.
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
            static_cast<double>(chunk_slabs_ * middle_table_.states + chunks())) *
           u;
  error_bound_ = error < 0.5 ? 1.01 * error / (1 - error) : std::numeric_limits<double>::infinity();
}

template class FastSum<double>;
template class FastSum<float>;

}  // namespace boltzmark
