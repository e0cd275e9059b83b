#pragma once

#include <Eigen/Core>
#include <cmath>

#include "boltzmark/estimate/held/hold_to_switches.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/sample/estimate.hpp"

namespace gates {

using namespace boltzmark;

inline constexpr int kGates = 8, kPatch = 12, kWeak = 3;
inline constexpr double kOn = 0.04;  // times the mass of off

// Hidden units that each hold a patch of their own, by weights that chains do not cross, at e^-3.2 of its mass
// without; the last patch is of weak units. Z is the product of the patches'.
inline Layered gates_model() {
  const int visible = (kGates + 1) * kPatch;
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(visible, kGates + kWeak);
  Eigen::VectorXd c = Eigen::VectorXd::Zero(kGates + kWeak);
  for (int j = 0; j < kGates; ++j)
    for (int i = 0; i < kPatch; ++i) {
      const double weight = (i + j) % 2 == 0 ? 8 : -8;
      w(j * kPatch + i, j) = weight;
      c[j] -= std::log1p(std::exp(weight)) - std::log(2);
    }
  c.head(kGates).array() += std::log(kOn);
  for (int i = 0; i < kPatch; ++i)
    for (int j = 0; j < kWeak; ++j)
      w(kGates * kPatch + i, kGates + j) = 0.3 * std::sin(1 + 5 * i + 7 * j);
  return Layered::rbm(w, Eigen::VectorXd::Zero(visible), c);
}

/// An estimate that nothing is held against.
inline Estimate ok_estimate() {
  return {.log_z = 5, .std_error = 0.01, .lower = 4.98, .upper = 5.02, .effective_samples = 100};
}

/// Tells whether what switches tell to be missing refuses an estimate that is ok otherwise.
inline bool refuses(const Switches& found) {
  Estimate estimate = ok_estimate();
  hold_to_switches(found, 0, estimate);
  return estimate.status == Status::not_converged;
}

}  // namespace gates
