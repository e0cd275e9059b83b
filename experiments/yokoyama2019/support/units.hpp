#pragma once

#include <string>

#include "boltzmark/model/unit.hpp"

namespace boltzmark::experiments {

/// The s of the paper's figures; 0 stands for infinity, so that inputs of trials are integers.
inline constexpr int kFigureSteps[] = {1, 2, 4, 0};

/// Makes the hidden units of s; 0: continuous ones.
inline Unit unit_of_steps(int s) { return s == 0 ? Unit::continuous() : Unit::multivalued(s); }

/// Writes s for people: "4", "∞".
inline std::string steps_text(int s) { return s == 0 ? "∞" : std::to_string(s); }

}  // namespace boltzmark::experiments
