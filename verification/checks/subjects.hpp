#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "boltzmark/sample/chains/persistent_chains.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/tempered_transition.hpp"
#include "boltzmark/transition/rule.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "verification/checks/laws/adaptive_pairs.hpp"
#include "verification/checks/laws/annealing_moments.hpp"
#include "verification/checks/laws/partition.hpp"
#include "verification/checks/laws/tempered_chain.hpp"
#include "verification/checks/laws/tempered_moments.hpp"
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

/// Makes the checks that a rule's law draws nearer that of Gibbs sampling as inputs grow, and that
/// its sweep has more zeros than the whole-matrix transform; both false of Gibbs sampling itself.
Check activation_check(const Rule& rule);
Check whole_matrix_check(const Rule& rule);

/// Lists the checks that single-unit operators are in detailed balance, of bits and of discrete
/// units.
std::vector<Check> balance_checks(const Rule& rule);

/// Makes the check that in a fixed order some function's asymptotic variance is above that of Gibbs
/// sampling; false of Gibbs sampling itself.
Check periodic_scan_check(const Rule& rule);

/// Makes the check that a rule which looks at inputs alone leaves the law of an RBM of spins
/// unchanged, layer by layer.
Check blocked_gibbs_check(const Rule& rule);

/// Makes the check that parallel tempering leaves the product of the tempered laws unchanged if
/// chains k and k + 1 swap states with probability(k, ..), of what swap_probability takes, and that
/// ladders are swapped with it, as LadderSwaps::swap does.
using SwapProbability = std::function<double(int pair, double b_low, double b_high,
                                             double log_ratio_low, double log_ratio_high)>;
using LadderMove = std::function<void(LadderSwaps& swaps, std::span<const double> log_ratios,
                                      const Draws& draws, std::uint64_t step)>;
Check parallel_tempering_check(const Rule& rule, const SwapProbability& probability,
                               const LadderMove& move);

/// Makes the check that the rungs of simulated tempering are a Markov chain; false of sweeps.
Check rung_chain_check(StateMove move);

/// Lists the checks that chains of simulated tempering, of every kind of states, rungs and rule,
/// leave their law unchanged, by max |q M - q| of each.
using ChainChange = std::function<double(const TemperedChain& chain)>;
std::vector<Check> pair_invariance_checks(const ChainChange& find_change);

/// Makes the check that q(b_k | x) varies no more than counts at any rung.
using RungMoments = std::function<decltype(independent_rung_frequencies)>;
Check rao_blackwell_check(const RungMoments& find_moments);

/// Lists the checks that a swap leaves the law of both chains unchanged; false of `entry`. Where a
/// lag ends the swap is that of `rule_at_lag`.
std::vector<Check> swap_checks(SwapRule rule, SwapRule rule_at_lag);

/// Lists the checks that states handed over on arrival at b = 1, and the last ones there, do not
/// follow p; false of p itself.
using PairLaw = std::function<Eigen::VectorXd(const AdaptivePairs& pairs)>;
std::vector<Check> handed_over_checks(const PairLaw& arrival, const PairLaw& last_top);

/// Makes the check that the parameters of FPCD's positive phase are the model's.
using PhaseOf = std::function<const PackedModel&(const FastWeights& sampler)>;
Check positive_phase_check(const PhaseOf& phase);

/// Makes the check that after so many sweeps a gradient the states under fast weights are those of
/// PCD after two, and the parameters of the negative phase PCD's.
Check negative_phase_check(int sweeps, const PhaseOf& phase);

/// Makes the checks that weights do not move at the data, and that two spins leave p by a rule.
using DataRule = std::function<WeightRule(double rate, int data_set)>;
Check still_at_the_data_check(const DataRule& make_rule);
Check leaves_p_check(const WeightRule& rule);

/// Make the checks of a half sweep that draws Gaussian units, and continuous ones.
using HalfSweep = std::function<decltype(half_sweep)>;
Check inverse_normal_check(const HalfSweep& move);
Check inverse_transform_check(const HalfSweep& move);

/// Make the checks of a half update of mean field: that it never lowers the bound, and its law.
using MeanFieldHalf = std::function<void(MeanField& field, Chains& chains, int parity)>;
Check bound_never_falls_check(const MeanFieldHalf& update);
Check updates_follow_law_check(const MeanFieldHalf& update);

/// Makes the check that statistics of one pair are the mean of all tied copies'.
using PairStatistics = std::function<Eigen::MatrixXd(const Layered& rbm, const State& state)>;
Check tied_statistics_check(const PairStatistics& statistics);

/// Makes the check that a function moves chains as tempered_transition does.
using TransitionMove = std::function<decltype(tempered_transition)>;
Check transition_law_check(const TransitionMove& move);

/// Make the checks that the mean weight of annealing upwards is Z, and that downwards 1/Z.
using AisMoments = std::function<decltype(exact_ais_moments)>;
using RaiseMeans = std::function<decltype(exact_reverse_annealing)>;
Check ais_mean_check(const AisMoments& find_moments);
Check ais_jensen_check(const AisMoments& find_moments);
Check raise_mean_check(const RaiseMeans& find_means);

/// Makes the check that the mean of SMC is Z with this resampling.
using Offspring = std::function<decltype(systematic_offspring)>;
Check smc_mean_check(const Offspring& offspring);

/// Make the checks of the errors of quadratures at exact moments.
using Integrate =
    std::function<double(const RungSums& sums, const Ladder& ladder, Quadrature quadrature)>;
Check discretisation_check(const Integrate& rule);
Check variance_correction_check(const Integrate& rule);

/// Makes the check that the bias of RTS has either sign.
using RtsBias = std::function<decltype(rts_bias)>;
Check bias_sign_check(const RtsBias& find_bias);

/// Make the checks that BAR's and MBAR's estimates solve their equations.
using StoreEstimate = std::function<Estimate(const SampleStore& store)>;
Check bridge_check(const StoreEstimate& estimate);
Check expected_counts_check(const StoreEstimate& estimate);

/// Makes the check that a gradient of spins is that of bits.
using ExactGradient = std::function<decltype(exact_gradient)>;
Check spins_are_bits_check(const ExactGradient& find_gradient);

/// Lists the checks of log f(v) - b0.v of deep models, from W0'v of all cases.
using DeepLogSums =
    std::function<Eigen::VectorXd(const Layered& model, const Eigen::MatrixXd& inputs)>;
std::vector<Check> likelihood_checks(const DeepLogSums& find_sums);

/// Makes the check that exact occupancies give every Z_k.
using RtsEstimate = std::function<Estimate(const RungSums& sums, const Eigen::VectorXd& log_prior,
                                           const Eigen::VectorXd& log_z_hat)>;
Check exact_occupancies_check(const RtsEstimate& estimate);

/// Lists the checks that a bound is not above log Z.
using BoundLogZ = std::function<decltype(lower_bound)>;
std::vector<Check> lower_bound_checks(const BoundLogZ& find_bound);

}  // namespace boltzmark
