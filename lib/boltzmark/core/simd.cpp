#include "boltzmark/core/simd.hpp"

#include <fmt/format.h>
#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

struct Path {
  std::int64_t target;
  std::string_view key;   // as BOLTZMARK_SIMD takes it
  std::string_view name;  // as reports show it
};

#if HWY_ARCH_X86
constexpr std::array kPaths = {Path{HWY_AVX3, "avx512", "AVX-512"}, Path{HWY_AVX2, "avx2", "AVX2"},
                               Path{HWY_SSE4, "sse4", "SSE4"}};
#else
constexpr std::array kPaths = {Path{HWY_STATIC_TARGET, "static", "static"}};
#endif

std::string best_path() {
  // In Highway a lower bit is a better target.
  const std::int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  const std::int64_t best = supported & -supported;
  for (const Path& path : kPaths)
    if (path.target == best) return std::string(path.name);
  return hwy::TargetName(best);
}

std::string choose_path() {
  if (const char* wanted = std::getenv("BOLTZMARK_SIMD"); wanted != nullptr && *wanted != '\0') {
    std::int64_t target = 0;
    for (const Path& path : kPaths)
      if (path.key == wanted) target = path.target;
    if ((target & hwy::SupportedTargets() & HWY_TARGETS) == 0) {
      std::string known;
      for (const Path& path : kPaths)
        if ((path.target & hwy::SupportedTargets() & HWY_TARGETS) != 0)
          known += fmt::format("{}{}", known.empty() ? "" : ", ", path.key);
      throw InvalidArgument(fmt::format("BOLTZMARK_SIMD = {} (must be one of {})", wanted, known));
    }
    hwy::DisableTargets(target - 1);
  }
  // Fixes the choice before the first kernel runs.
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return best_path();
}

}  // namespace

const std::string& simd_path() {
  static const std::string path = choose_path();
  return path;
}

}  // namespace boltzmark
