#pragma once

#include <cstddef>

#include "experiments/kit/experiment.hpp"

namespace boltzmark::speed {

/// Returns the seconds that a trial sleeps: 0.25 on average, spread by a half.
double sleep_of(int trial);

/// Makes a study whose trials do nothing but sleep, if that, and leave so many bytes.
experiments::Experiment sleepers(int count, std::size_t bytes, bool asleep);

}  // namespace boltzmark::speed
