#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/estimate/places/places.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/sample/annealing/base_choice.hpp"

namespace boltzmark {

/// Bases near places where phases may be, and what tells which of them a state is near.
struct PlaceBases {
  std::vector<Base> bases;  ///< the uniform one, then one near each of a few distant places
  Eigen::MatrixXd centres;  ///< of what is near each [units x bases]
  Eigen::VectorXd scales;   ///< of each unit in distances from them [units]
  std::vector<bool> holds;  ///< whether a base holds some units alone [bases]
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
