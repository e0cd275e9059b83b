#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

#include "boltzmark/estimate/places/places.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

/// The short annealing that bases are judged by.
struct BaseChoice {
  int chains = 48;
  int sweeps = 200;  ///< and as many equal steps of b
  StreamKey key = {};
  int summed_side = 1;  ///< the parity of the layers that are summed out
};

/// Makes the target that a base is judged by.  Throws  InvalidArgument as LayeredTarget
LayeredTarget pilot_target(const Layered& model, const Base& base, const BaseChoice& choice);
/// Makes the short annealing.
/// Randomness  choice.key     Throws  InvalidArgument if shapes differ
/// Cost        chains * sweeps sweeps of one chain
AnnealingResult pilot(const LayeredTarget& target, const BaseChoice& choice,
                      TopStates* top_states = nullptr);

/// Chooses the base whose pilot has the greatest mean log weight; a later one must be better than the best
/// before it by a tenth of a nat, for of bases equally good one would be the luckiest.
///   E[log w] <= log Z, and what it lacks is the work that annealing wastes, in nats: the relative
///   entropy of its paths to those of annealing downwards from the model       [Neal 2001; Crooks 1998]
/// The choice is made before a run's first draw and by draws of its own, so that what the run is
/// unbiased for stays so.
/// Shapes  [bases]     Throws  InvalidArgument if there is no base
std::size_t choose_base(std::span<const double> mean_log_weights);

/// Bases near places where phases may be, and the parts of what is near each.
struct PlaceBases : Parts {
  std::vector<Base> bases;  ///< the uniform one, then one near each of a few distant places
  std::vector<bool> holds;  ///< whether a base holds some units alone, all else as uniform [bases]
};

/// Near how many places bases are made: eight, of large models as many as 2^35 weights of chains' sweeps
/// allow, but two.
int near_places(const Layered& model, const BaseChoice& choice);

/// Tells where chains annealed from the uniform base end, whatever their weights: means of all units.
/// Shapes  [units]     Randomness  key, whatever choice.key     Throws  InvalidArgument as choose_base
Eigen::VectorXd reached_means(const Layered& model, StreamKey key, const BaseChoice& choice);

/// Makes bases near so many of the places: in turn one of the greatest and one of all, as far as can be from
/// those before, and the next greatest that is apart.
///   A base holds the units alone that are at a place as chains annealed from the uniform base hardly ever
/// end (`reached`), if that holds a shorter annealing there: a phase may be any number of states of what else
/// moves, of which a base that is near one finds one. Where it does not, or no unit is, it has all units'
/// means in sweeps from there (base_near). Places that the same units hold have one base,
/// and those of the uniform one's means none.
/// Randomness  streams of key, whatever choice.key
/// Throws      InvalidArgument as choose_base
/// Cost        for a place 1,280 sweeps of one chain and at most half of choice.chains * choice.sweeps
PlaceBases bases_near_places(const Layered& model, const Modes& modes, const Places& places,
                             const Eigen::VectorXd& reached, StreamKey key,
                             const BaseChoice& choice);

}  // namespace boltzmark
