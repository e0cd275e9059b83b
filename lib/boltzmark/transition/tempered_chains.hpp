#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

class RungNodes;

/// A model and its base, packed for sweeps at any inverse temperature, and which of its two sides a
/// marginal density sums out.
struct TemperedModel {
  /// Throws  InvalidArgument if shapes differ, a layer is Gaussian or the side is not 0 or 1
  TemperedModel(Layered layered, Base p1, const Packing& packing = {}, int summed_side = 1);

  Layered model;
  Base base;
  PackedModel packed;
  int summed;  ///< the parity of its layers: 1 the odd (hidden of an RBM), 0 the even ones
  std::vector<Eigen::VectorXd> gains;  ///< per layer: biases less base logits, over state_scale
  std::vector<Eigen::VectorXd> stored_logits;  ///< per layer: base logits over state_scale
};

/// Returns the model.  Throws  InvalidArgument if it is null
const std::shared_ptr<const TemperedModel>& require_model(
    const std::shared_ptr<const TemperedModel>& model);

/// Chains moved by one thread, each at its own inverse temperature. They keep the inputs of the
/// summed side's units (an RBM's hidden ones) given the other side v, x = bias + W' v, and that
/// side's own part of D: one matrix product serves the next update of the summed side, D, and every
/// density of v.
///   log f_b = b log f + (1 - b) log p1
///   log f_b(v) = sum_i v_i (b a_i + (1-b) m_i) + sum_j log phi(b x_j + (1-b) l_j) - (1-b) N
/// with a, m the biases and base logits of v's units, l those of the summed ones, and log phi the
/// summed units' log_partition (softplus of Bernoulli units).
/// Accuracy  inputs are sequential float32 sums, all else double: about 1e-5 nats at 784x500
class TemperedChains {
 public:
  /// Makes chains with every unit at its lowest value; chain c draws as chain first_chain + c.
  /// Throws  InvalidArgument if the model is null, chains < 1 or first_chain is no multiple of kChainBlock
  TemperedChains(std::shared_ptr<const TemperedModel> model, int first_chain, int chains);

  int chains() const { return chains_.chains(); }
  const TemperedModel& model() const { return *model_; }
  const Chains& states() const { return chains_; }

  /// Replaces a layer's states.  Shapes  states [units x chains], values of the units
  void set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states);
  /// Goes on with other parameters; the states stay.
  /// Throws  InvalidArgument if the model is null, or layers, sizes, units or the summed side differ
  void set_model(std::shared_ptr<const TemperedModel> model);
  /// Copies one chain's states and inputs from another group of the same model.
  void copy_chain(int chain, const TemperedChains& from, int source);

  /// Makes one sweep of a rule, the summed side first; p T = p for f_b of each chain's own b.
  ///
  /// Under Gibbs the summed side is drawn exactly from its law given v, and a sweep is a kernel of
  /// the marginal f_b(v) too. Another rule leaves the summed side a memory of its own: it serves
  /// joint states, and would bias what weighs or moves by log f_b(v), as AIS, RAISE,
  /// SMC and collapsed states do.
  ///
  /// Shapes  inverse_temperatures [chains]     Randomness  one draw per unit, chain and sweep
  void sweep(std::span<const float> inverse_temperatures, const Draws& draws,
             std::uint64_t sweep_number, const Rule& rule = Rule::gibbs());

  /// Writes D(x) = log f(x) - log p1(x) of the joint states.  Shapes  [chains]
  /// Throws  InvalidArgument, as those below, if out is of another size
  void log_ratio(std::span<double> out) const;
  /// Writes log f_to(v) - log f_from(v).  Shapes  [chains]
  void log_increment(double from, double to, std::span<double> out) const;
  /// Writes log f_b(v) for every b of `ladder`.  Shapes  [chains x rungs]
  /// Cost  if the rungs are equally spaced, the summed units two-valued and their logits zero, an
  /// exponential, the powers of the longest jump, and two instructions a node for every unit
  /// (RungNodes; on up to 5,000 rungs their interpolation adds 1e-10 nats a unit at most);
  /// otherwise an exponential or two a unit and rung
  void log_densities(std::span<const float> ladder, std::span<double> out);

 private:
  void require_room(std::span<double> out, std::size_t rungs = 1) const;
  std::size_t inputs_offset(int layer, int block) const;
  using BlockSums = std::array<double, kChainBlock>;
  void refresh();
  BlockSums kept_slopes(int block) const;
  BlockSums kept_constants(int block) const;
  void copy_out(int block, const BlockSums& sums, std::span<double> out) const;
  template <class Body>
  void for_summed_layers(int block, const Body& body) const;
  bool has_simple_summed_layers() const;
  void fill_equal_rungs(int block, BlockSums& slope, std::vector<double>& sums);
  void fill_any_rungs(int block, std::span<const float> ladder, std::vector<double>& sums) const;

  std::shared_ptr<const TemperedModel> model_;
  int first_chain_;
  Chains chains_;
  /// Per summed layer [blocks][padded units][kChainBlock].
  std::vector<std::vector<float>> inputs_;
  std::vector<BlockSums> kept_slopes_;           ///< per block: d/db of log f_b's part of v alone
  std::vector<float> inverse_temperatures_;      ///< padded to whole blocks
  std::shared_ptr<const RungNodes> rung_nodes_;  ///< of the ladder that was asked for last
};

}  // namespace boltzmark
