#include "experiments/salakhutdinov2010/support/toy_features.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {
namespace {

void check_units(Eigen::Index given, int wanted) {
  if (given != wanted)
    throw InvalidArgument(fmt::format("units = {} (must be {}, as of the model)", given, wanted));
}

}  // namespace

Eigen::MatrixXf likeliest_features(const Layered& rbm,
                                   const Eigen::Ref<const Eigen::MatrixXf>& cases) {
  if (!rbm.is_rbm() || !rbm.layer(1).unit.is_bernoulli())
    throw InvalidArgument("model (must be an RBM with Bernoulli hidden units)");
  check_units(cases.rows(), rbm.size(0));
  const Eigen::MatrixXf weights = rbm.weights(0).cast<float>();
  const Eigen::VectorXf bias = rbm.bias(1).cast<float>();
  const Eigen::MatrixXf inputs = (weights.transpose() * cases).colwise() + bias;
  return (inputs.array() > 0).cast<float>();
}

Eigen::VectorXd mean_pixels(const Layered& rbm, const std::vector<float>& hidden) {
  if (!rbm.is_rbm() || !rbm.layer(0).unit.has_scale())
    throw InvalidArgument("model (must be an RBM with Gaussian visible units)");
  check_units(static_cast<Eigen::Index>(hidden.size()), rbm.size(1));
  const Eigen::VectorXd states =
      Eigen::Map<const Eigen::VectorXf>(hidden.data(), rbm.size(1)).cast<double>();
  const Eigen::VectorXd inputs = rbm.weights(0) * states;
  return rbm.bias(0).array() + rbm.layer(0).sigma0.array().square() * inputs.array();
}

}  // namespace boltzmark::experiments
