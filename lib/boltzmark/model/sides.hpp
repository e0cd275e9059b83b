#pragma once

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Computes log2 of the number of states of the layers of one parity (0 even, 1 odd) from
/// first_layer on; infinity where one of them is not discrete.
double log2_states(const Layered& model, int parity, int first_layer = 0);

/// Returns the parity of the side with fewer states, the odd one when equal: what is enumerated or
/// listed, the other side being summed in closed form.
int smaller_side(const Layered& model, int first_layer = 0);

/// Returns the parity of the side with fewer units, the odd one when equal.
int side_of_fewer_units(const Layered& model);
/// Returns the parity of the side with more units, the odd one when equal.
int larger_side(const Layered& model);

/// Names the layers of one parity for people: "visible", "hidden"; of deeper models "even layers",
/// "odd layers".
const char* side_name(const Layered& model, int parity);

}  // namespace boltzmark
