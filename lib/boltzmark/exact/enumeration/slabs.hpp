#pragma once

#include <hwy/aligned_allocator.h>

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/enumeration/kernel.hpp"

namespace boltzmark {

/// What the values of one unit of the high group contribute, to be multiplied up slab by slab.
struct HighFactors {
  int states = 1;
  Eigen::MatrixXd mantissa;                                              ///< [units x states]
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic> exponent;  ///< [units x states]
  std::vector<Scaled> linear;                                            ///< [states]
};

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

}  // namespace boltzmark
