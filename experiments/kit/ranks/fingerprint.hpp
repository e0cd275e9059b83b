#pragma once

#include <string>

namespace boltzmark::experiments {

/// Hashes what this machine makes of arithmetic whose last bits differ between C libraries and
/// CPUs: 300 values of exp, log, log1p, tanh, erf and pow, and a small sweep of each rule.
/// Machines with one fingerprint, build and SIMD path give a trial the same outputs.
std::string numeric_fingerprint();

}  // namespace boltzmark::experiments
