#pragma once

#include <vector>

#include "boltzmark/sample/chains/coupled_chains.hpp"
#include "boltzmark/transition/rule.hpp"
#include "verification/checks/verifier.hpp"

namespace boltzmark {

// Checks of a subject of one's choice, which show by what they refuse that they can fail.

/// Lists what the theorems of bruegge2013 say of a rule; false of one without the rule for ties.
std::vector<Check> theorem_checks(const Rule& rule);

/// Makes the check that a rule is not ergodic where all units are tied; false of the others.
Check counter_example_check(const Rule& rule);

/// Makes the check that a rule changes units at least as often as Gibbs sampling does, and more
/// often unless they are tied; false of Gibbs sampling itself.
Check changes_as_often_check(const Rule& rule);

/// Lists the checks that a swap leaves the law of both chains unchanged; false of `entry`.
std::vector<Check> swap_checks(SwapRule rule);

}  // namespace boltzmark
