#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

/// The base of a run as it is chosen where none is named.
struct ChosenBase {
  Base base;
  bool of_modes = false;                      ///< the rates near the modes; else uniform
  std::optional<Modes> modes = std::nullopt;  ///< where they were searched for
};

/// Returns so many cases of a data set, evenly spread, or all if they are fewer.
/// Shapes  [visible x cases]
Eigen::MatrixXf spread_cases(const Eigen::MatrixXf& cases, int count);

/// How modes are searched for, for a base and for a lower bound: from the states nearest to some of
/// the cases too, at most 100 of them, evenly spread.
/// Shapes  cases [visible x cases]; none: empty
/// Randomness  a key of its own, whatever the run's
ModeSearch mode_search(const Layered& model, std::uint64_t seed, const Eigen::MatrixXf& cases = {});

/// Chooses the better of the uniform base and that of the modes by choose_base. Uniform where the
/// visible units are not Bernoulli, or parameters so large that a double does not resolve a nat.
/// Randomness  keys of their own of the seed, whatever the run's
/// Throws      InvalidArgument as find_modes and choose_base
ChosenBase choose_auto_base(const Layered& model, const ModeSearch& search, std::uint64_t seed,
                            int summed_side = 1);

/// Finds a certified lower bound of a target's log Z, from its base, from the search and from the
/// states that a run met at b = 1. The modes: those that the search found already; none: it is made.
LowerBound find_lower_bound(const LayeredTarget& target, const ModeSearch& search,
                            std::span<const Chains> visited = {},
                            const std::optional<Modes>& modes = std::nullopt);

/// Returns the states of layers that a run met at b = 1.
/// Throws  std::bad_cast if its target is of another kind
std::vector<Chains> visited_states(TopStates& top);

/// Refuses an estimate that a lower bound refutes, or of a model of which a double does not resolve a
/// nat: one that has no lower bound.
/// Status  below_bound, not_converged
void hold_to_bound(const LowerBound& bound, Estimate& estimate);

/// The key of an attempt's draws: each has its own.  Invariant  number >= 0
StreamKey attempt_key(std::uint64_t seed, int number = 0);

}  // namespace boltzmark
