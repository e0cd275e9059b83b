#pragma once

#include "boltzmark/model/unit.hpp"

namespace boltzmark {

/// Computes the value of a unit that a uniform number in (0, 1) stands for, its law being proportional to
/// e^{input x}.
/// Invariant  the unit is not Gaussian
double value_at(Unit unit, double input, double uniform);

}  // namespace boltzmark
