// What the tests of phases and of the choice of a base share.
#pragma once

#include "boltzmark/estimate/places/phases.hpp"

namespace phases_test {

using namespace boltzmark;

inline Layered flat(int visible) {
  return Layered::rbm(Eigen::MatrixXd::Zero(visible, 1), Eigen::VectorXd::Zero(visible),
                      Eigen::VectorXd::Zero(1));
}

// Two visible units, parts around (0, 0) and (1, 1), of masses e^a and e^b.
inline Phases two_phases(double a, double b, double error = 0) {
  Phases phases;
  phases.centres = Eigen::MatrixXd::Zero(3, 2);
  phases.centres.col(1).head(2).setOnes();
  phases.scales = Eigen::Vector3d::Ones();
  phases.log_masses = Eigen::Vector2d(a, b);
  phases.errors = Eigen::Vector2d(error, error);
  phases.holds = {false, false};
  phases.by_uniform = phases;
  return phases;
}

}  // namespace phases_test
