#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// In which order a chain updates its units.
enum class Scan {
  periodic,  ///< odd (hidden) layers, then even ones: T = T_h T_v
  random,    ///< one unit, picked uniformly: (1/n) sum_i T_i
};

/// The transition operator of a sweep in the double-precision law, applied without a matrix.
/// A sweep is a product of single-unit updates, each mixing the pairs of states that differ in one
/// bit, so one application costs 4 units 2^units flops. Threads share the work; the result does not
/// depend on them.
class SweepOperator {
 public:
  SweepOperator(const StateSpace& space, const Rule& rule);

  std::size_t states() const { return states_; }

  /// Computes p T_side (parity 1: T_h, parity 0: T_v) in place.  Shapes  p [states]
  void push_half(Eigen::Ref<Eigen::VectorXd> p, int parity) const;
  /// Computes p T = p T_h T_v in place.
  void push(Eigen::Ref<Eigen::VectorXd> p) const;
  /// Computes T f, the expectation of a function after one sweep, in place.
  void pull(Eigen::Ref<Eigen::VectorXd> f) const;
  /// Computes S g with S = D^{1/2} T D^{-1/2} = S_h S_v, D = diag(p), in place. S_h and S_v are
  /// symmetric because each T_i is in detailed balance with p, so S has norm 1, its stationary
  /// vector is sqrt(p) on both sides, and no entry is ever divided by a tiny p.
  void apply_symmetrised(Eigen::Ref<Eigen::VectorXd> g) const;
  /// Computes S' g = S_v S_h g in place.
  void apply_symmetrised_adjoint(Eigen::Ref<Eigen::VectorXd> g) const;
  /// Computes the symmetrised random-scan kernel (1/n) sum_i S_i g.  Shapes  out, g [states]
  void apply_random_scan(const Eigen::Ref<const Eigen::VectorXd>& g,
                         Eigen::Ref<Eigen::VectorXd> out) const;

 private:
  // How a pair (off, on) of values is mixed: off' = stay_off off + from_on on, on' = from_off off +
  // stay_on on.
  struct Mix {
    double stay_off, from_on, from_off, stay_on;
  };
  enum class Form { push, pull, symmetrised };
  Mix mix(int parity, std::size_t other, int unit, Form form) const;
  void apply_half(double* values, int parity, Form form) const;
  template <typename F>
  void in_side_order(Eigen::Ref<Eigen::VectorXd> values, const F& body) const;

  std::size_t states_;
  // States are laid out inside as (odd side's bits, even side's bits), even ones lowest.
  std::array<int, 2> side_units_{};
  struct Flip {
    double off, on;  // probability to flip when off, when on
    double stay_on;  // probability to stay on; staying off is the complement of flipping
    double stay_off;
  };
  std::array<std::vector<Flip>, 2> flips_;  // [parity][unit of the side][state of the other side]
  std::vector<std::uint32_t> document_index_;  // of each inner index; empty if the same
};

}  // namespace boltzmark
