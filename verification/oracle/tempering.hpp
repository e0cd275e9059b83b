#pragma once

// Simulated tempering on tiny networks, from its definition in long double; it shares no code with
// the library.

#include <vector>

#include "oracle/transition.hpp"

namespace oracle::tempering {

using transition::LongMatrix;
using transition::LongVector;

/// A binary network of two layers, its base p1 (a logit a unit), the inverse temperatures b_k and
/// the weights r_k / Zhat_k.
struct Setting {
  transition::Network network;
  std::vector<Eigen::VectorXd> logits;
  std::vector<double> b;
  std::vector<double> weight;
};

/// Computes f(x)^b_k p1(x)^(1 - b_k) of every joint state and rung, p1 normalised.
LongMatrix densities(const Setting& setting);

/// Computes the same of every visible state: the sum over hidden states.
LongMatrix visible_densities(const Setting& setting);

/// How rungs move given q(b_k | x).
enum class Rung { gibbs, neighbour };

/// Makes the matrix over pairs (x, k), index k * states + x: redraw the rung, then one sweep.
/// x is a joint state, or a visible one that is moved by h ~ p_k(h | v), v' ~ p_k(v' | h).
LongMatrix joint_matrix(const Setting& setting, transition::Law law, long double share, Rung rung);
LongMatrix visible_matrix(const Setting& setting, Rung rung);

/// Computes N Var(mean of N) in the limit, from the autocovariances of a stationary chain:
/// Richardson's step 2 V(2N) - V(N), exact up to the correlation left after N steps.
long double limit_variance(const LongMatrix& matrix, const LongVector& p, const LongVector& f,
                           int steps);

/// Computes N Var(mean of N) of N steps from the autocovariances.
long double variance_of_mean(const LongMatrix& matrix, const LongVector& p, const LongVector& f,
                             int steps);

}  // namespace oracle::tempering
