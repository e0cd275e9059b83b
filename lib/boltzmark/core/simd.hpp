#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boltzmark {

/// Names the SIMD path that kernels take now: "AVX-512", "AVX2", "SSE4", "NEON", ... It is the best
/// of this CPU but AMX unless the environment variable BOLTZMARK_SIMD (amx, avx512, avx2, sse4)
/// names another. Kernels rely on a call of this before the first of them.
/// Throws  InvalidArgument if BOLTZMARK_SIMD names a path that is unknown or that this CPU lacks
const std::string& simd_path();

/// Lists the paths of this CPU as BOLTZMARK_SIMD takes them, best first.
std::vector<std::string> simd_paths();

/// True if kernels take AVX-512's instructions now, as on the paths AVX-512 and AMX.
bool takes_avx512();

/// True if this CPU runs 512-bit arithmetic as two halves (AMD's Zen 4), so that 256-bit
/// instructions, of which it issues twice as many, keep its units busier.
bool halves_wide_vectors();

/// True if products may take AMX's tiles now, as on the path AMX.
bool takes_tiles();

/// Counts AMX among this CPU's paths although the CPU lacks it, for a process that emulates its
/// instructions, as verification does; false takes that back, when no path is forced.
void set_tiles_emulated(bool emulated);

/// Makes halves_wide_vectors() say what is given while it lives, for verification; not while
/// kernels run.
class ForcedHalves {
 public:
  explicit ForcedHalves(bool halves);
  ~ForcedHalves();
  ForcedHalves(const ForcedHalves&) = delete;
  ForcedHalves& operator=(const ForcedHalves&) = delete;

 private:
  bool before_;
};

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
