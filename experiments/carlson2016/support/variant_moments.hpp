#pragma once

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

inline constexpr const char* kManyIndependent = "independent, 400";

/// Simulates RTS on a random 4x4 RBM with Zhat = Z, from chains in equilibrium, many times over.
///   inputs "chains": "independent" (every sample is, 100 of them), kManyIndependent (400), or
///   "parallel" (20 chains of 20 block Gibbs sweeps, rungs drawn from q(b | x)); "repeats"
/// Returns bias and variance of log Z, and the means of the formulas (15) and (16).
Json run_moments(const Json& inputs, const TrialContext& context);

/// Computes the slope of log Var[log w] of AIS against log K from 513 to 1025 rungs, exactly, on a
/// random 3x3 RBM.
Json run_annealing_slope(const Json& inputs, const TrialContext& context);

}  // namespace boltzmark::experiments
