#pragma once

#include <Eigen/Core>
#include <string>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "output.hpp"

namespace boltzmark::cli {

/// Returns what log Z is certainly not below by log f(v) of the different cases, or lower bounds of
/// it: the log of their sum, rounding taken off. NaN where visible units are not Bernoulli, a case is
/// no state, or a number overflows.
/// Shapes  log_f [distinct cases]
double lowest_by_cases(const Layered& model, const Cases& cases, const Eigen::VectorXd& log_f);

/// Writes what log Z is certainly not below for people, rounded downwards.
std::string certain_text(double lowest);
/// Sets lower_bound and lower_bound_error, null where there is none, and lower_bound_of, what the
/// bound consists of; null where it was not found here.
void set_lower_bound(const Layered* model, const LowerBound& bound, JsonObject& object);
/// Writes a bound for people; empty where there is none.
std::string describe_lower_bound(const Layered* model, const LowerBound& bound);

}  // namespace boltzmark::cli
