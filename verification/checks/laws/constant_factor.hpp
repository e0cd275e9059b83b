#pragma once

#include <Eigen/Core>

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Where adaptive simulated tempering with a constant factor settles.
struct ConstantFactorLaw {
  Eigen::MatrixXd joint;  ///< P(x, k) [states x rungs]
  Eigen::VectorXd top;    ///< P(x | b = 1) [states]: not the model's p
  double distance = 0;    ///< its total variation distance from p
  double top_share = 0;   ///< P(b = 1)
  double edge_mass = 0;   ///< at the ends of the lattice that was kept
  double change = 0;      ///< of the law in the last iteration, in L1
};

/// Computes the law of adaptive simulated tempering on two rungs, b = lowest and 1, with own weights
/// and a constant factor: (x, k, log g_1 - log g_2) is a Markov chain on a lattice of step
/// log(1 + gamma), and its law is found by power iteration.   [salakhutdinov2010, Alg. 1, Sec. 5]
/// Throws  InvalidArgument if the model is not enumerable
ConstantFactorLaw constant_factor_law(const Layered& model, float lowest, double gamma);

}  // namespace boltzmark
