#pragma once

#include <Eigen/Core>

#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/target/ladder.hpp"

namespace boltzmark {

/// One rung of an annealing path: its states, and log f_b of the marginal of each, one side summed
/// out (1 the odd layers, 0 the even ones).
struct AnnealingRung {
  AnnealingRung(const Layered& model, const Base& base, double inverse_temperature, int summed = 1);

  StateSpace space;
  double log_z = 0;              ///< of f_b; 0 at b = 0, where p1 is normalised
  Eigen::VectorXd log_marginal;  ///< [states], the same for all states of equal other side
};

/// Which transition law moves the chains.
enum class SweepLaw {
  exact,     ///< the double-precision law
  recovered  ///< the production sweep's, recovered bit by bit: see RecoveredSweep
};

/// How the enumerated chains are moved.
struct AnnealingKernel {
  Rule rule = Rule::gibbs();
  int sweeps = 1;  ///< at each rung between the ends
  SweepLaw law = SweepLaw::exact;
  int summed = 1;  ///< the side that weights sum out and sweeps update first, as AnnealingRung's
};

/// The exact moments of the weight of one chain of annealed importance sampling.
struct AnnealingMoments {
  double log_z = 0;              ///< by enumeration, for comparison
  double log_mean = 0;           ///< log E[w]: log Z if the kernels are right
  double log_second_moment = 0;  ///< log E[w^2]
  double mean_log = 0;           ///< E[log w], at most log Z
  double variance_log = 0;       ///< Var[log w]
};

/// Propagates the whole measure of annealed importance sampling, with marginal weights, over the
/// rungs of a ladder.
///   mu_1 = p1;  mu_k = (mu_{k-1} g_k) T_k,  g_k = p*_k / p*_{k-1};  E[w] = mu_K(1), and so with
///   g^2 and with powers of log g
/// Units  nats     Cost  rungs x sweeps x 6 units 2^units flops (exact law)
/// Throws InvalidArgument as StateSpace does, and for the recovered law above kMaxDenseStates
AnnealingMoments exact_ais_moments(const Layered& model, const Base& base, const Ladder& ladder,
                                   const AnnealingKernel& kernel = {});

/// Computes log E[w^power] of one chain of annealed importance sampling. A weight 1/w of reverse
/// annealing from exact samples of the model has, in a law of paths that is w/Z times AIS's,
///   E[w^-m] = E_AIS[w^(1-m)] / Z
/// Units, Cost, Throws  as above, a sixth of the flops
double exact_log_weight_moment(const Layered& model, const Base& base, const Ladder& ladder,
                               double power, const AnnealingKernel& kernel = {});

/// Computes log E[e^-R | v] of reverse annealing for every joint state (equal for equal v, the side
/// that is not summed out). Averaged over exact samples of the model, E[e^-R] = 1/Z.
/// Shapes, Throws  as above
Eigen::VectorXd exact_reverse_annealing(const Layered& model, const Base& base,
                                        const Ladder& ladder, const AnnealingKernel& kernel = {});

/// Computes the law of the joint state that annealing upwards ends in, the sweeps at b = 1
/// included.  Shapes  [states]
Eigen::VectorXd annealed_law(const Layered& model, const Base& base, const Ladder& ladder,
                             const AnnealingKernel& kernel = {});

}  // namespace boltzmark
