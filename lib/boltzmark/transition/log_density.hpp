#pragma once

#include <vector>

#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Computes log f(x) = -E(x) of the joint states of chains first_chain, first_chain + 1, ..
/// Shapes    [chains - first_chain]     Units  nats
/// Accuracy  inputs of the odd layers are float32 sums, all else double
/// Throws    InvalidArgument if shapes differ or there is no such chain
/// Cost      half a sweep of those chains, without its draws
std::vector<double> log_density(const PackedModel& model, const Chains& chains,
                                int first_chain = 0);

}  // namespace boltzmark
