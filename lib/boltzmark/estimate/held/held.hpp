#pragma once

#include <Eigen/Core>
#include <memory>

#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/top_states.hpp"

namespace boltzmark {

/// Refuses the estimate of a run whose samples at b = 1 were in the states that the search listed
/// less often than the estimate itself demands: these states hold e^(searched - log Z) of all mass.
/// So a mode that was found and hardly met is told long before its mass alone exceeds the estimate.
/// Or more often than it allows: it is too high, or the run never met the rest.
///   The share demanded, by an estimate four standard errors higher, is held against the upper limit of
///   the share that was met, of level 1 - 1e-4 (Clopper and Pearson 1934, of effective visits); the
///   share allowed, by one four standard errors lower, against its lower limit.
/// Status  not_converged
void hold_to_visits(const LowerBound& bound, Estimate& estimate);

/// Masses, and how a run's samples at b = 1 were spread over their parts.
struct MetMasses : PhaseMasses {
  Eigen::VectorXd shares;  ///< of the samples [parts]
  double visits = 0;       ///< (sum w)^2 / sum w^2 of the samples' weights; 0: no samples are known
};

/// What an estimate is held to of phases: those that annealing found, and groups of what is near all places.
struct MetPhases : MetMasses {
  MetMasses small = {};  ///< of no parts: none
};

/// Counts the samples of a run in each part, weighted by their visits.
/// Shapes  visited.visits [chains of all groups together], or empty: all weigh alike
MetPhases meet_phases(const Phases& phases, const VisitedStates& visited);

/// Refuses an estimate that is lower than what annealing from bases near places found by five joint
/// standard errors and a quarter of a nat, or whose run was seldomer in the phase near one of these bases
/// than the mass demands that annealing found there, as hold_to_visits does: a base that is near one
/// phase alone, or a first-order transition on the way from it, hides the others from every run.
/// Masses near bases that the run hardly met are missing from its Z, which none of its samples tells. They
/// add to the error, e = log(1 + their part of Z): std_error <- sqrt(std_error^2 + e^2), upper <- upper + 1.96 e.
/// More than a quarter is refused, and a tenth that is there surely. A mass counts, taken two of its errors
/// lower, or what surely is of it (log_least) if that is more, where the run was less than half as often and
/// chance would have it with 20 % at most; to be sure, with 1 % at most. What is too small for that is
/// held together by what each surely holds; and what the run hardly met (3 % of its samples each at most) and does not count
/// alone by a fifth of their sum, as few draws may hold it, which it exceeds by chance with 20 % at most (Markov).
/// So are groups of what is near all places, of which each may be too small to be met, where that is sure: with 1 % at
/// most, and a hundredth of their sum.
/// Returns that part, 0 if there is none.
/// Status  not_converged
double hold_to_phases(const MetPhases& phases, Estimate& estimate);

/// Refuses an estimate that a lower bound refutes, or that is far above one that is log Z itself: after
/// hold_to_resolution, which may widen its limits.
/// Status  below_bound, not_converged
void hold_to_bound(const LowerBound& bound, Estimate& estimate, int together = 1);

/// Tells whether arithmetic resolves a model: a double a nat of what it is summed from, without which there
/// is no lower bound, and single precision, in which samplers work, a tenth of a nat of units' inputs and of
/// log f. No run of more sweeps mends that.
bool is_resolved(const LowerBound& bound);

/// Nats of log f that single precision may be off by and that no error needs to tell.
inline constexpr double kUntoldRounding = 0.001;

/// Refuses the estimate of a model that is not resolved. What single precision changes of log f is added to its
/// error and to both limits where it is more than kUntoldRounding and a tenth of the error: before all else that
/// these are held to.
/// Status  not_converged
void hold_to_resolution(const LowerBound& bound, Estimate& estimate);

/// Adds what a run's tours tell to be missing from Z, and steps between its rungs, to the error of its
/// estimate, after all else, which is held against what its samples tell alone. As much missing as Z itself or
/// more is refused.
/// Status  not_converged
void add_unseen(Estimate& estimate);

/// What a run met of the masses that are known beside it.
struct Met {
  std::shared_ptr<const MetPhases> phases = nullptr;  ///< where bases were compared
  Switches switches = {};
};

/// Finds what a run met of phases, where there are any, and what its units hold that it hardly switched.
/// Randomness  a stream of the search's key     Throws  InvalidArgument as switch_units     Cost  as switch_units
std::shared_ptr<const Met> meet_masses(const Layered& model, const ModeSearch& search,
                                       const Phases* phases, const VisitedStates& visited);
/// Holds an estimate of that run to both.  Status  not_converged
void hold_to_met(const Met& met, Estimate& estimate);

}  // namespace boltzmark
