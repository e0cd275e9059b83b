#pragma once

#include "boltzmark/io/datasets/solid.hpp"

namespace boltzmark {

/// The generic categories of small NORB, numbered as in its files.
enum class ToyCategory { animal, human, plane, truck, car };

/// A toy: its shape and how much light it gives back.
struct Toy {
  Solid solid;
  float albedo = 0;  ///< in (0, 1]
};

/// Makes one of the toys of `norb-toy`, which stands on z = 0 with its middle on the z axis.
/// Randomness  Philox keyed by (1, "norb-toy", category and instance), Purpose::data: proportions,
/// how limbs are held, what parts there are
Toy make_toy(ToyCategory category, int instance);

}  // namespace boltzmark
