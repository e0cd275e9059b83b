#pragma once

#include <span>

#include "boltzmark/model/discriminative.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"

namespace boltzmark {

/// The kinds of a network's units.
struct NetworkUnits {
  Unit visible = Unit::bernoulli();
  Unit hidden = Unit::bernoulli();  ///< of every hidden layer
};

/// Draws a network whose weights and biases are independent N(0, sd^2).
/// Shapes      sizes [layers], the visible layer first; 2 or more
/// Randomness  key, Purpose::initial_weights; the same for every rule that shares the key
/// The scales of Gaussian units are 1.
/// Throws      InvalidArgument if a size is below 1, there are fewer, or sd is negative or not finite
Layered initial_network(std::span<const int> sizes, double sd, StreamKey key,
                        NetworkUnits units = {});

/// Draws a network with biases zero and weights uniform within +-sqrt(6 / (a + b)), a and b the sizes of the
/// two layers that they join.                                   [Glorot & Bengio 2010, Eq. 16]
/// Randomness  key, Purpose::initial_weights     Throws  InvalidArgument as initial_network
Layered xavier_network(std::span<const int> sizes, StreamKey key, NetworkUnits units = {});

/// Draws an RBM as initial_network and xavier_network do.
Layered initial_rbm(int visible, int hidden, double sd, StreamKey key, NetworkUnits units = {});
Layered xavier_rbm(int visible, int hidden, StreamKey key, NetworkUnits units = {});

/// Draws a discriminative RBM, both weight matrices as xavier_network's, biases zero.
/// Randomness  key, Purpose::initial_weights     Throws  InvalidArgument as DiscriminativeRbm
DiscriminativeRbm xavier_discriminative(Unit hidden_unit, int inputs, int hidden, int classes,
                                        StreamKey key);

}  // namespace boltzmark
