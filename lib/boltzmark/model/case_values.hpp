#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace boltzmark {

/// The values of cases, [units x cases], of which a minibatch takes some: a byte each where they are
/// levels, as bits and grey images are, else float32.
/// Invariant  copies share what they hold, which does not change
class CaseValues {
 public:
  using Levels = std::vector<unsigned char>;
  /// The value of each level.
  using Meanings = std::array<float, 256>;

  CaseValues() = default;
  /// Holds float32 as it is given.
  template <class Derived>
  CaseValues(const Eigen::DenseBase<Derived>& values)  // whatever is a matrix is values of cases
      : CaseValues(Eigen::MatrixXf(values.derived())) {}
  CaseValues(Eigen::MatrixXf&& values);
  /// Holds a byte a value, of whole numbers unless other meanings are given.
  /// Shapes  levels [units x cases], case after case
  /// Throws  InvalidArgument if these are no whole cases
  CaseValues(Levels levels, Eigen::Index units, const Meanings& meanings = whole_numbers());
  /// Holds a byte a value where all are whole numbers of 0..255, else float32.
  static CaseValues compact(Eigen::MatrixXf values);
  static Meanings whole_numbers();

  Eigen::Index rows() const { return rows_; }  ///< units
  Eigen::Index cols() const { return cols_; }  ///< cases
  Eigen::Index size() const { return rows_ * cols_; }
  /// Units  bytes
  double bytes() const;
  /// Points to the levels, or is null where values are held as float32.
  const Levels* levels() const { return levels_.get(); }

  float operator()(Eigen::Index unit, Eigen::Index number) const;
  /// Copies a case, the first ones, some, or all, out.  Shapes  [units x count]
  /// Throws  InvalidArgument if there is no such case
  Eigen::VectorXf col(Eigen::Index number) const;
  Eigen::MatrixXf leftCols(Eigen::Index count) const;
  Eigen::MatrixXf select(std::span<const int> cases) const;
  Eigen::MatrixXf matrix() const { return leftCols(cols_); }

  /// Throws  InvalidArgument if there is no such case
  void require_case(Eigen::Index number) const;

  /// Tells whether something holds for every value, whatever their order.
  bool all(const std::function<bool(float)>& holds) const;
  /// Returns the least and the greatest value; infinities of no values.
  float minCoeff() const;
  float maxCoeff() const;
  /// Averages a number of each value over all.
  double mean(const std::function<double(float)>& of) const;
  /// Mixes the values into a hash, whatever they are held as.
  std::uint64_t hash(std::uint64_t seed) const;
  /// Applies a function to every value.
  CaseValues mapped(const std::function<float(float)>& function) const;

 private:
  const unsigned char* first_level(Eigen::Index number) const {
    return levels_->data() + number * rows_;
  }
  void copy_case(Eigen::Index number, float* out) const;

  Eigen::Index rows_ = 0;
  Eigen::Index cols_ = 0;
  std::shared_ptr<const Levels> levels_;  ///< or null
  std::shared_ptr<const Eigen::MatrixXf> floats_;
  std::array<std::size_t, 256> counts_{};  ///< of each level
  Meanings meanings_{};
};

}  // namespace boltzmark
