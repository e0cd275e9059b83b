#pragma once

#include <vector>

#include "boltzmark/estimate/estimate.hpp"
#include "boltzmark/estimate/sample_store.hpp"

namespace boltzmark {

/// Refuses an estimate if no chain of simulated tempering went from the top rung to the bottom and
/// back; all estimators on samples call it. Chains with fixed rungs are not judged.
void judge_mixing(Estimate& estimate, const SampleStore& store);

/// Lists each rung's samples by their places in store.log_ratio.data(), ascending.
std::vector<std::vector<Eigen::Index>> samples_by_rung(const SampleStore& store);

/// Refuses an estimate if a rung has no samples, and says how many have none.
/// Returns whether all rungs were visited. Shapes  counts [rungs]
bool judge_visits(Estimate& estimate, const Eigen::VectorXd& counts);

/// Throws  InvalidArgument unless rungs were drawn by simulated tempering
void need_random_rungs(const SampleStore& store);

}  // namespace boltzmark
