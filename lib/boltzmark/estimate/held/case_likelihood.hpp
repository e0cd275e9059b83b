#pragma once

#include <Eigen/Core>
#include <string_view>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Returns the law of the hidden layers of a deep model given v, up to its normalisation, as a model
/// of these layers: the bias of the first is b_1 + W_0' v, so that
///   log f(v) = a' v + log Z of it
/// Shapes  visible [visible]
/// Throws  InvalidArgument if shapes differ, a value is outside its unit's, the model is an RBM, whose log f(v) has a closed form,
///   or one of its lowest two layers is Gaussian, whose bias is a mean
Layered hidden_layers_given(const Layered& model, const Eigen::Ref<const Eigen::VectorXd>& visible);

/// Estimates log f(v) of one case by any method that estimates log Z, over the hidden layers given
/// v from a uniform base.                                            [salakhutdinov2010, Sec. 8.1]
/// Returns  log f(v) for log Z, errors and status as the method's, held to all that is found beside it as any
///   estimate of log Z is (hold_to_found), as one of so many together
/// Randomness  settings.key; the searches have keys of their own of it
/// Throws   as hidden_layers_given and estimate_log_z
/// Cost     the method's, and held_sweeps of one chain at most
Estimate estimate_log_f(std::string_view method, const Layered& model,
                        const Eigen::Ref<const Eigen::VectorXd>& visible,
                        const MethodSettings& settings, int together = 1);

}  // namespace boltzmark
