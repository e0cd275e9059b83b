#pragma once

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Computes the exact gradient of the mean log-likelihood by enumeration.
///   dl/dW_l = <x_l x_{l+1}'>_data - <x_l x_{l+1}'>_model;  dl/da_l likewise with x_l;
///   for a Gaussian layer dl/da = (<x>_data - <x>_model) / sigma0^2
/// Throws  InvalidArgument as exact_log_z and mean_log_f do
/// Invariant  the result does not depend on the number of threads
/// Cost  one exponential per state of the enumerated side and unit of the other: for small models
Parameters exact_gradient(const Layered& model, const Cases& cases);

}  // namespace boltzmark
