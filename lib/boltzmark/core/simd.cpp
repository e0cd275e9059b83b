#include "boltzmark/core/simd.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "boltzmark/core/error.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boltzmark/core/simd.cpp"
#include <hwy/foreach_target.h>
// Highway wants its own header after foreach_target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace boltzmark::HWY_NAMESPACE {
std::int64_t target() { return HWY_TARGET; }
}  // namespace boltzmark::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace boltzmark {
namespace {

HWY_EXPORT(target);

struct Path {
  std::int64_t target;
  std::string key;   // as BOLTZMARK_SIMD takes it
  std::string name;  // as reports show it
};

// Best first.
const std::vector<Path>& all_paths() {
  static const std::vector<Path> all {
#if HWY_ARCH_X86
    {HWY_AVX3, "avx512", "AVX-512"}, {HWY_AVX2, "avx2", "AVX2"}, {HWY_SSE4, "sse4", "SSE4"},
#else
    {HWY_STATIC_TARGET, "static", hwy::TargetName(HWY_STATIC_TARGET)},
#endif
  };
  return all;
}

// What this CPU has of what was compiled; asked once, before any path is forced.
std::int64_t supported_targets() {
  static const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets;
}

/// Makes every dispatched call take these targets' best: in Highway a lower bit is a better target.
void take(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(
      targets);  // else a later SupportedTargets() chooses the best again
  hwy::GetChosenTarget().Update(targets);
}

std::int64_t targets_of(std::string_view key, std::string_view source) {
  std::string known;
  for (const Path& path : all_paths()) {
    if ((path.target & supported_targets()) == 0) continue;
    if (path.key == key) return supported_targets() & ~(path.target - 1);
    known += (known.empty() ? "" : ", ") + path.key;
  }
  throw InvalidArgument(fmt::format("{} = {} (must be one of {})", source, key, known));
}

void choose_once() {
  static const bool chosen = [] {
    const char* wanted = std::getenv("BOLTZMARK_SIMD");
    const bool given = wanted != nullptr && *wanted != '\0';
    take(given ? targets_of(wanted, "BOLTZMARK_SIMD") : supported_targets());
    return true;
  }();
  static_cast<void>(chosen);
}

const Path& path_taken() {
  choose_once();
  const std::int64_t target = HWY_DYNAMIC_DISPATCH(target)();  // what a kernel gets
  for (const Path& path : all_paths())
    if (path.target == target) return path;
  return all_paths().back();
}

}  // namespace

const std::string& simd_path() { return path_taken().name; }

std::vector<std::string> simd_paths() {
  std::vector<std::string> keys;
  for (const Path& path : all_paths())
    if ((path.target & supported_targets()) != 0) keys.push_back(path.key);
  return keys;
}

ForcedSimdPath::ForcedSimdPath(std::string_view key) : before_(path_taken().key) {
  take(targets_of(key, "SIMD path"));
}

ForcedSimdPath::~ForcedSimdPath() { take(targets_of(before_, "SIMD path")); }

}  // namespace boltzmark
#endif
