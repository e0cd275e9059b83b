#include <fmt/format.h>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "boltzmark/transition/tempered_density.hpp"

namespace boltzmark {
namespace {

void check(const Layered& model, const Chains& chains) {
  if (!chains.fit(model))
    throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.has_scale())
      throw InvalidArgument(fmt::format("layer {} = Gaussian (must have a bounded energy)", l));
}

DensityBlock states_of(const Chains& chains, int layer, int block) {
  return {.units = chains.size(layer), .states = chains.block(layer, block)};
}

}  // namespace

std::vector<double> log_ratio(const Layered& model, const Base& base, const Chains& chains) {
  simd_path();
  check(model, chains);
  std::vector<double> ratios(static_cast<std::size_t>(chains.blocks()) * kChainBlock,
                             log_normaliser(model, base));
  for (int l = 0; l < model.layers(); ++l) {
    const double scale = static_cast<double>(chains.unit(l).state_scale());
    const Eigen::VectorXd gain = (model.bias(l) - base.logits[l]) / scale;
    for (int block = 0; block < chains.blocks(); ++block) {
      double* sums = ratios.data() + static_cast<std::size_t>(block) * kChainBlock;
      const DensityBlock lower = states_of(chains, l, block);
      add_linear(gain.data(), lower, sums);
      if (l + 1 == model.layers()) continue;
      const double share = 1 / (scale * static_cast<double>(chains.unit(l + 1).state_scale()));
      add_bilinear(model.weights(l).data(), share, lower, states_of(chains, l + 1, block), sums);
    }
  }
  ratios.resize(static_cast<std::size_t>(chains.chains()));
  return ratios;
}

}  // namespace boltzmark
