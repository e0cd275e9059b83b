#pragma once

#include <string>

namespace boltzmark::speed {

/// Tells whether there is a Python with NumPy.
bool has_numpy();

/// Names NumPy's version and its BLAS as it reports them, or "not installed".
std::string numpy_version();

/// Does a line of numpy_baseline.py in a process that stays, with this many BLAS threads, and
/// returns the seconds it took.  Throws  Error if the process ends
double time_numpy(const std::string& line, int threads);

}  // namespace boltzmark::speed
