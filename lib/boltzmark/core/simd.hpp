#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boltzmark {

/// Names the SIMD path that kernels take now: "AVX-512", "AVX2", "SSE4", "NEON", ... It is the best
/// of this CPU unless the environment variable BOLTZMARK_SIMD (avx512, avx2, sse4) lowers it.
/// Kernels rely on a call of this before the first of them.
/// Throws  InvalidArgument if BOLTZMARK_SIMD names a path that is unknown or that this CPU lacks
const std::string& simd_path();

/// Lists the paths of this CPU as BOLTZMARK_SIMD takes them, best first.
std::vector<std::string> simd_paths();

/// Makes every kernel take another path while it lives, for verification; not while kernels run.
class ForcedSimdPath {
 public:
  /// Throws  InvalidArgument if the key is none of simd_paths()
  explicit ForcedSimdPath(std::string_view key);
  ~ForcedSimdPath();
  ForcedSimdPath(const ForcedSimdPath&) = delete;
  ForcedSimdPath& operator=(const ForcedSimdPath&) = delete;

 private:
  std::string before_;
};

}  // namespace boltzmark
