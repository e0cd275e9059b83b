#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/core/aligned.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// The top half of a float32: its sign, exponent and first 8 significant bits.
using Bfloat16 = std::uint16_t;

/// How a packed model will be used, which decides its form.
struct Packing {
  int chains = 1;            ///< that are swept together
  std::uint64_t sweeps = 1;  ///< of the same parameters
  bool values = true;        ///< every state is a value of its unit; else means may be among them
};

/// A model laid out for the block sweep: float32 weights, both directions of each, over the
/// state_scale of the neighbour they come from, in a form that suits its use.
///   products  panels of weights times the states of a block of chains
///   tables    for many sweeps of many chains on a CPU with AVX-512: sums of the weights of four
///             two-valued units in each of their joint states
///   fresh_tables  the panels of products, from which each panel's tables are made whenever it is
///             read: for few sweeps of many chains, and where tables would not fit a cache
///   tiles     instead of tables where AMX is taken, and of neighbours of up to 257 values, whose
///             states are exact in bf16: weights in three bf16 parts
///   rows      for many sweeps of a few chains: sums of a chain's states times a neighbour's whole
///             row of weights, where the state is not 0; the same bytes as products
/// Cost  about one pass over the weights, with tables eight, with tiles three; pack again after the
/// model changes
class PackedModel {
 public:
  /// Throws  InvalidArgument if two layers that meet are Gaussian, whose density need have no
  /// integral, or a parameter is outside the range of float32
  explicit PackedModel(const Layered& model, const Packing& packing = {});
  /// Packs what tempering needs as well.  Throws  InvalidArgument also as require_temperable
  PackedModel(const Layered& model, const Base& base, const Packing& packing = {});

  /// Packs other parameters of a model of the same shape; the base stays.
  /// Throws  InvalidArgument if shapes differ or a parameter is outside the range of float32
  void update(const Layered& model);

  /// Tells whether states may be means, for which it was packed with values = false.
  bool takes_means() const { return takes_means_; }

  int layers() const { return static_cast<int>(layers_.size()); }
  int size(int layer) const { return layers_[layer].size; }

  /// One neighbour's weights into a layer: [panel][neighbour unit][unit in panel], zero-padded.
  struct Coupling {
    int neighbour = 0;
    int neighbour_size = 0;
    /// products, fresh_tables  [panel][neighbour][unit in panel]
    /// tables    [panel][group of kTableUnits neighbours][unit in panel][kTableEntries]
    /// rows      [neighbour][units padded to whole row strides]
    AlignedVector<float> weights = {};
    /// tiles     [stripe of kTileUnits][tile][part][unit in stripe][neighbour in tile]
    AlignedVector<Bfloat16> tiles = {};
  };
  enum class Form { products, tables, fresh_tables, tiles, rows };
  struct PackedLayer {
    int size = 0;
    Unit unit = Unit::bernoulli();
    std::vector<float> bias;          ///< padded to row_stride; a / sigma^2 of Gaussian units
    std::vector<float> scale;         ///< padded likewise: sigma of Gaussian units, 1 of others
    std::vector<float> base_logit;    ///< padded to row_stride
    std::vector<Coupling> couplings;  ///< the layer below first
    Form form = Form::products;       ///< of all its couplings
  };
  const PackedLayer& layer(int l) const { return layers_[l]; }
  /// Returns N of the base, log p1(x) = sum_l logits_l . x_l - N.
  double log_base() const { return log_base_; }

 private:
  std::vector<PackedLayer> layers_;
  double log_base_ = 0;
  bool takes_means_ = false;
};

/// Computes how far float32 may round what a unit is drawn by: half a unit in the last place of the largest input
/// there may be, with Gaussian neighbours within six standard deviations; of a Gaussian unit, of its mean.
/// Units  nats; of Gaussian units standard deviations
double input_rounding(const Layered& model);
/// More of it than this may draw another law than the model's.
inline constexpr double kMostRounding = 0.1;

/// What a sweep needs beside the model and the states.
struct SweepOptions {
  Rule rule = Rule::gibbs();
  std::span<const float> inverse_temperatures = {};  ///< one per chain; empty: 1 for all
  std::uint64_t first_sweep = 0;                     ///< counter of the first sweep's draws
  int sweeps = 1;
};

/// Updates every unit of every chain, odd (hidden) layers first, `sweeps` times: T = T_h T_v.
///   log f_b = b log f + (1 - b) log p1 with each chain's own b
/// Randomness  one draw per unit, chain and sweep. With t_k = round(2^32 P(next >= k-th value)) the
///   k-th value is next, k the number of t_k > draw; continuous and Gaussian:
///   F^-1(1 - (draw + 1/2) / 2^32), of the latter by any rule, F being N(a + sigma^2 W h, sigma^2)
/// Invariant   the same draws give the same states for any number of threads
/// Throws      InvalidArgument if shapes or the rule's units do not fit, a b is outside [0, 1], or
///   there are b where a layer is Gaussian
void sweep(const PackedModel& model, Chains& chains, const Draws& draws,
           const SweepOptions& options);

/// Updates one side only: parity 1 the odd layers (T_h), parity 0 the even ones (T_v). Uses
/// options.first_sweep.
void half_sweep(const PackedModel& model, Chains& chains, const Draws& draws,
                const SweepOptions& options, int parity);

/// Computes the inputs of a layer's units, bias included (a / sigma^2 of Gaussian units), before
/// tempering. If a neighbour may hold
/// means, the model must be packed with values = false: tables see whether a state is above 0 only,
/// tiles its first 8 significant bits.
/// Shapes  inputs [blocks][units padded to whole panels][kChainBlock], made to fit
/// Throws  InvalidArgument if shapes differ or there is no such layer
void fill_inputs(const PackedModel& model, const Chains& chains, int layer,
                 std::vector<float>& inputs);

/// Returns the same.  Shapes  [units x chains]
Eigen::MatrixXd layer_inputs(const PackedModel& model, const Chains& chains, int layer);

/// The inputs of all layers of one side.
struct SideInputs {
  int parity = 1;                               ///< 1 the odd layers, 0 the even ones
  std::vector<std::vector<float>> layers = {};  ///< lowest first, each as fill_inputs makes it
};

/// Computes the inputs of the layers of inputs.parity, as above.
/// Throws  InvalidArgument also if the parity is neither 0 nor 1
void fill_inputs(const PackedModel& model, const Chains& chains, SideInputs& inputs);

/// Makes the same sweeps and leaves the inputs by which the even layers are drawn last: those that
/// they still have after it, by which log_ratio needs no product.
void sweep(const PackedModel& model, Chains& chains, const Draws& draws,
           const SweepOptions& options, SideInputs& even_inputs);

/// Updates one layer given its inputs, as half_sweep does.
/// Throws  InvalidArgument as sweep, or if the inputs are not of fill_inputs' size
void draw_layer(const PackedModel& model, Chains& chains, const Draws& draws,
                const SweepOptions& options, int layer, std::span<const float> inputs);

/// Replaces one layer's states by their means given the neighbours at inverse temperature 1:
/// p(unit on) of a Bernoulli unit, psi_s(x) of X(s), psi_inf(x) [yokoyama2019, Eq. 14], sigma^2 x
/// of Gaussian ones.
/// The inputs are those of fill_inputs if they are known; empty: they are computed.
/// Accuracy  2^-20, of inputs as exact as float32
void set_means(const PackedModel& model, Chains& chains, int layer,
               std::span<const float> inputs = {});

}  // namespace boltzmark
