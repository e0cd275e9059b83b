#pragma once

#include <catch2/catch.hpp>

#include "decide.hpp"

namespace boltzmark::verification {

/// Fails the running test, with the decision's summary, unless it holds.
inline void check(const Decision& decision) {
  INFO(decision.summary);
  CHECK(decision.holds);
}

}  // namespace boltzmark::verification
