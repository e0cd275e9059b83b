#pragma once

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark {

/// Estimates log Z by Bennett's acceptance ratio between neighbouring rungs.
///   sum_n s_n = n_{k+1},  s_n = sigmoid(log(n_{k+1} / n_k) + (b_{k+1} - b_k) D_n - x),
///   over the samples of both rungs, is solved by x = log Z_{k+1} - log Z_k
///                                                            [Bennett 1976; carlson2016, Eq. 17]
/// With H = sum_n s_n (1 - s_n), a sample of rung k has the influence N (s_n - H / n_k) / H on x
/// and one of rung k + 1 N (s_n - 1 + H / n_{k+1}) / H; a rung's samples enter two ratios.
/// Status  unvisited_rung, without an estimate, if a rung has no samples; not_converged if a ratio
/// was not solved or chains did not mix
/// Throws  InvalidArgument as SampleStore::check
Estimate bar(const SampleStore& store);

}  // namespace boltzmark
