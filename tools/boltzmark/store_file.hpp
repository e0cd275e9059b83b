#pragma once

#include <string>

#include "boltzmark/sample/sample_store.hpp"

namespace boltzmark::cli {

/// Writes a sample store as .npz: float64 D and int32 rung [sweeps, chains]; beta, log_prior and
/// log_z_hat [rungs]; log_f [sweeps, chains, rungs] if collapsed densities were kept; random_rungs.
/// Throws  DataError naming the file
void save_store(const SampleStore& store, const std::string& path);

/// Reads what save_store wrote; every array is checked.
/// Throws  DataError naming the file
SampleStore load_store(const std::string& path);

}  // namespace boltzmark::cli
