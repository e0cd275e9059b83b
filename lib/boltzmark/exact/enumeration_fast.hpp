#pragma once

#include <hwy/aligned_allocator.h>

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <vector>

#include "boltzmark/exact/enumeration.hpp"
#include "boltzmark/exact/enumeration_kernel.hpp"

namespace boltzmark {

/// The factors of the states of some enumerated units: e^{scaled input} they add per other unit,
/// and the linear term.
struct GroupFactors {
  int states = 1;
  Eigen::MatrixXd mantissa;                                              ///< [units x states]
  Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic> exponent;  ///< [units x states]
  std::vector<Scaled> linear;                                            ///< [states]
};

/// The enumeration without transcendentals (see enumeration_kernel.hpp): each factor of the other
/// side is 1 + y + ... + y^steps with y = e^{scaled input} a product of table entries.
///   Bernoulli 1 + e^x; X(s) phi_s(x) = 2/(s+1) e^-x (1 + y + ... + y^s), y = e^{2x/s}, whose
///   e^-x is linear in the enumerated states
template <typename T>
class FastSum final : public ChunkedSum {
 public:
  /// Returns nothing where the kernel cannot serve: continuous, Gaussian or X(s > 8) units on the
  /// other side, or inputs that vary by more than about 600 nats (40 in float) inside a tile.
  static std::unique_ptr<FastSum> make(const Bipartite& sides);

  std::uint64_t chunks() const override;
  ScaledSum sum(std::uint64_t chunk) const override;
  double error_bound() const override { return error_bound_; }
  const char* name() const override { return sizeof(T) == 8 ? "double" : "float"; }

 private:
  FastSum() = default;
  void order_units(const Bipartite& sides);
  bool set_groups(const Bipartite& sides, int row_states);
  void set_rows(const GroupFactors& group);
  void set_columns(const GroupFactors& group);
  GroupFactors factors(const Bipartite& sides, const std::vector<int>& group, bool biases) const;
  void set_error_bound(const Bipartite& sides);
  TileTables<T> tables() const;

  int units_ = 0, simple_units_ = 0, row_groups_ = 0;
  std::vector<int> order_;  ///< other units, those with one step first
  std::vector<int> steps_;
  Eigen::VectorXd input_scale_;  ///< y = e^{input_scale x}
  Eigen::VectorXd linear_;       ///< coefficients of the linear term, [enumerated units]
  hwy::AlignedFreeUniquePtr<T[]> rows_, columns_;
  std::vector<std::int32_t> exponent_, range_;
  std::vector<double> row_mantissa_;
  std::vector<std::int64_t> row_exponent_;
  hwy::AlignedFreeUniquePtr<double[]> column_mantissa_;
  hwy::AlignedFreeUniquePtr<std::int64_t[]> column_exponent_;
  std::vector<GroupFactors> high_;  ///< one per unit of the high group, slowest first
  std::uint64_t tiles_ = 1, chunk_tiles_ = 1;
  Scaled constant_;
  double error_bound_ = 0;
};

extern template class FastSum<double>;
extern template class FastSum<float>;

}  // namespace boltzmark
