#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/sweep.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/transition/log_ratio.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own header after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using Doubles = hn::CappedTag<double, kChainBlock>;
using Halves = hn::Rebind<float, Doubles>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Doubles()));
constexpr int kVectors = kChainBlock / kLanes;

HWY_INLINE hn::Vec<Doubles> widen(const float* states) {
  return hn::PromoteTo(Doubles(), hn::LoadU(Halves(), states));
}

// sums[c] += coefficients . x_c over one block of chains.
void add_linear(const Eigen::VectorXd& coefficients, const float* HWY_RESTRICT states,
                double* HWY_RESTRICT sums) {
  const Doubles d;
  for (int v = 0; v < kVectors; ++v) {
    auto sum = hn::LoadU(d, sums + v * kLanes);
    for (Eigen::Index u = 0; u < coefficients.size(); ++u)
      sum = hn::Add(
          sum, hn::Mul(hn::Set(d, coefficients[u]), widen(states + u * kChainBlock + v * kLanes)));
    hn::StoreU(sum, d, sums + v * kLanes);
  }
}

// sums[c] += share x_c' W y_c over one block of chains.
void add_bilinear(const Eigen::MatrixXd& weights, double share, const float* HWY_RESTRICT lower,
                  const float* HWY_RESTRICT upper, double* HWY_RESTRICT sums) {
  const Doubles d;
  const auto factor = hn::Set(d, share);
  for (Eigen::Index j = 0; j < weights.cols(); ++j) {
    const double* HWY_RESTRICT column = weights.data() + j * weights.rows();
    hn::Vec<Doubles> inputs[kVectors];
    for (auto& input : inputs) input = hn::Zero(d);
    for (Eigen::Index i = 0; i < weights.rows(); ++i) {
      const auto weight = hn::Set(d, column[i]);
      for (int v = 0; v < kVectors; ++v)
        inputs[v] =
            hn::Add(inputs[v], hn::Mul(weight, widen(lower + i * kChainBlock + v * kLanes)));
    }
    for (int v = 0; v < kVectors; ++v) {
      const auto input = hn::Mul(factor, inputs[v]);
      const auto product = hn::Mul(input, widen(upper + j * kChainBlock + v * kLanes));
      hn::StoreU(hn::Add(hn::LoadU(d, sums + v * kLanes), product), d, sums + v * kLanes);
    }
  }
}

}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
namespace {
HWY_EXPORT(add_linear);
HWY_EXPORT(add_bilinear);

void check(const Layered& model, const Chains& chains) {
  if (!chains.fit(model))
    throw InvalidArgument("chains (must have the model's layers, sizes and units)");
  for (int l = 0; l < model.layers(); ++l)
    if (model.layer(l).unit.is_gaussian())
      throw InvalidArgument(fmt::format("layer {} = Gaussian (must have a bounded energy)", l));
}

}  // namespace

std::vector<double> log_ratio(const Layered& model, const Base& base, const Chains& chains) {
  simd_path();
  check(model, chains);
  std::vector<double> ratios(static_cast<std::size_t>(chains.blocks()) * kChainBlock,
                             log_normaliser(model, base));
  for (int l = 0; l < model.layers(); ++l) {
    const double scale = static_cast<double>(state_scale(chains.unit(l)));
    const Eigen::VectorXd coefficients = (model.bias(l) - base.logits[l]) / scale;
    for (int block = 0; block < chains.blocks(); ++block) {
      double* sums = ratios.data() + static_cast<std::size_t>(block) * kChainBlock;
      HWY_DYNAMIC_DISPATCH(add_linear)(coefficients, chains.block(l, block), sums);
      if (l + 1 == model.layers()) continue;
      const double share = 1 / (scale * static_cast<double>(state_scale(chains.unit(l + 1))));
      HWY_DYNAMIC_DISPATCH(add_bilinear)
      (model.weights(l), share, chains.block(l, block), chains.block(l + 1, block), sums);
    }
  }
  ratios.resize(static_cast<std::size_t>(chains.chains()));
  return ratios;
}

}  // namespace boltzmark
#endif
