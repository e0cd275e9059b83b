#pragma once

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// The run that most comparisons share: tempered sampling of an RBM, and all that is made of it.
///   error, half, bias_subtracted, control_variates, mixed: errors of log Z, `half` by as many kept
///   sweeps as run_continuous has;
///   top_soft, top_hard: E[D | b = 1] by weights q(b_K | x), and from the samples with b = 1;
///   variance_soft, variance_hard: of the occupancies between chains, summed over rungs
Json run_shared(const Json& inputs, const TrialContext& context);

/// Errors of log Z by Wang-Landau; inputs["start"]: "smc", the pass that RTS starts with, whose
/// sweeps count, or "cold", log Zhat = 0.
Json run_wang_landau(const Json& inputs, const TrialContext& context);
/// With a continuous b:  rts, log Zhat(1) / Zhat(0) + log p(1) / p(0) of the Rao-Blackwellised
/// density p; ti, the mean of D / p(b).  Half of the sweeps are kept.
Json run_continuous(const Json& inputs, const TrialContext& context);
/// By RTS with the prior r_k ~ exp(s b_k), s = inputs["slope"]; samples: those kept.
Json run_prior(const Json& inputs, const TrialContext& context);
/// By the mixed likelihood of a run whose Zhat changes until half of its sweeps are done.
Json run_late_changes(const Json& inputs, const TrialContext& context);

}  // namespace boltzmark::experiments
