#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/model/unit.hpp"

// What the library was compiled with: Eigen's matrices are freed as they were allocated, by either side.
static_assert(
    EIGEN_MAX_ALIGN_BYTES == 16,
    "Eigen must align to 16 bytes: link boltzmark::boltzmark, or define EIGEN_MAX_ALIGN_BYTES=16");

namespace boltzmark {

/// What a gradient or an optimiser's state holds: one array per parameter of a model.
struct Parameters {
  std::vector<Eigen::MatrixXd> weights;  ///< Layered: W_l [units of l x units of l+1]
  std::vector<Eigen::VectorXd> biases;   ///< Layered: [units of l]
};

/// Tells whether two have the same arrays in number and shape.
bool same_shapes(const Parameters& a, const Parameters& b);

/// Bounds every |value| of the arrays from above; NaN or infinity if one is not finite.
/// The 2-norm serves because it is one vectorised pass and swallows no NaN.
double magnitude(const Parameters& parameters);

/// Sets every entry to 0.
void set_zero(Parameters& parameters);
/// Sets x <- scale x + rate y in every entry, of equal shapes.
void combine(double scale, Parameters& x, double rate, const Parameters& y);

/// Write all entries, and read them back into arrays of the same shapes.
void write_parameters(const Parameters& parameters, CheckpointWriter& out);
void read_parameters(Parameters& parameters, CheckpointReader& in);

/// One layer: the kind of its units, their biases and, for Gaussian units, their scales.
struct Layer {
  Unit unit = Unit::bernoulli();
  Eigen::VectorXd bias;    ///< [units]
  Eigen::VectorXd sigma0;  ///< [units], Gaussian layers only; empty otherwise
};

/// Computes what a layer's own parameters add to the energy of its values x.
///   -a . x; of units with scales sum_i (x_i - a_i)^2 / (2 sigma_i^2)
/// Units  nats     Shapes  x [units]
double own_energy(const Layer& layer, const Eigen::Ref<const Eigen::VectorXd>& x);

/// A layered Boltzmann machine: RBM, DBM of any depth, multivalued and Gaussian-Bernoulli RBM.
///   E(x) = -sum_l a_l . x_l - sum_l x_l' W_l x_{l+1}; for a Gaussian layer
///   sum_i (x_i - a_i)^2 / (2 sigma_i^2) replaces -a . x
/// Even layers are independent given the odd ones, and the reverse. Layer 0 is the visible layer.
/// Invariant  two layers or more, none empty, all parameters finite, scales positive, shapes
/// agreeing
class Layered {
 public:
  static constexpr int kMostLayers = 64;  ///< whose draws have numbers of their own (Purpose)

  /// Shapes  weights[l] [size(l) x size(l+1)], layers.size() = weights.size() + 1
  /// Throws  InvalidArgument if the invariant does not hold, or there are more than kMostLayers
  Layered(std::vector<Layer> layers, std::vector<Eigen::MatrixXd> weights);

  /// Makes a binary RBM.  Shapes  weights [visible x hidden], visible_bias [visible], hidden_bias
  /// [hidden]
  static Layered rbm(Eigen::MatrixXd weights, Eigen::VectorXd visible_bias,
                     Eigen::VectorXd hidden_bias);

  int layers() const { return static_cast<int>(layers_.size()); }
  int size(int layer) const { return static_cast<int>(layers_[layer].bias.size()); }
  int units() const;
  const Layer& layer(int l) const { return layers_[l]; }
  const Eigen::VectorXd& bias(int l) const { return layers_[l].bias; }
  const Eigen::MatrixXd& weights(int l) const { return weights_[l]; }
  const std::vector<Eigen::MatrixXd>& weights() const { return weights_; }

  bool is_rbm() const { return layers() == 2; }
  bool is_binary() const;    ///< every unit is Bernoulli
  bool is_discrete() const;  ///< every unit has finitely many values
  bool has_scales() const;   ///< some units have a scale of their own: a layer is Gaussian

  /// Adds rate * direction to every parameter.
  /// Cost  one pass over the direction and one over both
  /// Throws  InvalidArgument if shapes differ; Error if a parameter would stop being finite (model
  /// unchanged)
  void add(const Parameters& direction, double rate);

  /// Makes parameters of this model's shapes, all zero.
  Parameters zero_parameters() const;

 private:
  double largest() const;
  void check_sum(const Parameters& direction, double rate) const;

  std::vector<Layer> layers_;
  std::vector<Eigen::MatrixXd> weights_;
  double bound_ = 0;  ///< no parameter's magnitude is above it; see add
};

/// The state of one chain: a vector of values per layer.
using State = std::vector<Eigen::VectorXd>;

/// Computes E(x).  Units  nats     Throws  InvalidArgument if the shapes of the state differ from
/// the model's
double energy(const Layered& model, const State& state);

/// The log Z of a model as it is known, for what estimates it to be held to.
struct KnownLogZ {
  double log_z = 0;     ///< nats
  double error = 0;     ///< |log_z - true| is at most this; NaN: not told
  std::string by = {};  ///< how it is known: "enumeration", "Kaufman's formula"; or not told
};

}  // namespace boltzmark
