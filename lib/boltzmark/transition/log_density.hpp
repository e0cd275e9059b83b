#pragma once

#include <vector>

#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Computes log f(x) = -E(x) of the joint states of chains first_chain, first_chain + 1, ..
/// Shapes    [chains - first_chain]     Units  nats
/// Accuracy  inputs of the odd layers are float32 sums, all else double: about 1e-5 nats at 784x500
/// Throws    InvalidArgument if shapes differ or there is no such chain
/// Cost      half a sweep of those chains, without its draws
std::vector<double> log_density(const PackedModel& model, const Chains& chains,
                                int first_chain = 0);

/// Computes D(x) = log f(x) - log p1(x) of every chain's joint state, p1 the base that the model is
/// packed with, from the inputs of either side's layers given the other's states.
/// Shapes    [chains]     Units  nats     Accuracy  as above, of that side's inputs
/// Throws    InvalidArgument if shapes differ, or the inputs are not those of every layer of a side
/// Cost      a pass over the states
std::vector<double> log_ratio(const PackedModel& model, const Chains& chains,
                              const SideInputs& inputs);
/// Computes the same where no inputs are known.  Cost  half a sweep, without its draws
std::vector<double> log_ratio(const PackedModel& model, const Chains& chains);

}  // namespace boltzmark
