#include "experiments/kit/run/manifest.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/simd.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/sources.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kRounding =
    "Sums of float32 inputs are rounded in an order that depends on the SIMD path, the number of "
    "chains and how often a model is swept; never on the threads. SSE4 and AVX2 sum two-valued "
    "units alike, AVX-512 also by tables of four weights, AMX by tiles of 32.";

/// Writes a file whole unless there is one of its name.  Returns  whether it did
bool write_new(const std::string& path, const std::string& text) {
  const std::string draft = fmt::format("{}.{}.{}", path, host_name(), getpid());
  write_text(draft, text);
  const bool linked = link(draft.c_str(), path.c_str()) == 0;
  const int error = errno;
  unlink(draft.c_str());
  if (linked || error == EEXIST) return linked;
  if (std::filesystem::exists(path)) return false;
  write_text(path, text);  // a file system without links
  return true;
}

}  // namespace

std::string manifest_path(const std::string& out, Profile profile) {
  return fmt::format("{}/{}/manifest.json", out, profile_name(profile));
}

Json make_manifest(const ReproduceOptions& options) {
  return {{"revision", revision()},
          {"compiler", compiler_name()},
          {"cpu", cpu_name()},
          {"simd", options.simd.empty() ? simd_path() : options.simd},
          {"rounding", kRounding},
          {"seed", options.seed},
          {"profile", profile_name(options.profile)},
          {"version", BOLTZMARK_VERSION},
          {"data", Json::object()},
          {"seconds", Json::object()}};
}

void note_data(Json& manifest, const Experiment& experiment) {
  for (const auto& [file, hash] : data_hashes(experiment)) manifest["data"][file] = hash;
}

namespace {

Json read_manifest(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw DataError(path + ": is missing (must be written by `boltzmark reproduce` first)");
  const Json json = Json::parse(read_text(path), nullptr, false);
  if (!json.is_object() || !json.contains("seed") || !json["seed"].is_number_unsigned() ||
      (json.contains("simd") && !json["simd"].is_string()))
    throw DataError(path + ": is not a manifest (must be written by reproduce)");
  return json;
}

}  // namespace

StoredRun stored_run(const std::string& path) {
  const Json manifest = read_manifest(path);
  return {manifest["seed"], manifest.value("simd", "")};
}

void share_manifest(const ReproduceOptions& options, const std::vector<PlannedExperiment>& plans) {
  const std::string path = manifest_path(options.out, options.profile);
  Json manifest = make_manifest(options);
  for (const PlannedExperiment& plan : plans) note_data(manifest, *plan.experiment);
  if (write_new(path, manifest.dump(2) + "\n")) return;
  const Json stored = read_manifest(path);
  const std::uint64_t seed = stored["seed"];
  if (seed != options.seed)
    throw DataError(
        fmt::format("{}: seed = {} (must be that of the shard, {})", path, seed, options.seed));
  const std::string simd = stored.value("simd", simd_path());
  if (simd != simd_path())
    throw DataError(fmt::format(
        "{}: simd = {} (must be that of the shard, {}: their trials would not be counted "
        "together; BOLTZMARK_SIMD makes processors alike)",
        path, simd, simd_path()));
}

}  // namespace boltzmark::experiments
