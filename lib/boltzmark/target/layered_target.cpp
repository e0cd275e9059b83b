#include "boltzmark/target/layered_target.hpp"

#include <utility>
#include <vector>

namespace boltzmark {

LayeredPopulation::LayeredPopulation(std::shared_ptr<const TemperedModel> model, int first_chain,
                                     int chains, StreamKey key)
    : chains_(std::move(model), first_chain, chains), draws_(key) {}

// At b = 0 a Gibbs sweep draws every unit from p1, whatever the others are.
void LayeredPopulation::draw_base() {
  const std::vector<float> zeros(static_cast<std::size_t>(chains()), 0.0F);
  move(zeros);
}

void LayeredPopulation::move(std::span<const float> inverse_temperatures) {
  chains_.sweep(inverse_temperatures, draws_, sweeps_++);
}

void LayeredPopulation::log_increment(float from, float to, std::span<double> out) {
  chains_.log_increment(static_cast<double>(from), static_cast<double>(to), out);
}

void LayeredPopulation::copy_chain(int chain, const Population& from, int source) {
  chains_.copy_chain(chain, dynamic_cast<const LayeredPopulation&>(from).chains_, source);
}

LayeredTarget::LayeredTarget(Layered model, Base base, const Packing& packing)
    : LayeredTarget(
          std::make_shared<const TemperedModel>(std::move(model), std::move(base), packing)) {}

LayeredTarget::LayeredTarget(std::shared_ptr<const TemperedModel> model)
    : model_(std::move(model)) {}

std::unique_ptr<Population> LayeredTarget::populate(int first_chain, int chains,
                                                    StreamKey key) const {
  return std::make_unique<LayeredPopulation>(model_, first_chain, chains, key);
}

}  // namespace boltzmark
