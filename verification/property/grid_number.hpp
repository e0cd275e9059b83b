#pragma once

#include <rapidcheck.h>

/// Draws a multiple of 2^-8 with |value| <= 100, zero one time in five: sums of such numbers are
/// exact in double, so that identities, and two writings of one model, agree to the bit.
inline double grid_number() {
  if (*rc::gen::inRange(0, 5) == 0) return 0;
  return *rc::gen::inRange(-25600, 25601) / 256.0;
}
