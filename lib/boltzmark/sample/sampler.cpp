#include "boltzmark/sample/sampler.hpp"

namespace boltzmark {

void Sampler::start_at(const Chains&, std::span<const float>, std::span<const float>) {}

void Sampler::follow(const Parameters&) {}

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
