#pragma once

#include <optional>
#include <string_view>

#include "experiments/kit/datasets/norb.hpp"
#include "experiments/kit/datasets/solid.hpp"

namespace boltzmark::experiments {

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

/// Renders `norb-toy`, this project's stand-in for small NORB: its own toys under
/// small NORB's grid of poses, in an order drawn once. It is no NORB, and no result of it is one.
/// Two cameras, 6 degrees apart, look at a turntable from 5 units away; six combinations of four
/// distant lights, with shadows; a pixel is the mean of (64 / side)^2 rays, one at least.
/// Shapes      images uint8 [24300, 2, side, side]
/// Randomness  the order: Philox keyed by (1, "norb-toy"), Purpose::data, stream 0 (test: 1)
/// Invariant   the same bytes on every machine, for any number of threads
/// Throws      InvalidArgument if side < 1
/// Cost        some 10 s of one core at side 32
NorbSet render_norb_toy(bool test, int side);

/// Returns the side of the images that a data set's name asks for: 32 of `norb-toy`, 96 of
/// `norb-toy-96`; nothing of other names.
std::optional<int> norb_toy_side(std::string_view name);

}  // namespace boltzmark::experiments
