#include "boltzmark/transition/tempered_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "boltzmark/transition/kernels/layer_update.hpp"
#include "boltzmark/transition/rung_nodes.hpp"
#include "boltzmark/transition/tempered_density.hpp"

namespace boltzmark {
namespace {

// Whether the rungs are 0, 1/(K-1), ..., 1, in float32.
bool is_equally_spaced(std::span<const float> ladder) {
  if (ladder.size() < 2) return false;
  const auto last = static_cast<double>(ladder.size() - 1);
  for (std::size_t k = 0; k < ladder.size(); ++k)
    if (ladder[k] != static_cast<float>(static_cast<double>(k) / last)) return false;
  return true;
}

}  // namespace

TemperedModel::TemperedModel(Layered layered, Base p1, const Packing& packing, int summed_side)
    : model(std::move(layered)),
      base(std::move(p1)),
      packed(model, base, packing),
      summed(summed_side) {
  if (summed != 0 && summed != 1)
    throw InvalidArgument(fmt::format("summed_side = {} (must be 0, even, or 1, odd)", summed));
  for (int l = 0; l < model.layers(); ++l) {
    const double inverse_scale = 1 / static_cast<double>(model.layer(l).unit.state_scale());
    gains.emplace_back((model.bias(l) - base.logits[l]) * inverse_scale);
    stored_logits.emplace_back(base.logits[l] * inverse_scale);
  }
}

const std::shared_ptr<const TemperedModel>& require_model(
    const std::shared_ptr<const TemperedModel>& model) {
  if (!model) throw InvalidArgument("model = null (must be a tempered model)");
  return model;
}

TemperedChains::TemperedChains(std::shared_ptr<const TemperedModel> model, int first_chain,
                               int chains)
    : model_(require_model(model)), first_chain_(first_chain), chains_(model_->model, chains) {
  if (first_chain < 0 || first_chain % kChainBlock != 0)
    throw InvalidArgument(
        fmt::format("first_chain = {} (must be a multiple of {})", first_chain, kChainBlock));
  simd_path();
  const auto blocks = static_cast<std::size_t>(chains_.blocks());
  for (int l = model_->summed; l < chains_.layers(); l += 2)
    inputs_.emplace_back(blocks * block_inputs(model_->packed, l));
  inverse_temperatures_.assign(blocks * kChainBlock, 1.0F);
  kept_slopes_.resize(blocks);
  refresh();
}

std::size_t TemperedChains::inputs_offset(int layer, int block) const {
  return block * block_inputs(model_->packed, layer);
}

void TemperedChains::refresh() {
  for (int l = model_->summed; l < chains_.layers(); l += 2)
    fill_inputs({.model = &model_->packed,
                 .layer = l,
                 .chains = &chains_,
                 .first_block = 0,
                 .last_block = chains_.blocks()},
                inputs_[l / 2].data());
  for (int block = 0; block < chains_.blocks(); ++block) kept_slopes_[block] = kept_slopes(block);
}

void TemperedChains::set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states) {
  chains_.set_layer(layer, states);
  if (layer % 2 != model_->summed) refresh();
}

void TemperedChains::set_model(std::shared_ptr<const TemperedModel> model) {
  if (!chains_.fit(require_model(model)->model) || model->summed != model_->summed)
    throw InvalidArgument(
        "model (must have the layers, sizes, units and summed side of the one before)");
  model_ = std::move(model);
  refresh();
}

void TemperedChains::copy_chain(int chain, const TemperedChains& from, int source) {
  if (from.model_->summed != model_->summed || !from.chains_.fit(model_->packed))
    throw InvalidArgument("from (must be of a model of the same shape, the same side summed out)");
  chains_.require_chain(chain);
  from.chains_.require_chain(source);
  const auto copy = [&](const float* in, float* out, std::size_t units) {
    for (std::size_t u = 0; u < units; ++u)
      out[u * kChainBlock + chain % kChainBlock] = in[u * kChainBlock + source % kChainBlock];
  };
  const int to_block = chain / kChainBlock, from_block = source / kChainBlock;
  for (int l = 0; l < chains_.layers(); ++l) {
    copy(from.chains_.block(l, from_block), chains_.block(l, to_block), chains_.size(l));
    if (l % 2 == model_->summed)
      copy(from.inputs_[l / 2].data() + inputs_offset(l, from_block),
           inputs_[l / 2].data() + inputs_offset(l, to_block),
           block_inputs(model_->packed, l) / kChainBlock);
  }
  kept_slopes_[to_block][chain % kChainBlock] = from.kept_slopes_[from_block][source % kChainBlock];
}

void TemperedChains::sweep(std::span<const float> inverse_temperatures, const Draws& draws,
                           std::uint64_t sweep_number, const Rule& rule) {
  if (inverse_temperatures.size() != static_cast<std::size_t>(chains()))
    throw InvalidArgument(fmt::format("inverse_temperatures = {} values (must be {})",
                                      inverse_temperatures.size(), chains()));
  std::copy(inverse_temperatures.begin(), inverse_temperatures.end(),
            inverse_temperatures_.begin());
  LayerUpdate job{.model = &model_->packed,
                  .chains = &chains_,
                  .first_block = 0,
                  .last_block = chains_.blocks(),
                  .draws = &draws,
                  .sweep = sweep_number,
                  .inverse_temperatures = inverse_temperatures_.data(),
                  .rule = rule,
                  .first_chain = first_chain_};
  for (const int parity : {model_->summed, 1 - model_->summed})
    for (job.layer = parity; job.layer < chains_.layers(); job.layer += 2) {
      job.inputs = parity == model_->summed ? inputs_[job.layer / 2].data() : nullptr;
      update_layer(job);
    }
  refresh();
}

