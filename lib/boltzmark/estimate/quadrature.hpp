#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/target/ladder.hpp"

namespace boltzmark {

/// A rule that integrates a function known at the rungs of a ladder.
/// With E_k its value at b_k, V_k its slope, and h_k = b_{k+1} - b_k, an interval's integral is
enum class Quadrature {
  left,       ///< h_k E_k: a Riemann sum
  right,      ///< h_k E_{k+1}: a Riemann sum
  trapezoid,  ///< h_k (E_k + E_{k+1}) / 2
  simpson,    ///< that of the parabola through three rungs, for any spacing; a trapezoid if K = 2
  corrected   ///< h_k (E_k + E_{k+1}) / 2 - h_k^2 (V_{k+1} - V_k) / 12    [Friel et al. 2014]
};

/// One term of a rule: value E_rung + slope V_rung is added to an interval's integral.
struct QuadratureTerm {
  int interval = 0;
  int rung = 0;
  double value = 0;
  double slope = 0;
};

/// Lists a rule's terms. Simpson's parabolas are those of intervals 2i and 2i + 1; a last odd
/// interval has that through the last three rungs, so that every parabola is integrated exactly.
/// Throws  InvalidArgument if the rule is none of the enumeration
std::vector<QuadratureTerm> quadrature_terms(Quadrature quadrature, const Ladder& ladder);

}  // namespace boltzmark
