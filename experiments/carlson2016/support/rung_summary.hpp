#pragma once

#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// The pools of samples that Fig. 4 draws from, and how a trial of each is told: exact ones have
/// "samples", chains "sweeps".
struct RungPools {
  const char* model;
  const char* title;
};
inline constexpr RungPools kExactPools = {"mnist-10", "784-10"};
inline constexpr RungPools kChainPools = {"cd25", "784-500"};
/// The paper's numbers of inverse temperatures.
inline const std::vector<int> kPaperRungs = {6, 11, 26, 51, 126, 251, 501, 1001};

/// Draws RMSE against the number of rungs, and the published curves.
void add_rung_figure(const Results& results, Summary& summary);
/// Tabulates the errors, and what the pools say themselves.
void add_rung_tables(const Results& results, Summary& summary);
/// Measures C20, C27 and C36 to C39, on the chains of 784-500 where there are any, else on 784-10.
void add_rung_claims(const Results& results, Summary& summary);

}  // namespace boltzmark::experiments
