#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// The hidden layers of a deep model summed out for many cases at once, by matrix products.
///   log f(v) - b0.v = log sum_h1 e^{h1.(W0'v)} c(h1),  c(h1) = e^{b1.h1} sum_{h2 ..} e^{..}.
/// c does not depend on v: the even layers are summed in closed form given the odd ones, which are
/// enumerated once for all cases. With h1 in two halves the sum is u' C w, u and w the exponentials
/// of the halves' inputs from v. Where h1 has more than 2^20 states, its last units are held fixed,
/// one block of C for each of their states, so that memory stays at 8 MiB.
/// Cost  once, an exponential per state of the odd hidden layers and unit of the even ones; per
///   case, a fused product and sum per state of h1
class SplitMarginal {
 public:
  /// Throws  InvalidArgument if an odd hidden layer is not discrete, they have more than 40 units or
  ///   2^62 states, or parameters are so large that a double does not resolve one nat
  explicit SplitMarginal(const Layered& model);

  /// Computes log f(v) - b0.v of each case; NaN where the scaled sum is below 1e-250 of its scale
  /// and what was lost of it may count, or where the inputs are too large to be resolved.
  ///   C is scaled by its rows' and its columns' maxima, which u and w take over, then u and w by
  ///   theirs: every factor is at most 1, a product that vanishes was below 1e-307, and less than
  ///   2^40 of these are below 1e-45 of a sum that is kept
  /// Shapes  inputs [units of h1 x cases], W0'v      Units  nats
  /// Invariant  the result does not depend on the number of threads, nor on a case's neighbours
  Eigen::VectorXd log_sums(const Eigen::Ref<const Eigen::MatrixXd>& inputs) const;

 private:
  struct Block;
  struct Sums;
  void split_units();
  Block make_block(std::uint64_t block) const;
  void fill_row(std::uint64_t block, int row, double* log_entries) const;
  void add_block(const Block& block, const Eigen::Ref<const Eigen::MatrixXd>& inputs,
                 Eigen::Index first, Sums& sums) const;

  Unit unit_;        ///< of h1
  int units_;        ///< of h1
  Bipartite sides_;  ///< the odd hidden layers enumerated, h1 first
  int column_units_ = 0, row_units_ = 0;
  int columns_ = 1, rows_ = 1;
  std::uint64_t blocks_ = 1;
  std::uint64_t others_ = 1;  ///< states of the odd layers above h1
};

}  // namespace boltzmark
