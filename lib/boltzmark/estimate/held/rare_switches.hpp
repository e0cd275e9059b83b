#pragma once

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "boltzmark/estimate/held/switches.hpp"
#include "boltzmark/estimate/places/held_means.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/sample/top_states.hpp"

namespace boltzmark {

/// The samples of a run at b = 1.
struct RunSamples {
  Eigen::MatrixXf values;   ///< [units x samples], the lowest layer first
  Eigen::VectorXd weights;  ///< [samples], of sum 1; 0 where no sample has any
};

/// Lists them, those of every chain once, weighted by its visits; without visits, all alike.
/// Throws  InvalidArgument unless there are as many visits as states, or none
RunSamples samples_of(const Layered& model, const VisitedStates& visited);

/// A switch that a run hardly made, and what mean field tells of it.
struct RareSwitch {
  UnitSwitch of;
  const NumberedSides* side = nullptr;
  UnitGroup units = {};                    ///< what moves of that side
  std::vector<Eigen::Index> numbers = {};  ///< of all that moves, among the units of all layers
  /// Where each of these is most often: a value, or a range of several that are not far (is_far).
  std::vector<ValueRange> homes = {};
  std::vector<ValueRange> ends =
      {};             ///< where each moves to, likewise: of few values, all that are far
  double likely = 0;  ///< log ratio
  double change = 0;  ///< by which the units' inputs move on the way, in nats
  /// Of one unit, no log ratio is greater: its input where the others are as it wants them, times how far it moves.
  double greatest = 0;
  Eigen::VectorXf means = {};  ///< of all units there

  /// How often right samples of so many visits have it.
  double expected(double visits) const { return visits * of.share * std::exp(likely); }
};

/// How often right samples meet a rare switch, up to which those that are as rare are held together.
inline constexpr std::array kMeetings = {0.5, 2.0, 8.0, 32.0};
/// Whether such a share of the samples is one of them at least.
inline bool is_met(double share, double visits) { return share * visits > 0.5; }

/// A share of such a Z that is next to nothing.
inline const double kNextToNothing = std::exp(-5.0);

/// Whether a value is nearer to the far end than to where the unit is most often; one in the middle is not, however it is
/// rounded.
template <class Switched>
bool is_far(double value, const Switched& of) {
  constexpr double kRounding = 1e-5;
  return std::abs(value - of.to) < (1 - kRounding) * std::abs(value - of.from);
}
/// Whether a column of all units' values has them all there.
template <class Column>
bool is_switched(const Column& values, const UnitSwitch& of) {
  return is_far(values[of.unit], of) &&
         std::all_of(of.others.begin(), of.others.end(),
                     [&](const SwitchedUnit& one) { return is_far(values[one.unit], one); });
}

/// Returns the samples' weights, those apart of which a unit of the switch is not at home.
Eigen::VectorXd weights_at_home(const RareSwitch& rare, const RunSamples& samples);

/// The k-th unit of a switch.
inline SwitchedUnit unit_of(const UnitSwitch& of, std::size_t k) {
  return k == 0 ? SwitchedUnit{of.unit, of.from, of.to} : of.others[k - 1];
}

/// What names the draws of its moves: all units, for groups of one unit and as many others are told apart.
inline std::string draws_of(const RareSwitch& of) {
  return fmt::format("{}", fmt::join(of.numbers, " "));
}

/// Rare switches, and those apart that mean field takes for next to nothing.
struct RareSwitches {
  std::vector<RareSwitch> likely;  ///< those first that hold the most
  std::vector<RareSwitch>
      unlikely;  ///< of single units that may hold more, those first that may hold the most
};

/// Finds the switches of units of both sides, and of groups of them whose weights point alike as they move or that hold more
/// together than each by itself (UnitSteps from the means), that samples have with a share of
/// 3 % or less; likely are all but those that together are next to nothing by mean field, and none is of
/// two groups of both sides that lead to each other the larger one. Besides, pairs of these of both sides, neither of which
/// leads to the other, that by their weights hold more than either.
/// Cost      2^27 + 2^26 log partitions a side at most, and mean field for as many as 2^32 weights allow, or 500; of
///   more, evenly spaced ones, single units first, and at least half of what is left to either kind of groups
/// Lifetime  the sides must outlive what is returned
RareSwitches rare_switches(const NumberedSides& even, const NumberedSides& odd,
                           const RunSamples& samples);

}  // namespace boltzmark
