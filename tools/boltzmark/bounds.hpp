#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/target/layered_target.hpp"
#include "output.hpp"

namespace boltzmark::cli {

/// How many of a data set's cases the search for modes climbs from.
inline constexpr int kBoundCases = 100;

/// Returns so many cases of a data set, evenly spread, or all if they are fewer.
Eigen::MatrixXf spread_cases(const Eigen::MatrixXf& cases, int count);

/// How modes are searched for, for a lower bound or a base: from the states nearest to the cases too.
ModeSearch mode_search(const Layered& model, std::uint64_t seed, const Eigen::MatrixXf& cases);

/// Finds a certified lower bound of a target's log Z, from its base, from some of the cases and from
/// the states that a run met at b = 1.
/// Randomness  a key of its own, whatever the run's: mode_search(.., seed, cases)
LowerBound find_lower_bound(const LayeredTarget& target, std::uint64_t seed,
                            const Eigen::MatrixXf& cases = {}, std::span<const Chains> visited = {},
                            const std::optional<Modes>& modes = std::nullopt);

/// Returns what log Z is certainly not below: the bound less its error bound.
inline double lowest_log_z(const LowerBound& bound) { return bound.log_z - bound.error_bound; }

/// Returns what log Z is certainly not below by log f(v) of the different cases, or lower bounds of
/// it: the log of their sum, rounding taken off. NaN where visible units are not Bernoulli, a case is
/// no state, or a number overflows.
/// Shapes  log_f [distinct cases]
double lowest_by_cases(const Layered& model, const Cases& cases, const Eigen::VectorXd& log_f);

/// Writes what log Z is certainly not below for people, rounded downwards.
std::string certain_text(double lowest);
/// Sets lower_bound and lower_bound_error, null where there is none.
void set_lower_bound(const LowerBound& bound, JsonObject& object);
/// Sets lower_bound_of, what the bound consists of; null where it was not found here.
void set_lower_bound_parts(const Layered* model, const LowerBound& bound, JsonObject& object);
/// Writes a bound for people; empty where there is none.
std::string describe_lower_bound(const Layered* model, const LowerBound& bound);

}  // namespace boltzmark::cli
