#pragma once

#include <string>

#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/target/continuous_target.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {

/// The 20 inverse temperatures of Appendix E, b_j = (10^(3j/19) - 1) / 999.
Ladder mixture_ladder();
/// log Z(1) = 5 ln(pi) = 5.7236, and log Z at every rung, by quadrature.
double mixture_log_z();
Eigen::VectorXd mixture_log_z_rungs();

/// Step sizes of a kernel, "hmc" or "random-walk", tuned to the mixture rung by rung.
TunedSteps tune_mixture(const std::string& kernel, StreamKey key);
/// The mixture moved by a kernel.
ContinuousTarget mixture_target(const std::string& kernel, const StepSizes& steps);

/// Samples the mixture with one chain, as the paper does, and keeps `samples` of its sweeps.
/// Up to ten initial rounds of 1,000 sweeps, 50 a rung, begin at the paper's Zhat_k = 1, which in
/// units of a normalised p1 is log Zhat_k = b_k (d / 2) log(2 pi S).
SampleStore sample_mixture(const ContinuousTarget& target, int samples, StreamKey key,
                           const TrialContext& context);
/// Samples it with Zhat exact: each rung is visited as often, whatever the kernel, and all that
/// kernels differ in is how fast.
SampleStore sample_mixture_at_truth(const ContinuousTarget& target, int samples,
                                    const TrialContext& context);

/// Copies the first sweeps of a store.
SampleStore first_sweeps(const SampleStore& store, Eigen::Index sweeps);

}  // namespace boltzmark::experiments
