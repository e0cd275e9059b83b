#include "experiments/yokoyama2019/support/spin_law.hpp"

#include <cmath>

#include "boltzmark/learn/classes/class_kernel.hpp"

namespace boltzmark::experiments {

Eigen::MatrixXd spin_states(int n) {
  Eigen::MatrixXd states(n, Eigen::Index{1} << n);
  for (Eigen::Index x = 0; x < states.cols(); ++x)
    for (int i = 0; i < n; ++i) states(i, x) = (x >> i & 1) != 0 ? 1 : -1;
  return states;
}

Eigen::VectorXd log_spin_law(const Layered& model) {
  return log_spin_law(model, spin_states(model.size(0)), nullptr);
}

Eigen::VectorXd log_spin_law(const Layered& model, const Eigen::MatrixXd& states,
                             Eigen::MatrixXd* psi) {
  if (psi != nullptr) psi->resize(model.size(1), states.cols());
  const Eigen::MatrixXd inputs = model.weights(0).transpose() * states;
  Eigen::VectorXd log_p = states.transpose() * model.bias(0);
  for (Eigen::Index x = 0; x < log_p.size(); ++x)
    log_p[x] += log_phi_sum(model.layer(1).unit, inputs.col(x).data(), model.bias(1).data(),
                            static_cast<std::size_t>(model.size(1)),
                            psi == nullptr ? nullptr : psi->col(x).data());
  const double highest = log_p.maxCoeff();
  log_p.array() -= highest + std::log((log_p.array() - highest).exp().sum());
  return log_p;
}

}  // namespace boltzmark::experiments
