#include "tools/boltzmark/commands/train/train_cost.hpp"

#include <cmath>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark::cli {

// A draw and its decision cost 1 ns; the statistics of both phases are 4 sides' worth of products,
// an update of mean field 2; the step and the packing of both directions 3 ns a weight. Of a weight
// there are the model's, the gradient's and the step's, and both packed directions. Kernels take
// units and chains in blocks.
TrainingCost training_cost(std::span<const int> sizes, const TrainingWork& work) {
  const auto padded = [](double count) { return kChainBlock * std::ceil(count / kChainBlock); };
  double weights = 0, products = 0, units = sizes.front();
  for (std::size_t l = 1; l < sizes.size(); ++l) {
    weights += double{1} * sizes[l - 1] * sizes[l];
    products += padded(sizes[l - 1]) * padded(sizes[l]);
    units += sizes[l];
  }
  const double sides = sizes.size() == 2 ? 4 : 6 + 2.0 * work.mean_field;
  const double cases = padded(work.batch);
  const double update =
      work.chain_sweeps * cases / work.batch * (2 * products * kTrainingProduct + units * 1e-9) +
      sides * cases * products * kTrainingProduct + 3e-9 * products;
  return {.seconds = update * work.updates / thread_count(),
          .bytes = 8 * cases * units + 48 * weights + 8 * (products - weights)};
}

}  // namespace boltzmark::cli
