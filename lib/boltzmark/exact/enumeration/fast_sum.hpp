#pragma once

#include <hwy/aligned_allocator.h>

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/kernel.hpp"

namespace boltzmark {

/// What the states of some enumerated units contribute: e^{+-scaled input} per other unit, as
/// table entries times 2^exponent, and the linear term.
struct GroupTable {
  int states = 1;
  Eigen::MatrixXd entries;             ///< [units x states]
  std::vector<std::int32_t> exponent;  ///< [units]
  std::vector<std::int32_t> range;     ///< [units]: entries span at most 2^range
  std::vector<Scaled> linear;          ///< [states]
};

/// What the values of one unit of the high group contribute, to be multiplied up slab by slab.
struct HighFactors {
  int states = 1;
  Eigen::MatrixXd mantissa;                                              ///< [units x states]
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic> exponent;  ///< [units x states]
  std::vector<Scaled> linear;                                            ///< [states]
};

/// The enumeration without transcendentals (see kernel.hpp): each factor of the other
/// side is 1 + y + ... + y^steps with y = e^{scaled input} a quotient of table entries.
///   weight e^{lowest x} (1 + y + ... + y^steps), y = e^{spacing x}, of any discrete unit:
///   Bernoulli 1 + e^x; X(s) phi_s(x) = 2/(s+1) e^-x (1 + y + ... + y^s), y = e^{2x/s}.
///   e^{lowest x} is linear in the enumerated states
/// The enumerated units are dealt into a column and a row group, whose states span a plane, a
/// middle group, whose states are the planes of a slab, and a high group that is walked slab by
/// slab.
template <typename T>
class FastSum final : public ChunkedSum {
 public:
  /// Returns nothing where the kernel cannot serve: continuous, Gaussian or X(s > 8) units on the
  /// other side, or inputs that vary by more than about 600 nats (40 in float) over a group.
  static std::unique_ptr<FastSum> make(const Bipartite& sides);

  std::uint64_t chunks() const override;
  ScaledSum sum(std::uint64_t chunk) const override;
  double error_bound() const override { return error_bound_; }
  double seconds() const override;
  const char* name() const override { return sizeof(T) == 8 ? "double" : "float"; }

 private:
  FastSum() = default;
  void order_units(const Bipartite& sides);
  void set_linear(const Bipartite& sides);
  bool set_groups(const Bipartite& sides, int row_states, int middle_states);
  void exponentials(const Bipartite& sides, int unit, double value, double* mantissa,
                    std::int32_t* exponent) const;
  GroupTable make_table(const Bipartite& sides, const std::vector<int>& group, bool rows) const;
  HighFactors make_factors(const Bipartite& sides, int unit) const;
  void set_rows();
  void set_columns();
  void set_error_bound(const Bipartite& sides);
  PlaneTables<T> tables() const;

  int units_ = 0, simple_units_ = 0, row_groups_ = 0;
  std::vector<int> order_;  ///< other units, those with one step first
  std::vector<int> steps_;
  Eigen::VectorXd input_scale_;  ///< y = e^{input_scale x}
  Eigen::VectorXd linear_;       ///< coefficients of the linear term, [enumerated units]
  Eigen::VectorXd row_linear_;   ///< the same for units of the row group, with 1/R
  double constant_ = 0;
  hwy::AlignedFreeUniquePtr<T[]> rows_, columns_;
  GroupTable row_table_, column_table_;  ///< without entries once rows_ and columns_ hold them
  GroupTable middle_table_;
  std::vector<std::int32_t> column_exponent_;  ///< [units], middle group included
  /// Least and greatest entries, [units]; of columns times those of the middle group.
  Eigen::VectorXd row_least_, row_most_, column_least_, column_most_;
  hwy::AlignedFreeUniquePtr<double[]> column_mantissa_;
  hwy::AlignedFreeUniquePtr<std::int64_t[]> column_linear_exponent_;
  std::vector<HighFactors> high_;  ///< one per unit of the high group, slowest first
  std::uint64_t slabs_ = 1, chunk_slabs_ = 1;
  double error_bound_ = 0;
};

extern template class FastSum<double>;
extern template class FastSum<float>;

}  // namespace boltzmark
