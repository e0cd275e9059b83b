#include "boltzmark/learn/phases/mean_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"

namespace boltzmark {
namespace {

constexpr int kBatch = 512;  // cases that are bounded together: a matter of memory alone

int check(const Layered& model, MeanFieldStop stop) {
  if (model.has_scales()) throw InvalidArgument("model (must have no Gaussian layer)");
  if (stop.updates < 0)
    throw InvalidArgument(
        fmt::format("mean-field updates = {} (must not be negative)", stop.updates));
  if (std::isnan(stop.tolerance))
    throw InvalidArgument("mean-field tolerance = NaN (must be a number, 0 or less for none)");
  return stop.updates;
}

void clear_layer(Chains& chains, int layer) {
  const auto values = static_cast<std::size_t>(chains.size(layer)) * kChainBlock;
  for (int b = 0; b < chains.blocks(); ++b) std::fill_n(chains.block(layer, b), values, 0.0F);
}

// Where the input of a unit of a chain lies among those of a layer.
std::size_t input_offset(const std::vector<float>& inputs, const Chains& chains, int unit,
                         int chain) {
  const std::size_t per_block = inputs.size() / static_cast<std::size_t>(chains.blocks());
  return static_cast<std::size_t>(chain / kChainBlock) * per_block +
         static_cast<std::size_t>(unit) * kChainBlock + chain % kChainBlock;
}

// The input with the weights doubled; the bias stays.
void double_weights(const PackedModel& packed, const Chains& chains, int layer,
                    std::vector<float>& inputs) {
  for (int b = 0; b < chains.blocks(); ++b)
    for (int u = 0; u < packed.size(layer); ++u) {
      float* x = inputs.data() + input_offset(inputs, chains, u, b * kChainBlock);
      for (int c = 0; c < kChainBlock; ++c) x[c] = 2 * x[c] - packed.layer(layer).bias[u];
    }
}

// The greatest move of a hidden mean of each case, relative to the greatest value.
Eigen::ArrayXf moves(const Chains& before, const Chains& after) {
  Eigen::ArrayXf all = Eigen::ArrayXf::Zero(after.blocks() * kChainBlock);
  for (int l = 1; l < after.layers(); ++l)
    for (int b = 0; b < after.blocks(); ++b) {
      using Block = Eigen::Map<const Eigen::ArrayXXf>;
      const Block old(before.block(l, b), kChainBlock, before.size(l));
      const Block now(after.block(l, b), kChainBlock, after.size(l));
      auto part = all.segment(b * kChainBlock, kChainBlock);
      part = part.max((now - old).abs().rowwise().maxCoeff() / after.unit(l).state_scale());
    }
  return all.head(after.chains());
}

}  // namespace

MeanField::MeanField(const Layered& model, MeanFieldStop stop)
    // Sums of weights by a state's sign, as tables hold them, are of no use to means. Cases come in blocks.
    : packed_(model, {.chains = kChainBlock,
                      .sweeps = static_cast<std::uint64_t>(check(model, stop)) + 1,
                      .values = false}),
      stop_(stop),
      inputs_(static_cast<std::size_t>(model.layers())) {}

void MeanField::set_model(const Layered& model) { packed_.update(model); }

void MeanField::start(Chains& cases) {
  const int top = packed_.layers() - 1;
  for (int l = 1; l <= top; ++l) clear_layer(cases, l);
  for (int l = 1; l <= top; ++l) {
    fill_inputs(packed_, cases, l, inputs_[l]);  // of the layer below: those above are 0
    if (l < top) double_weights(packed_, cases, l, inputs_[l]);
    set_means(packed_, cases, l, inputs_[l]);
  }
}

void MeanField::update_side(Chains& cases, int parity) {
  if (parity != 0 && parity != 1)
    throw InvalidArgument(fmt::format("parity = {} (must be 0 or 1)", parity));
  for (int l = parity == 0 ? 2 : 1; l < packed_.layers(); l += 2) {
    fill_inputs(packed_, cases, l, inputs_[l]);
    set_means(packed_, cases, l, inputs_[l]);
  }
}

int MeanField::fill(Chains& cases) {
  start(cases);
  updates_ = 0;
  if (packed_.layers() == 2) return 0;  // q is p(h|v)
  int moving = 0;
  while (updates_ < stop_.updates) {
    ++updates_;
    if (stop_.tolerance > 0) before_ = cases;
    update_side(cases, 1);
    update_side(cases, 0);
    if (stop_.tolerance <= 0) continue;
    moving = static_cast<int>((moves(*before_, cases) > stop_.tolerance).count());
    if (moving == 0) break;
  }
  return moving;
}

// E_q[log f] by layers; sum over h_i of q log q = x m - log_partition(x), base measure included.
Eigen::VectorXd MeanField::bounds(const Layered& model, const Chains& cases) const {
  if (!cases.fit(model) || inputs_[1].empty())
    throw InvalidArgument("cases (must be those that mean field has filled)");
  Eigen::MatrixXd below = cases.get_layer(0).cast<double>();
  Eigen::VectorXd sum = below.transpose() * model.bias(0);
  for (int l = 1; l < model.layers(); ++l) {
    const Unit unit = model.layer(l).unit;
    Eigen::MatrixXd means(model.size(l), cases.chains());
    for (int c = 0; c < cases.chains(); ++c)
      for (int u = 0; u < model.size(l); ++u) {
        const double x = inputs_[l][input_offset(inputs_[l], cases, u, c)];
        means(u, c) = mean_value(unit, x);
        sum[c] += log_partition(unit, x) - x * means(u, c);
      }
    sum += (model.weights(l - 1) * means).cwiseProduct(below).colwise().sum().transpose() +
           means.transpose() * model.bias(l);
    below = std::move(means);
  }
  return sum;
}

VariationalBounds variational_bounds(const Layered& model,
                                     const Eigen::Ref<const Eigen::MatrixXf>& cases,
                                     MeanFieldStop stop) {
  require_within(model.layer(0).unit, cases);
  VariationalBounds all;
  all.log_f.resize(static_cast<std::size_t>(cases.cols()));
  const Eigen::Index batches = (cases.cols() + kBatch - 1) / kBatch;
  std::vector<int> not_converged(static_cast<std::size_t>(batches)), updates(not_converged);
  parallel_for(not_converged.size(), [&](std::size_t b) {
    const auto first = static_cast<Eigen::Index>(b) * kBatch;
    const Eigen::Index count = std::min<Eigen::Index>(kBatch, cases.cols() - first);
    Chains chains(model, static_cast<int>(count));
    chains.set_layer(0, cases.middleCols(first, count));
    MeanField field(model, stop);
    not_converged[b] = field.fill(chains);
    updates[b] = field.updates();
    const Eigen::VectorXd bounds = field.bounds(model, chains);
    std::copy(bounds.begin(), bounds.end(), all.log_f.begin() + first);
  });
  all.not_converged = std::accumulate(not_converged.begin(), not_converged.end(), 0);
  for (const int made : updates) all.updates = std::max(all.updates, made);
  return all;
}

}  // namespace boltzmark
