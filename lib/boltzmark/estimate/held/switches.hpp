#pragma once

#include <limits>
#include <vector>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/top_states.hpp"

namespace boltzmark {

/// A unit that goes to the far end of its values.
struct SwitchedUnit {
  int unit = 0;             ///< among those of all layers, the lowest first
  double from = 0, to = 0;  ///< the value that it had most often, of many the median, and that end
};

/// A unit that a run hardly ever had at the far end of its values, and what that end is worth, or the end of it and of
/// units whose weights point as its own do, or that it is joined to.
struct UnitSwitch {
  int unit = 0;                           ///< as SwitchedUnit's
  double from = 0, to = 0;                ///< likewise
  std::vector<SwitchedUnit> others = {};  ///< that moved with it: all of them are at their end
  /// Of the run's samples at b = 1, those at home: at `from`, or in what 95 % are in that are not nearer to `to`.
  double share = 0;
  double met = 0;  ///< nearer to `to`, without what is before it in the list
  /// log Z(nearer to `to`, without what is before it) / Z(at home), by UnitMover; of more than sixteen values, Z of what
  /// mean field takes for nearly all that is nearer to `to`
  double log_ratio = 0;
  double error = 0;  ///< relative standard error of share times that ratio
  /// What log_ratio surely is: log E[w] >= E[log w], by Jensen's inequality, four standard errors less
  double log_least = -std::numeric_limits<double>::infinity();
};

/// What rare switches hold that were not all moved, told by some that were drawn among them.
struct UnmovedSwitches {
  double most = 0;       ///< right samples meet none of them more often, by mean field
  double mass = 0;       ///< of states with any and none that counts before, to that of all samples
  double error = 0;      ///< standard error of it
  double met = 0;        ///< share of the run's samples at b = 1
  double unmet = 0;      ///< of the mass, that of switches that no sample has
  double by_chance = 0;  ///< of the mass, what as many right samples leave out in the mean
  double unmet_error = 0;  ///< standard error of unmet - by_chance
  double of_one = 0;       ///< mass of one switch, in the mean by mass
};

struct Switches {
  /// Those that hold most first; each without what those before it hold.
  std::vector<UnitSwitch> units = {};
  /// By how often they are met: of disjoint states, as those above.
  std::vector<UnmovedSwitches> unmoved = {};
  double visits = 0;  ///< (sum w)^2 / sum w^2 of the samples' weights
};

/// Finds what a run's samples say of states with one unit elsewhere, which few of them have: moves that unit from
/// states that have it where it usually is (UnitMover), and likewise units of a side together whose weights as they move have
/// a cosine of 0.9, 0.7, 0.5 or 0.35 at least, up to sixteen or parallel, or that walks tell to hold more together than
/// the first of them (UnitSteps), and any of these with one of the other side that it
/// is joined to by such weights that both hold more than either. Of rare ones, met by 3 % or less, all but those that
/// mean field tells to hold less than e^-5 in all; and of these the single units whose weights allow the most, for
/// mean field does not see what opens when several others follow, none of which does alone. Those whose log weights spread
/// so much that they may hold more are moved again, in four times as many steps each time.
/// What several of them hold counts once, for the first, so that masses are of disjoint states. Where there are too
/// many, those are moved that right samples meet more than 32 times, and of the others some that are drawn in proportion
/// to what mean field tells of them: the mean of mass / probability is what all hold. [Hansen and Hurwitz 1943] Of
/// several of those a state counts for one that no sample has, before those that were met.
/// Randomness  streams of key
/// Cost        mean field for as many units of a side, evenly spaced, as 2^32 weights allow, or 500; and in all as many
///   sweeps of a chain as 2^34 weights allow, or 20,000: 16 chains of 32 to 512 a unit, or one of those drawn; four
///   times as many besides, but no more than 10^6, where some are moved again, of 2^15 at most
/// Throws      InvalidArgument if a layer is Gaussian
Switches switch_units(const Layered& model, const VisitedStates& visited, StreamKey key);

}  // namespace boltzmark
