#pragma once

#include <string>

#include "experiments/speed/numpy_facts.hpp"

namespace boltzmark::speed {

/// Tells whether there is a Python with NumPy.
bool has_numpy();

/// Asks NumPy what it is, with this many BLAS threads; NumPy must be there.
NumpyFacts numpy_facts(int threads);

/// Does a line of numpy_baseline.py in a process that stays, with this many BLAS threads, and
/// returns the seconds it took.  Throws  Error if the process ends
double time_numpy(const std::string& line, int threads);

}  // namespace boltzmark::speed
