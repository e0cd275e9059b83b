#pragma once

#include <functional>
#include <vector>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/exact/annealing_moments.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/sample/chains/coupled_chains.hpp"
#include "boltzmark/sample/tempering/tempered_transition.hpp"
#include "boltzmark/transition/rule.hpp"
#include "verification/checks/tempered_chain.hpp"
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

/// Lists the checks that single-unit operators are in detailed balance, of bits and of discrete
/// units.
std::vector<Check> balance_checks(const Rule& rule);

/// Makes the check that in a fixed order some function's asymptotic variance is above that of Gibbs
/// sampling; false of Gibbs sampling itself.
Check periodic_scan_check(const Rule& rule);

/// Makes the check that a rule which looks at inputs alone leaves the law of an RBM of spins
/// unchanged, layer by layer.
Check blocked_gibbs_check(const Rule& rule);

/// Makes the check that parallel tempering leaves the product of the tempered laws unchanged.
/// Chains k and k + 1 swap states, by which the log of the product changes by log_ratio, with
/// probability(k, log_ratio).
using SwapProbability = std::function<double(int pair, double log_ratio)>;
Check parallel_tempering_check(const Rule& rule, const SwapProbability& probability);

/// Makes the check that the rungs of simulated tempering are a Markov chain; false of sweeps.
Check rung_chain_check(StateMove move);

/// Lists the checks that a swap leaves the law of both chains unchanged; false of `entry`. Where a
/// lag ends the swap is that of `rule_at_lag`.
std::vector<Check> swap_checks(SwapRule rule, SwapRule rule_at_lag);

/// Makes the check that after so many sweeps a gradient the states under fast weights are those of
/// PCD after two.
Check negative_phase_check(int sweeps);

/// Makes the check that a function moves chains as tempered_transition does.
using TransitionMove = std::function<decltype(tempered_transition)>;
Check transition_law_check(const TransitionMove& move);

/// Make the checks that the mean weight of annealing upwards is Z, and that downwards 1/Z.
using AisMoments = std::function<decltype(exact_ais_moments)>;
using RaiseMeans = std::function<decltype(exact_reverse_annealing)>;
Check ais_mean_check(const AisMoments& find_moments);
Check raise_mean_check(const RaiseMeans& find_means);

/// Makes the check that exact occupancies give every Z_k.
using RtsEstimate = std::function<Estimate(const RungSums& sums, const Eigen::VectorXd& log_prior,
                                           const Eigen::VectorXd& log_z_hat)>;
Check exact_occupancies_check(const RtsEstimate& estimate);

/// Lists the checks that a bound is not above log Z.
using BoundLogZ = std::function<decltype(lower_bound)>;
std::vector<Check> lower_bound_checks(const BoundLogZ& find_bound);

}  // namespace boltzmark
