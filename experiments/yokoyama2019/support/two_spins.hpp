#pragma once

#include "boltzmark/model/unit.hpp"

namespace boltzmark::experiments {

/// The paper's toy: two visible spins, hidden units of one kind, one weight w for every pair.
///   P(v1, v2 | w) = (1 + alpha(w) v1 v2) / 4,  data with <v1 v2> = beta and means 0
///                                                            [yokoyama2019, Eqs. 17-21]
struct TwoSpins {
  Unit hidden_unit = Unit::multivalued(1);
  int hidden = 2;
  double beta = 0.6;

  /// Computes the model's correlation of the spins.                                     [Eq. 19]
  double alpha(double w) const;
  /// Computes the mean log-likelihood.  Units  nats                                     [Eq. 21]
  double log_likelihood(double w) const;
  /// Computes its derivative: (beta - alpha) |H| psi(2 w).
  double gradient(double w) const;
  /// Finds w* > 0, where alpha(w*) = beta and the log-likelihood has its maximum.
  /// Accuracy  a few ulp
  double maximum() const;
  /// Computes -l''(w*) = (1 - beta^2) |H|^2 psi(2 w*)^2.
  double sharpness() const;
  /// Counts the steps w <- w + rate l'(w) until w is within a share of w*.
  int ascent_steps(double start, double rate, double share) const;
};

/// Makes the toy of X(s), or with s = 0 that of continuous hidden units.
TwoSpins two_spins(int s);

}  // namespace boltzmark::experiments
