#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"
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

struct TiOptions {
  Quadrature quadrature = Quadrature::trapezoid;
  /// Whether the moments of rungs without samples are interpolated linearly in b (constant beyond
  /// the outermost visited rung), as the paper does; the status still says unvisited_rung. If not,
  /// there is no estimate.
  bool interpolate_empty = false;
};

/// Estimates log Z as the integral of E[D | b] over b in [0, 1].
///   log Z = int E[D | b] db,  E_k = sum_n w_kn D_n / sum_n w_kn, V_k likewise
///                                                 [Gelman and Meng 1998; carlson2016, Eqs. 20, 21]
/// With weights 1{rung_n = k} this is TI, with q(b_k | x_n) TI-RB.
/// std_error joins the sampling error and an estimate of the discretisation: the distance to the
/// corrected trapezoid, or of that one to Simpson's rule; `steps` is what E_k rises by between two rungs
/// more than V_k and V_{k+1} tell, as a step anywhere between them. [lower, upper] goes from the lower limit
/// of the left sum to the upper one of the right sum, which bound log Z because it is convex in b.
/// effective_samples takes each sample as given to one rung, without the slopes' part.
/// Shapes  sums.first and sums.second not empty
/// Throws  InvalidArgument if shapes disagree or there are fewer than two groups
Estimate thermodynamic_integration(const RungSums& sums, const Ladder& ladder,
                                   const TiOptions& options = {});

/// Estimates log Z from a store and judges its mixing; effective_samples is then exact.
/// Throws  InvalidArgument as sum_by_rung
Estimate thermodynamic_integration(const SampleStore& store, Assignment assignment,
                                   const TiOptions& options = {});

/// Estimates log Z from samples whose b was drawn from a continuous density p(b) on [0, 1].
///   log Z = mean of D_n / p(b_n), unbiased if D_n is from p(x | b_n)     [carlson2016, Sec. 3.4]
/// Shapes  log_ratio = D, density = p(b_n) [sweeps x chains]
/// Throws  InvalidArgument if shapes differ, a value is not finite or a density not positive
Estimate ti_continuous(const Eigen::MatrixXd& log_ratio, const Eigen::MatrixXd& density);

}  // namespace boltzmark
