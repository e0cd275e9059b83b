#pragma once

#include <cstddef>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// Bounds how far a recovered tail may lie from the double law's, from the rounding of the float32
/// path: parameters, the sum over neighbours, tempering, exp, division and the threshold.
struct DecisionBound {
  double input = 0;  ///< the exact input of the tempered unit
  double input_error = 0;
  std::vector<double> tails;    ///< of the double law, k = 1..values - 1 at k - 1
  std::vector<double> errors;   ///< bounds on |recovered - tails|; where sign_is_certain
  bool sign_is_certain = true;  ///< false where rounding may move the input across a tie
};
DecisionBound decision_bound(const Layered& model, const Base& base, const Rule& rule,
                             float inverse_temperature, const StateSpace& space, int unit,
                             std::size_t state);

}  // namespace boltzmark
