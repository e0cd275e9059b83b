#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/sample/annealing/base_choice.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Masses of disjoint parts of a model's states, as annealing found them.
struct PhaseMasses {
  Eigen::VectorXd log_masses;  ///< log Z_part; -infinity where no chain ended in it [parts]
  Eigen::VectorXd errors;      ///< their relative standard errors [parts]

  /// Returns log of the sum of all masses, a stochastic lower bound of log Z, and its standard error.
  /// Units  nats     Invariant  there is a part
  double log_z() const;
  double std_error() const;
  /// Returns a part's share of the sum, its own mass taken `errors_off` errors higher and the others
  /// as many lower, none below 0: the largest that it may have; the smallest, if that is negative.
  double share(Eigen::Index part, double errors_off) const;
};

/// Disjoint parts of the states of all layers, each with a base near it, and the mass that short annealed
/// importance sampling from its base finds in it. A part is what is nearer to its base's means than
/// to the others'. All parts are fixed before the first draw, so that
///   E[w 1{x in the part}] = Z_part,  and the sum over the parts is Z in the mean:
/// by Markov's inequality it exceeds c Z with probability at most 1/c, whatever the model. Where chains
/// of one base never meet another phase, those that start near it do.
struct Phases : PhaseMasses {
  std::vector<Base> bases;  ///< the uniform one, then one near each of a few distant places
  Eigen::MatrixXd centres;  ///< means of all units by each base [units x bases]
  Eigen::VectorXd mean_log_weights;  ///< of all chains of each base, by which choose_base chooses

  /// Returns the part of each chain's state.  Shapes  [chains]
  std::vector<int> parts_of(const Chains& states) const;
};

/// The mass of one part, as short annealing from a base finds it.
struct PartMass {
  /// Log of the mean over all chains of the weights of those that ended in it, in nats.
  double log_mass = 0;
  double error = 0;            ///< relative standard error
  double mean_log_weight = 0;  ///< of all chains, by which choose_base chooses
};

/// Anneals from a base and tells what ended in a part.
/// Randomness  streams of choice.key     Throws  InvalidArgument as choose_base
PartMass anneal_part(const Layered& model, const Phases& phases, const Base& base, int part,
                     const BaseChoice& choice);

/// Anneals from the uniform base and from bases near up to eight places, modes of the one side and fixed
/// points of the other's marginal law, of those that mean field gives the greatest mass: in turn one of the
/// greatest and one of all, as far as can be from those before, and the next greatest that is apart; near
/// fewer, but two, of models so large that they would take long.
/// Randomness  streams of choice.key for each base, and of key for what is near a place
/// Throws      InvalidArgument as choose_base
/// Cost        choice.chains * choice.sweeps sweeps of one chain for every base
Phases anneal_phases(const Layered& model, const Modes& modes, StreamKey key,
                     const BaseChoice& choice);

}  // namespace boltzmark
