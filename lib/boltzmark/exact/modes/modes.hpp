#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// How fixed points are searched for.
struct FixedPointSearch {
  int starts =
      128;  ///< of climbs: half drawn evenly, half annealed from the base; a quarter as many besides
  int annealing_sweeps = 25;  ///< of Gibbs sampling, b rising evenly from 0 to 1
  int max_sweeps = 100;       ///< of a climb
  /// Of further climbs, fewer of large models: half from distant fixed points with one unit stepped away, for a
  /// pattern that few strong units hold is seldom met from random states, where others outvote them; half from
  /// where the signs of one unit's weights pull its neighbours.
  int further_starts = 1024;
  Eigen::MatrixXf cases = {};  ///< visible states to climb from besides [visible x cases]; or none
  StreamKey key = {};
};

/// How modes are searched for.
struct ModeSearch {
  FixedPointSearch climbs = {};
  int escape_states = 1 << 12;  ///< listed around the modes, for a way out to higher ones
};

/// Modes that were found, the likeliest first.
struct Modes {
  int parity = 1;                  ///< of the layers whose marginal law they are modes of
  Chains states;                   ///< distinct on that side; the other at its means given it
  std::vector<double> log_f = {};  ///< of m(x) f(x), the other side summed out [modes], in nats
  /// Climbs that ended in each [modes]; 0 where only the states around another, or steps of all units, led there.
  std::vector<int> basins = {};
  int climbs = 0;  ///< in all; those that are in no basin ended in less likely fixed points
  /// Fixed points of the other side's marginal law, as FixedPoints has them: what many states of the
  /// listed side hold, none of which is a mode, is one state there.
  std::optional<Chains> others = std::nullopt;

  int count() const { return states.chains(); }
};

/// Finds modes of the marginal law of the side with fewer states: states x from which no step of a
/// single unit's value goes up log f(x). From the likeliest states that find_fixed_points finds
/// single units step upwards, in double precision; then the states around the modes are listed
/// (StateList), and the likeliest of them is climbed from too: the way out of a mode that is low
/// beside another. From the likeliest mode so far all units of that side are stepped, once each
/// (UnitSteps), which leads to patterns that units hold together: every one of them first, of large
/// models some, and of n units beside m none where n (n + 1) / 2 max(m, n / 4) is above 2^27.
/// No search finds all modes of every model.
///   Of continuous units on both sides the states are vertices of the side with fewer units, all of whose
/// modes are vertices, and log_f is of their density to twice the measure of each.
/// Randomness, Invariant  as find_fixed_points
/// Throws  InvalidArgument if a layer is Gaussian, the cases are no visible states, or parameters are so
///   large that a double does not resolve a nat
/// Cost  as find_fixed_points, and log partitions: of climbs some 5 * 2^23, and at most 20 of each unit of 16 states of large
///   models; of steps at most 2^27 for what pairs of units share, 2^26 for the states on the way, and
///   climbs from those that are likelier
Modes find_modes(const Layered& model, const Base& base, const ModeSearch& search = {});

/// How many chains start from each mode.
enum class ModeShares {
  equal,    ///< from all in turn, the likeliest first
  weighted  ///< in proportion to f: none where it is small beside the likeliest mode's
};

/// Returns the mode that each of some chains starts from.  Shapes  [chains]
std::vector<int> share_modes(const Modes& modes, ModeShares shares, int chains);

/// Moves chains that start from these modes by so many Gibbs sweeps at b = 1, the other side first,
/// and shows their states after each.
/// Shapes  starts [chains], numbers of modes
/// Randomness  key     Throws  InvalidArgument if there are no chains
void sweep_from_modes(const Layered& model, const Modes& modes, std::span<const int> starts,
                      int sweeps, StreamKey key, const std::function<void(const Chains&)>& show);

/// Makes the base of the visible units' rates in 20 Gibbs sweeps of chains from these modes, smoothed
/// as data rates are: 5 ons and 5 offs for every 100 states. Uniform where the visible units are not
/// Bernoulli.
/// Randomness  key
Base base_of_modes(const Layered& model, const Modes& modes, std::span<const int> starts,
                   StreamKey key);

/// Makes the base of all units' means in such sweeps of chains from these states, of any type that is
/// tempered, on both sides: from the means of one alone a chain may leave a pattern that the other holds.
/// Means are drawn towards the middle of their values by a share of 1 - 1 / (1 + 2 smoothing).
/// Shapes  starts: states of the side of `parity`, which is drawn last
/// Randomness  key
Base base_near(const Layered& model, int parity, Chains starts, double smoothing, StreamKey key);

}  // namespace boltzmark
