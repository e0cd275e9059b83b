#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/estimate/places/chosen_base.hpp"
#include "boltzmark/estimate/places/phases.hpp"
#include "boltzmark/exact/modes/lower_bound.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/top_states.hpp"
#include "boltzmark/target/layered_target.hpp"

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
/// chance would have it with 20 % at most; to be sure, with 1 % at most.
/// So are groups of what is near all places, of which each may be too small to be met, where that is sure.
/// Returns that part, 0 if there is none.
/// Status  not_converged
double hold_to_phases(const MetPhases& phases, Estimate& estimate);

/// Searches for states by a short tempered run of the model from the uniform base, whatever a run's
/// base: it finds wells that no climb leads to, which annealed chains pass by, and which a base of
/// other modes hides. Rungs are drawn by collapsed states: by joint ones a well of one in 2^22 states
/// was never met.
/// Randomness  a key of its own of the seed, whatever the run's
/// Cost        300 sweeps of 100 chains
std::vector<Chains> tempered_search(const Layered& model, std::uint64_t seed);

/// What is known of a model's mass before a run.
struct FoundStates {
  std::optional<Modes> modes = std::nullopt;       ///< of the search; none: it is made
  std::shared_ptr<const Phases> phases = nullptr;  ///< what annealing from bases near places found
  std::vector<Chains> states = {};                 ///< of tempered_search, where it was made
};

/// Finds what runs of a target are held to: modes and phases that the choice of a base has not found
/// yet, and by a tempered search the states of wells, unless the run is itself as thorough.
/// Randomness  keys of their own of the seed     Throws  InvalidArgument as find_modes
FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, bool tempered);
/// Does so for a method's run from that base: with a tempered search, unless it is itself one of collapsed
/// states from the uniform base. A base near some modes hides the others from it.
FoundStates find_before(const LayeredTarget& target, const ModeSearch& search, std::uint64_t seed,
                        const ChosenBase& chosen, const Method& method,
                        const MethodSettings& settings);

/// Finds a certified lower bound of a target's log Z, from its base, from the search, from what was
/// found and from the states that a run met.
LowerBound find_lower_bound(const LayeredTarget& target, const ModeSearch& search,
                            const VisitedStates& visited = {}, const FoundStates& found = {});

/// Finds the states that several runs of a target are held to, by the same search.
SearchedStates find_states(const LayeredTarget& target, const ModeSearch& search,
                           const FoundStates& found = {});

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

/// What an estimate was held to.
struct Held : Met {
  LowerBound bound = {};
};

/// Finds what a run met of phases, where there are any, and what its units hold that it hardly switched.
/// Randomness  a stream of the search's key     Throws  InvalidArgument as switch_units     Cost  as switch_units
Met meet_masses(const Layered& model, const ModeSearch& search, const Phases* phases,
                const VisitedStates& visited);
/// Holds an estimate of that run to both.  Status  not_converged
void hold_to_met(const Met& met, Estimate& estimate);

/// Holds the estimate of a run to all that is known of its target: to what the search, what was found
/// before and the run's own states prove, or a higher bound known from before; to how often the run
/// was in the states and phases found. Of several runs that are told together refuse_below takes wider limits.
/// Status  below_bound, not_converged     Throws  InvalidArgument as find_modes
/// Cost    as lower_bound
Held hold_to_found(const LayeredTarget& target, const ModeSearch& search,
                   const VisitedStates& visited, const FoundStates& found, Estimate& estimate,
                   const LowerBound& before = {}, int together = 1);

/// Foretells the sweeps of one chain that find_before and hold_to_found make, for a model: at most, but for
/// a run that hardly switched many units, which take more.
double held_sweeps(const Layered& model);

/// The key of an attempt's draws: each has its own.  Invariant  number >= 0
StreamKey attempt_key(std::uint64_t seed, int number = 0);

/// An estimate, what it was held to, and the base that it began from.
struct HeldEstimate {
  Estimate estimate = {};
  Held held = {};
  ChosenBase chosen = {};
};

/// Estimates log Z as `boltzmark estimate --sweeps N` does: from the base that a pilot chooses, the odd layers
/// summed out, and held to all that is found beside the run (hold_to_found). What a method alone says `ok` of
/// may be far off: chains that never met a mode agree with each other.
/// Randomness  keys of the seed, as that command's; settings.key, annealed_start and top_states are not read
/// Throws      InvalidArgument as choose_auto_base, estimate_log_z and hold_to_found
/// Cost        besides the method's, held_sweeps of one chain and the pilots of choose_auto_base
HeldEstimate estimate_held(std::string_view method, const Layered& model, std::uint64_t seed,
                           MethodSettings settings = {});

}  // namespace boltzmark
