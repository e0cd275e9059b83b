#pragma once

#include "boltzmark/model/discriminative.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// The kinds of an RBM's units.
struct RbmUnits {
  Unit visible = Unit::bernoulli();
  Unit hidden = Unit::bernoulli();
};

/// Draws an RBM whose weights and biases are independent N(0, sd^2).
/// Randomness  key, Purpose::initial_weights; the same for every rule that shares the key
/// Throws      InvalidArgument if a size is below 1, sd is negative or not finite, or a unit is
/// Gaussian
Layered initial_rbm(int visible, int hidden, double sd, StreamKey key, RbmUnits units = {});

/// Computes the bound of Xavier initialisation's uniform law, sqrt(6 / (a + b)), from the sizes of
/// the two layers that the weights join.                        [Glorot & Bengio 2010, Eq. 16]
double xavier_bound(Eigen::Index a, Eigen::Index b);

/// Draws an RBM with weights uniform within xavier_bound and biases zero.
/// Randomness  key, Purpose::initial_weights     Throws  InvalidArgument if a size is below 1
Layered xavier_rbm(int visible, int hidden, StreamKey key, RbmUnits units = {});

/// Draws a discriminative RBM, both weight matrices uniform within their xavier_bound, biases zero.
/// Randomness  key, Purpose::initial_weights     Throws  InvalidArgument as DiscriminativeRbm
DiscriminativeRbm xavier_discriminative(Unit hidden_unit, int inputs, int hidden, int classes,
                                        StreamKey key);

}  // namespace boltzmark
