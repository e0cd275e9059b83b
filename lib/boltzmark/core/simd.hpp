#pragma once

#include <string>

namespace boltzmark {

/// Names the SIMD path that every kernel takes in this process: "AVX-512", "AVX2", "SSE4", "NEON",
/// ... The environment variable BOLTZMARK_SIMD (avx512, avx2, sse4) lowers it. Throws
/// InvalidArgument if BOLTZMARK_SIMD names a path that is unknown or that this CPU lacks
const std::string& simd_path();

}  // namespace boltzmark
