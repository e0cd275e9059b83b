#include <fmt/format.h>

#include <array>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

using Sums = std::array<double, kChainBlock>;

void add_linear(const Eigen::VectorXd& coefficients, const float* states, Sums& sums) {
  for (Eigen::Index u = 0; u < coefficients.size(); ++u)
    for (int c = 0; c < kChainBlock; ++c)
      sums[c] += coefficients[u] * static_cast<double>(states[u * kChainBlock + c]);
}

void add_bilinear(const Eigen::MatrixXd& weights, const float* lower, const float* upper,
                  Sums& sums) {
  for (Eigen::Index j = 0; j < weights.cols(); ++j) {
    const double* column = weights.data() + j * weights.rows();
    Sums inputs{};
    for (Eigen::Index i = 0; i < weights.rows(); ++i)
      for (int c = 0; c < kChainBlock; ++c)
        inputs[c] += column[i] * static_cast<double>(lower[i * kChainBlock + c]);
    for (int c = 0; c < kChainBlock; ++c)
      sums[c] += inputs[c] * static_cast<double>(upper[j * kChainBlock + c]);
  }
}

}  // namespace

std::vector<double> log_ratio(const Layered& model, const Base& base, const Chains& chains) {
  bool same = model.layers() == chains.layers();
  for (int l = 0; same && l < model.layers(); ++l) same = model.size(l) == chains.size(l);
  if (!same) throw InvalidArgument("chains (must have the model's layers and sizes)");
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.is_gaussian())
      throw InvalidArgument(fmt::format("layer {} = Gaussian (must have a bounded energy)", l));

  const double log_base = log_normaliser(model, base);
  std::vector<double> ratios(chains.chains());
  for (int block = 0; block < chains.blocks(); ++block) {
    Sums sums;
    sums.fill(log_base);
    for (int l = 0; l < model.layers(); ++l) {
      add_linear(model.bias(l) - base.logits[l], chains.block(l, block), sums);
      if (l + 1 < model.layers())
        add_bilinear(model.weights(l), chains.block(l, block), chains.block(l + 1, block), sums);
    }
    for (int c = 0; c < kChainBlock && block * kChainBlock + c < chains.chains(); ++c)
      ratios[block * kChainBlock + c] = sums[c];
  }
  return ratios;
}

}  // namespace boltzmark
