#pragma once

#include <string>
#include <vector>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// What `variants` compares on: RBMs that can be enumerated, and slopes s of the priors exp(s b).
inline const PerProfile<std::vector<std::string>> kVariantModels{
    .smoke = {"mnist-10", "mnist-20", "mnist-20-peaked"},
    .quick = {"mnist-20", "mnist-20-peaked"},
    .paper = {"mnist-10", "mnist-20", "mnist-20-peaked"}};
inline const std::vector<double> kVariantSlopes = {-2, 1, 2, 4};
inline constexpr const char* kConsistencyModel = "mnist-20";

/// Measures C04 (along chains), C09, C16, C46 to C48 and C60: ratios over models and repeats.
void add_variant_ratios(const Results& results, Table& table, Summary& summary);
/// Measures C45: the smallest over priors of the largest over models of the RMSE over the uniform
/// prior's.
void add_variant_priors(const Results& results, Table& table, Summary& summary);
/// Measures C05: the slope of log RMSE against log sweeps, with its figure.
void add_consistency(const Results& results, Summary& summary);
/// Measures C11: the slope, through the origin, of simulated moments against their formulas over
/// random RBMs.
void add_moment_ratios(const Results& results, Table& table, Summary& summary);
/// Measures C14.
void add_annealing_slope(const Results& results, Summary& summary);

}  // namespace boltzmark::experiments
