#pragma once

#include <Eigen/Core>
#include <vector>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

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

}  // namespace boltzmark
