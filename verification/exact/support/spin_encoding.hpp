#pragma once

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// A model whose layers of spins X(1) are written as Bernoulli layers.
struct BernoulliForm {
  Layered model;
  double log_constant = 0;  ///< log f(x) of the spins less log f(y) of their Bernoulli units
};

/// Changes the variables of every layer of spins to y = (x + 1) / 2 in {0, 1}; other layers stay.
///   With x_l = s_l y_l + t_l, (s, t) = (2, -1) for spins and (1, 0) for others,
///   W'_l = s_l s_{l+1} W_l,   a'_l = s_l (a_l + t_{l+1} W_l 1 + t_{l-1} W_{l-1}' 1),
///   log f(x) = log f'(y) + sum_l t_l a_l . 1 + sum_l t_l t_{l+1} 1' W_l 1
/// A spin's two values have the reference weight 2/(1+1) = 1, so log Z = log Z' + log_constant.
/// Throws  InvalidArgument if a layer is Gaussian
BernoulliForm to_bernoulli(const Layered& spins);

/// Carries a gradient by the parameters of to_bernoulli(spins).model back to those of `spins`, by
/// the chain rule:
///   dW_l = s_l s_{l+1} dW'_l + s_l t_{l+1} da'_l 1' + t_l s_{l+1} 1 da'_{l+1}',   da_l = s_l da'_l
/// A gradient of log Z' (or of a mean of log f') lacks the constant's share, which is the same in
/// both and cancels in gradients of log-likelihoods.
/// Throws  InvalidArgument if shapes differ or a layer is Gaussian
Parameters spin_gradient(const Layered& spins, const Parameters& bernoulli_gradient);

}  // namespace boltzmark
