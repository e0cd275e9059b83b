#include "boltzmark/exact/modes/mean_field.hpp"

#include <cmath>
#include <cstdint>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

/// A product law over a side: each unit's law is proportional to e^{input x}.
struct ProductLaw {
  Eigen::VectorXd means;
  double entropy = 0;  // to the reference measure
  double size = 0;     // of the terms of the entropy
};

ProductLaw product_law(const Bipartite& sides, const Eigen::VectorXd& inputs) {
  ProductLaw law{.means = Eigen::VectorXd(inputs.size())};
  for (Eigen::Index i = 0; i < inputs.size(); ++i) {
    law.means[i] = mean_value(sides.enumerated[i], inputs[i]);
    law.entropy += log_partition(sides.enumerated[i], inputs[i]) - inputs[i] * law.means[i];
    law.size += std::abs(inputs[i]) + 2;
  }
  return law;
}

// The inputs of a side's units of every chain.  Shapes  [units x chains]
Eigen::MatrixXd side_inputs(const PackedModel& packed, const Chains& chains, int parity) {
  Eigen::MatrixXd all(0, chains.chains());
  for (int l = parity; l < packed.layers(); l += 2) {
    all.conservativeResize(all.rows() + chains.size(l), Eigen::NoChange);
    all.bottomRows(chains.size(l)) = layer_inputs(packed, chains, l);
  }
  return all;
}

}  // namespace

// Means are off by 4 ulp, 8 u of values of at most 1; each entropy term by 4 ulp of the log partition and of
// the mean, and by its own roundings and sum's.
MeanFieldBound jensen_bound(const Bipartite& sides, const Eigen::VectorXd& means, double entropy,
                            double size) {
  const double u = std::numeric_limits<double>::epsilon() / 2;
  const Eigen::VectorXd other = sides.other_input + sides.weights * means;
  const double linear = sides.bias.dot(means);
  const auto terms = static_cast<double>(means.size());
  return {.log_z = log_weight(sides, other, linear) + entropy,
          .error_bound = 1.01 * u * (log_weight_roundings(sides, 8) + (terms + 24) * size)};
}

std::vector<MeanFieldBound> mean_field(const Layered& model, const Bipartite& sides, int parity,
                                       int updates, Chains& chains) {
  const PackedModel packed(
      model,
      {.chains = chains.chains(), .sweeps = static_cast<std::uint64_t>(updates), .values = false});
  const auto average = [&](int side) {
    for (int l = side; l < model.layers(); l += 2) set_means(packed, chains, l);
  };
  for (int s = 0; s < updates; ++s) {
    average(1 - parity);
    average(parity);
  }
  average(1 - parity);
  const Eigen::MatrixXd inputs = side_inputs(packed, chains, parity);
  std::vector<MeanFieldBound> bounds(static_cast<std::size_t>(chains.chains()));
  parallel_for(bounds.size(), [&](std::size_t c) {
    const ProductLaw law = product_law(sides, inputs.col(static_cast<Eigen::Index>(c)));
    bounds[c] = jensen_bound(sides, law.means, law.entropy, law.size);
  });
  return bounds;
}

}  // namespace boltzmark
