#include "boltzmark/core/simd.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

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
  std::string key;     // as BOLTZMARK_SIMD takes it
  std::string name;    // as reports show it
  bool tiles = false;  // products by AMX
};

// Best first.
const std::vector<Path>& all_paths() {
  static const std::vector<Path> all {
#if HWY_ARCH_X86
    {HWY_AVX3, "amx", "AMX", true}, {HWY_AVX3, "avx512", "AVX-512"}, {HWY_AVX2, "avx2", "AVX2"},
        {HWY_SSE4, "sse4", "SSE4"},
#else
    {HWY_STATIC_TARGET, "static", hwy::TargetName(HWY_STATIC_TARGET)},
#endif
  };
  return all;
}

// Whether this CPU has AMX's bf16 products and the kernel lets this process use their registers: a
// permission that changes the process, so that it is asked for only where AMX is in question.
bool ask_for_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16 = 1U << 22, kTile = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (~d & (kBf16 | kTile)) != 0) return false;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // arch_prctl(2), XSAVE's component
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// Zen 4 is the only CPU of AMD's family 19h with AVX-512. Of Zen 5, family 1Ah, mobile ones halve
// too; they are not told apart here.
bool is_zen4() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != signature_AMD_ebx) return false;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  const unsigned family = ((a >> 8) & 0xf) + ((a >> 20) & 0xff);
  return family == 0x19;
#else
  return false;
#endif
}

std::atomic<bool>& wide_vectors_halved() {
  static std::atomic<bool> halved = is_zen4();
  return halved;
}

std::atomic<bool> tiles_emulated = false;
std::atomic<bool> tiles_taken = false;

bool has_tiles() {
  static const bool has = ask_for_tiles();
  return has || tiles_emulated;
}

// What this CPU has of what was compiled; asked once, before any path is forced.
std::int64_t supported_targets() {
  static const std::int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets;
}

bool is_supported(const Path& path) {
  return (path.target & supported_targets()) != 0 && (!path.tiles || has_tiles());
}

/// Makes every dispatched call take this path: in Highway a lower bit is a better target.
void take(const Path& path) {
  const std::int64_t targets = supported_targets() & ~(path.target - 1);
  hwy::SetSupportedTargetsForTest(
      targets);  // else a later SupportedTargets() chooses the best again
  hwy::GetChosenTarget().Update(targets);
  tiles_taken = path.tiles;
}

const Path& path_of(std::string_view key, std::string_view source) {
  std::string known;
  for (const Path& path : all_paths())
    if (path.key == key && is_supported(path)) return path;
  for (const std::string& path : simd_paths()) known += (known.empty() ? "" : ", ") + path;
  throw InvalidArgument(
      fmt::format("{} = {} (must be a path that this CPU has: {})", source, key, known));
}

// Not AMX: its speed has yet to be measured.
const Path& default_path() {
  for (const Path& path : all_paths())
    if (!path.tiles && is_supported(path)) return path;
  return all_paths().back();
}

void choose_once() {
  static const bool chosen = [] {
    const char* wanted = std::getenv("BOLTZMARK_SIMD");
    const bool given = wanted != nullptr && *wanted != '\0';
    take(given ? path_of(wanted, "BOLTZMARK_SIMD") : default_path());
    return true;
  }();
  static_cast<void>(chosen);
}

const Path& path_taken() {
  choose_once();
  const std::int64_t target = HWY_DYNAMIC_DISPATCH(target)();  // what a kernel gets
  for (const Path& path : all_paths())
    if (path.target == target && path.tiles == tiles_taken) return path;
  return all_paths().back();
}

}  // namespace

const std::string& simd_path() { return path_taken().name; }

std::vector<std::string> simd_paths() {
  std::vector<std::string> keys;
  for (const Path& path : all_paths())
    if (is_supported(path)) keys.push_back(path.key);
  return keys;
}

bool takes_avx512() { return HWY_ARCH_X86 && path_taken().target == HWY_AVX3; }
bool halves_wide_vectors() { return wide_vectors_halved(); }
bool takes_tiles() { return path_taken().tiles; }
void set_tiles_emulated(bool emulated) { tiles_emulated = emulated; }

ForcedHalves::ForcedHalves(bool halves) : before_(wide_vectors_halved().exchange(halves)) {}
ForcedHalves::~ForcedHalves() { wide_vectors_halved() = before_; }

ForcedSimdPath::ForcedSimdPath(std::string_view key) : before_(path_taken().key) {
  take(path_of(key, "SIMD path"));
}

ForcedSimdPath::~ForcedSimdPath() { take(path_of(before_, "SIMD path")); }

}  // namespace boltzmark
#endif