// The part of v alone is b slope + constant:  slope = sum_i v_i (a_i - m_i) + N,
// constant = sum_i v_i m_i - N.
TemperedChains::BlockSums TemperedChains::kept_slopes(int block) const {
  BlockSums sums;
  sums.fill(model_->packed.log_base());
  for (int l = 1 - model_->summed; l < chains_.layers(); l += 2)
    add_linear(model_->gains[l].data(),
               {.units = chains_.size(l), .states = chains_.block(l, block)}, sums.data());
  return sums;
}

TemperedChains::BlockSums TemperedChains::kept_constants(int block) const {
  BlockSums sums;
  sums.fill(-model_->packed.log_base());
  for (int l = 1 - model_->summed; l < chains_.layers(); l += 2) {
    const Eigen::VectorXd& logits = model_->stored_logits[l];
    if (!logits.any()) continue;  // of the uniform base
    add_linear(logits.data(), {.units = chains_.size(l), .states = chains_.block(l, block)},
               sums.data());
  }
  return sums;
}

// The last block's padding is left out.
void TemperedChains::copy_out(int block, const BlockSums& sums, std::span<double> out) const {
  const int first = block * kChainBlock;
  std::copy_n(sums.begin(), std::min(kChainBlock, chains() - first), out.begin() + first);
}

template <class Body>
void TemperedChains::for_summed_layers(int block, const Body& body) const {
  for (int l = model_->summed; l < chains_.layers(); l += 2)
    body(DensityBlock{.unit = chains_.unit(l),
                      .units = chains_.size(l),
                      .chains = std::min(kChainBlock, chains() - block * kChainBlock),
                      .logits = model_->base.logits[l].data(),
                      .states = chains_.block(l, block),
                      .inputs = inputs_[l / 2].data() + inputs_offset(l, block)});
}

void TemperedChains::require_room(std::span<double> out, std::size_t rungs) const {
  const std::size_t needed = static_cast<std::size_t>(chains()) * rungs;
  if (out.size() != needed)
    throw InvalidArgument(fmt::format("out = {} values (must be {})", out.size(), needed));
}

void TemperedChains::log_ratio(std::span<double> out) const {
  require_room(out);
  for (int block = 0; block < chains_.blocks(); ++block) {
    BlockSums sums = kept_slopes_[block];
    for_summed_layers(block, [&](const DensityBlock& summed) { add_joint(summed, sums.data()); });
    copy_out(block, sums, out);
  }
}

void TemperedChains::log_increment(double from, double to, std::span<double> out) const {
  require_room(out);
  for (int block = 0; block < chains_.blocks(); ++block) {
    BlockSums sums = kept_slopes_[block];
    for (double& sum : sums) sum *= to - from;
    for_summed_layers(block, [&](const DensityBlock& summed) {
      add_log_phi_step(summed, from, to, sums.data());
    });
    copy_out(block, sums, out);
  }
}

void TemperedChains::log_densities(std::span<const float> ladder, std::span<double> out) {
  const std::size_t rungs = ladder.size();
  require_room(out, rungs);
  const bool equal = has_simple_summed_layers() && is_equally_spaced(ladder);
  if (equal && (!rung_nodes_ || rung_nodes_->rungs() != static_cast<int>(rungs)))
    rung_nodes_ = std::make_shared<const RungNodes>(static_cast<int>(rungs));
  std::vector<double> sums(rungs * kChainBlock);
  for (int block = 0; block < chains_.blocks(); ++block) {
    BlockSums slope = kept_slopes_[block];
    const BlockSums constant = kept_constants(block);
    if (equal)
      fill_equal_rungs(block, slope, sums);
    else
      fill_any_rungs(block, ladder, sums);
    for (int c = block * kChainBlock; c < std::min(chains(), (block + 1) * kChainBlock); ++c)
      for (std::size_t k = 0; k < rungs; ++k)
        out[c * rungs + k] = sums[k * kChainBlock + c % kChainBlock] + constant[c % kChainBlock] +
                             static_cast<double>(ladder[k]) * slope[c % kChainBlock];
  }
}

bool TemperedChains::has_simple_summed_layers() const {
  for (int l = model_->summed; l < chains_.layers(); l += 2)
    if (!chains_.unit(l).is_two_valued() || model_->base.logits[l].any()) return false;
  return true;
}

// log phi's parts: the peaks go to the slope in b, the rest to `sums`.
void TemperedChains::fill_equal_rungs(int block, BlockSums& slope, std::vector<double>& sums) {
  std::vector<double> at_nodes(rung_nodes_->nodes().size() * kChainBlock, 0.0);
  const double step = 1.0 / (rung_nodes_->rungs() - 1);
  for_summed_layers(block, [&](const DensityBlock& summed) {
    add_log_phi_nodes(summed, step, *rung_nodes_, slope.data(), at_nodes.data());
  });
  fill_rungs(*rung_nodes_, at_nodes.data(), sums.data());
}

void TemperedChains::fill_any_rungs(int block, std::span<const float> ladder,
                                    std::vector<double>& sums) const {
  std::fill(sums.begin(), sums.end(), 0.0);
  for_summed_layers(block, [&](const DensityBlock& summed) {
    for (std::size_t k = 0; k < ladder.size(); ++k)
      add_log_phi(summed, static_cast<double>(ladder[k]), sums.data() + k * kChainBlock);
  });
}

}  // namespace boltzmark
