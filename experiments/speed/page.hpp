#pragma once

#include <string>

namespace boltzmark::speed {

/// Writes speed.html, with its figures, beside the bench.json of a folder: for each work the best
/// and median times of all contenders and how many times as fast the engine is, and its scaling.
/// Throws  DataError if the file is not Google Benchmark's
void write_page(const std::string& folder);

}  // namespace boltzmark::speed
