#pragma once

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// The run that most comparisons share: tempered sampling of an RBM, and all that is made of it.
///   rts, bias_subtracted, control_variates, mixed, simple: errors of log Z;
///   top_soft, top_hard: E[D | b = 1] by weights q(b_K | x), and from the samples with b = 1;
///   variance_soft, variance_hard: of the occupancies between chains, summed over rungs
Json run_shared(const Json& inputs, const TrialContext& context);

/// Errors of log Z by Wang-Landau.
Json run_wang_landau(const Json& inputs, const TrialContext& context);
/// By the mean of D / p(b) of samples with a continuous b.
Json run_continuous(const Json& inputs, const TrialContext& context);
/// By RTS with the prior r_k ~ exp(s b_k), s = inputs["slope"].
Json run_prior(const Json& inputs, const TrialContext& context);
/// By the mixed likelihood of a run whose Zhat changes until half of its sweeps are done.
Json run_late_changes(const Json& inputs, const TrialContext& context);

}  // namespace boltzmark::experiments
