#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "boltzmark/estimate/places/bases.hpp"
#include "boltzmark/estimate/places/places.hpp"
#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Masses of what is near all places, in groups: each may be small beside Z, and a run need not meet it,
/// though all together they are most of it.
struct SmallMasses : PhaseMasses {
  Parts parts;  ///< one around the means that the uniform base's chains reach, one a place
  std::vector<int> groups;  ///< of each part; that of the first is none, -1 [parts]

  bool any() const { return log_masses.size() > 0; }
};

/// Finds the mass near each place by importance sampling from the product law that mean field has there on
/// the side of `parity`, the other one summed out:
///   E_q[f(x) / q(x) 1{x in the part}] = Z_part, the first part's taken for none.
/// Groups are of 1, 1, 2, 4, 8, .. places, the greatest masses by mean field first.
/// None where that side is not discrete, there is no place elsewhere than `reached`, or all masses together are by mean field less
/// than e^-8 of `found`, log of the mass that is known: of a broad phase mean field tells nothing.
/// Shapes      reached [units]     Randomness  streams of key
/// Cost        16 states a place of which f is computed, of so many places as 2^30 weights allow
SmallMasses small_masses(const Layered& model, const Places& places, int parity,
                         const Eigen::VectorXd& reached, double found, StreamKey key);

/// Disjoint parts of the states of all layers, each with a base near it, and the mass that short annealed
/// importance sampling from its base finds in it. A part is what is nearer to its centre than to the
/// others'. All parts are fixed before the first draw, so that
///   E[w 1{x in the part}] = Z_part,  and the sum over the parts is Z in the mean:
/// by Markov's inequality it exceeds c Z with probability at most 1/c, whatever the model. Where chains
/// of one base never meet another phase, those that start near it do.
struct Phases : PhaseMasses, PlaceBases {
  Eigen::VectorXd mean_log_weights;  ///< of all chains of each base, by which choose_base chooses
  PhaseMasses by_uniform = {};       ///< of all parts, as chains of the uniform base find them
  SmallMasses small = {};            ///< of what is near all places
};

/// The masses of all parts, as short annealing from one base finds them.
struct AnnealedParts : PhaseMasses {
  double mean_log_weight = 0;  ///< of all chains, by which choose_base chooses
};

/// Anneals from a base and tells what ended in each part: the mean over all chains of the weights of those.
/// Randomness  streams of choice.key     Throws  InvalidArgument as choose_base
AnnealedParts anneal_parts(const Layered& model, const Phases& phases, const Base& base,
                           const BaseChoice& choice);

/// Tells whether a base that is near one of the parts may be chosen for a run: from near one of several phases
/// it would miss the others, a ground state's mirror image too. It surely has nine tenths of all mass, two
/// errors of all masses against it; or it has them, and its base holds some units alone: what that holds the
/// uniform one does not reach.
/// Invariant  part is one of phases'
bool is_almost_all(const Phases& phases, Eigen::Index part);

/// Tells whether a base's pilot finds half of each part that may have a tenth of all mass, if the uniform base's may,
/// or if the part is_almost_all: what another base reaches is not to be lost by this one; what none does only longer
/// runs may tell. What surely is in a part by the pilot counts too, for few chains may come to a mass from near it,
/// unless it is more in all than the phases' errors allow.
/// Shapes  both of the same parts
bool loses_nothing(const Phases& phases, const PhaseMasses& pilot);

/// Anneals from the uniform base and from bases near up to eight places (bases_near_places).
/// Randomness  streams of choice.key for each base, and of key for what is near a place
/// Throws      InvalidArgument as choose_base
/// Cost        choice.chains * choice.sweeps sweeps of one chain for every base and two besides
Phases anneal_phases(const Layered& model, const Modes& modes, StreamKey key,
                     const BaseChoice& choice);
/// Does so with keys of their own of the seed.
Phases find_phases(const Layered& model, const Modes& modes, std::uint64_t seed, int summed_side);

}  // namespace boltzmark
