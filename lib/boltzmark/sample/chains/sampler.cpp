#include "boltzmark/sample/chains/sampler.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

std::shared_ptr<const Draws> draws_of(const SamplerSetup& setup) {
  return setup.draws ? setup.draws : std::make_shared<PhiloxDraws>(setup.key);
}

Chains initial_states(const SamplerSetup& setup) {
  Chains chains(setup.model, setup.packing.chains);
  if (setup.start == nullptr) {
    chains.randomise(setup.key);
    return chains;
  }
  if (!setup.start->fit(setup.model) || setup.start->chains() < chains.chains())
    throw InvalidArgument("start (must be states of the model, as many as are asked for)");
  for (int c = 0; c < chains.chains(); ++c) chains.copy_chain(c, *setup.start, c);
  return chains;
}

int at_least_one(const char* name, int value) {
  if (value < 1) throw InvalidArgument(fmt::format("{} = {} (must be at least 1)", name, value));
  return value;
}

void save_states(const Chains& chains, CheckpointWriter& out) {
  for (int l = 0; l < chains.layers(); ++l) out.write(chains.get_layer(l));
}

void restore_states(Chains& chains, CheckpointReader& in) {
  for (int l = 0; l < chains.layers(); ++l) {
    Eigen::MatrixXf states(chains.size(l), chains.chains());
    in.read(states);
    chains.set_layer(l, states);
  }
}

}  // namespace boltzmark
