#pragma once

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// Computes the inputs a_l + W_{l-1}' x_{l-1} + W_l x_{l+1} of one layer, [units of the layer].
/// For a Gaussian layer the bias is not an input and is left out.
Eigen::VectorXd layer_input(const Layered& model, const State& state, int layer);

/// Converts between a state's index and the layers' values.
State state_at(const StateSpace& space, std::size_t index);
std::size_t index_of(const StateSpace& space, const State& state);
/// Puts a chain into a state.
void put_state(Chains& chains, int chain, const StateSpace& space, std::size_t index);

}  // namespace boltzmark
