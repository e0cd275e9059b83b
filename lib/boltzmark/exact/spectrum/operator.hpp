#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <vector>

#include "boltzmark/exact/spectrum/turns.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// Several vectors over the states side by side, each state's values contiguous.
using StateBlock = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The transition operator of a sweep in the double-precision law, applied without a matrix.
/// A sweep is a product of single-unit updates, each mixing the states that differ in one unit's
/// value: 2 values - 1 multiply-adds a unit, state and vector. Threads share the work; the result
/// does not depend on them, nor on the ranks that share the space: each has its rows, and turns
/// them for the odd side. Every function works in place on any number of vectors; all ranks must
/// call it.
///   Shapes  [own rows x vectors]
class SweepOperator {
 public:
  /// Throws  InvalidArgument if the single-unit laws take more than 2^27 numbers
  SweepOperator(const StateSpace& space, const Rule& rule);

  std::size_t states() const { return turns_.side_states(0) * turns_.side_states(1); }
  /// Tells whether each T_i is in detailed balance with p, to 1e-14: all rules with kernels are;
  /// a law of one's own need not be, and then nothing symmetrised can be had of it.
  bool reversible() const { return reversible_; }
  int units() const { return static_cast<int>(sides_[0].units.size() + sides_[1].units.size()); }

  /// Computes p T_side; parity 1: T_h (odd layers), parity 0: T_v.
  void push_half(Eigen::Ref<StateBlock> p, int parity) const;
  /// Computes p T = p T_h T_v, or of a sweep that updates side `first` first.
  void push(Eigen::Ref<StateBlock> p, int first = 1) const;
  /// Computes T f, the expectation of a function after one such sweep.
  void pull(Eigen::Ref<StateBlock> f, int first = 1) const;
  /// Computes S g with S = D^{1/2} T D^{-1/2} = S_h S_v, D = diag(p). S_h and S_v are symmetric,
  /// because each T_i is in detailed balance with p; so S has norm 1, its stationary vector is
  /// sqrt(p) on both sides, and nothing is ever divided by a tiny p.
  /// Throws  InvalidArgument if the kernel is not reversible; so does the next
  void apply_symmetrised(Eigen::Ref<StateBlock> g) const;
  /// Computes the symmetrised random-scan kernel (1/n) sum_i S_i g.
  void apply_random_scan(Eigen::Ref<StateBlock> g) const;

 private:
  enum class Form { push, pull, symmetrised };
  // One unit's law for every state of the other side that is here,
  // tables [from * values + to][other side]; symmetric is sqrt(T(i, j) T(j, i)).
  struct UnitLaw {
    std::size_t values, stride, others;  // stride within its side
    std::vector<double> table, symmetric;
    bool reversible = true;
    std::vector<const double*> matrix(Form form) const;  // [row * values + column]
  };
  struct Side {
    std::size_t states = 1;
    std::vector<UnitLaw> units;
  };
  static UnitLaw unit_law(const StateSpace& space, const Rule& rule, int unit, const double* inputs,
                          std::size_t others);
  std::size_t size() const { return turns_.odd_size(); }
  void require_reversible() const;
  void apply_half(double* values, std::size_t width, int parity, Form form) const;
  void mix_odd(double* values, std::size_t width, Form form) const;
  void mix_even(double* values, std::size_t width, Form form) const;
  void scan_even(const double* old, double* values, std::size_t width) const;
  void scan_odd(const double* old, double* values, std::size_t width) const;
  template <typename Body>
  void in_odd_order(Eigen::Ref<StateBlock> values, const Body& body) const;

  Turns turns_;
  bool reversible_ = true;
  std::array<Side, 2> sides_;
};

/// Makes the dense matrix of one single-unit operator: entry (x, y) is the probability of x -> y.
///   bruegge2013, Def. 1 for flip
/// Throws  InvalidArgument if there are more than kMaxDenseStates states
Eigen::MatrixXd unit_matrix(const StateSpace& space, const Rule& rule, int unit);

/// Makes the dense matrix of one periodic sweep, T = T_h T_v.
Eigen::MatrixXd sweep_matrix(const StateSpace& space, const Rule& rule);

/// Makes the matrix of a sweep in symmetrised coordinates, D^{1/2} T D^{-1/2}, precise where p is
/// tiny.
Eigen::MatrixXd symmetrised_sweep_matrix(const StateSpace& space, const Rule& rule);

/// Makes the dense random-scan kernel (1/n) sum_i T_i; it is in detailed balance with p.
/// Throws  InvalidArgument if there are more than kMaxDenseStates states
Eigen::MatrixXd random_scan_matrix(const StateSpace& space, const Rule& rule);

/// Makes the symmetric matrix D^{1/2} R D^{-1/2} of the random-scan kernel R.
Eigen::MatrixXd symmetrised_random_scan_matrix(const StateSpace& space, const Rule& rule);

/// Removes as much self-transition from a whole matrix as fits: A' = (A - l I) / (1 - l), l = min_x
/// A(x, x).   [Breuleux et al. 2011, as in bruegge2013, Sec. 3.2]
/// Shapes  square     Invariant  A' has the stationary distributions of A
/// Throws  InvalidArgument if the matrix is not square, empty, or the identity
Eigen::MatrixXd breuleux_transform(const Eigen::Ref<const Eigen::MatrixXd>& matrix);

}  // namespace boltzmark
