#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {

/// Samples drawn while log Zhat stood still.
struct RtsStage {
  RungSums sums;              ///< soft ones
  Eigen::VectorXd log_z_hat;  ///< of this stage [rungs]
};

/// Estimates log Z by maximising the Rao-Blackwellised likelihood of all stages; one gives RTS.
///   sum_t N_t (sum_k c_k^(t) log Z_k - log sum_k r_k Z_k / Zhat_k^(t))
///                                                              [carlson2016, Eq. 14, Appendix A]
/// With H the negative Hessian and H s = e_K - e_1, sample n of stage t has the influence
/// N s'(q(x_n) - pi^(t)), pi_k^(t) ~ r_k Z_k / Zhat_k^(t). Groups of the same number are added over
/// stages before they are taken as independent, because chains go on from stage to stage.
/// effective_samples is judged by the ends of the ladder, which is exact for one stage.
/// Status  unvisited_rung, without an estimate, if a rung has no weight in any stage;
/// not_converged if the solver failed
/// Throws  InvalidArgument if there is no stage, shapes disagree, or there is only one group
Estimate rts_mixed(const std::vector<RtsStage>& stages, const Eigen::VectorXd& log_prior);
/// Does so with the kept sweeps of a tempered run and those of its initial rounds in which the
/// chains made as many round trips as trust asks for, and judges its mixing. A shorter round is
/// still where the one before left it, which no spread between its chains tells.
Estimate rts_mixed(const TemperedRun& run);

}  // namespace boltzmark
