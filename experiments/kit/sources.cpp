#include "experiments/kit/sources.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/subprocess.hpp"

namespace boltzmark::experiments {
namespace {

bool is_experiment_file(const std::string& path) {
  return std::any_of(experiments().begin(), experiments().end(), [&](const Experiment& other) {
    return path == "experiments/" + other.id + ".cpp";
  });
}

bool depends_on(const Experiment& experiment, const std::string& path) {
  for (const char* start : {"lib/", "verification/checks/known/", "experiments/kit/datasets/",
                            "experiments/kit/statistics/", "experiments/kit/errors."})
    if (path.starts_with(start)) return true;
  if (path == "experiments/" + experiment.id + ".cpp") return true;
  for (const char* start : {"verification/checks/", "experiments/kit/evidence."})
    if (path.starts_with(start)) return experiment.checks;
  return path.starts_with("experiments/" + experiment.paper() + "/") && !is_experiment_file(path);
}

std::string file_hash(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::string> known;  // data files do not change during a run
  const std::lock_guard lock(mutex);
  std::string& hash = known[path];
  if (hash.empty()) {
    // An experiment says itself what a missing file means for it; others must still run.
    if (!std::filesystem::is_regular_file(path)) return hash = "missing";
    const std::string bytes = read_text(path);
    hash = sha256(bytes.data(), bytes.size());
  }
  return hash;
}

std::string short_hash(const std::string& text) {
  return sha256(text.data(), text.size()).substr(0, 16);
}

std::string first_line(std::string text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::map<std::string, std::string> data_hashes(const Experiment& experiment) {
  std::map<std::string, std::string> hashes;
  for (const std::string& file : experiment.data)
    hashes[file] = file_hash(source_path("datasets/" + file));
  return hashes;
}

std::string sources_hash(const Experiment& experiment, const std::vector<SourceFile>& sources) {
  std::string all = compiler_name() + "\n";
  for (const SourceFile& file : sources)
    if (depends_on(experiment, file.path)) all += file.path + " " + file.sha256 + "\n";
  for (const auto& [file, hash] : data_hashes(experiment)) all += file + " " + hash + "\n";
  return short_hash(all);
}

std::string hash_sources(const std::vector<std::string>& beginnings,
                         const std::vector<SourceFile>& sources) {
  std::string all = compiler_name() + "\n";
  for (const SourceFile& file : sources)
    if (std::any_of(beginnings.begin(), beginnings.end(),
                    [&](const std::string& beginning) { return file.path.starts_with(beginning); }))
      all += file.path + " " + file.sha256 + "\n";
  return short_hash(all);
}

bool sources_stand(const std::string& root, const std::vector<SourceFile>& sources) {
  return std::all_of(sources.begin(), sources.end(), [&](const SourceFile& file) {
    const std::string path = (std::filesystem::path(root) / file.path).string();
    if (!std::filesystem::is_regular_file(path)) return false;
    const std::string bytes = read_text(path);
    return sha256(bytes.data(), bytes.size()) == file.sha256;
  });
}

std::string revision() {
  const std::string root = source_path("");
  const auto head = run_program({"git", "-C", root, "rev-parse", "--short=12", "HEAD"});
  if (head.status != 0) return "unknown";
  const auto tracked = run_program({"git", "-C", root, "status", "--porcelain", "-uno", "--", ".",
                                    ":(exclude)reports/reference"});
  const auto sources = run_program({"git", "-C", root, "status", "--porcelain", "-uall", "--",
                                    "lib", "experiments", "verification/checks"});
  const bool clean = tracked.output.empty() && sources.output.empty() && sources_stand(root);
  return first_line(head.output) + (clean ? "" : "+changes");
}

bool is_clean(const std::string& revision) {
  return revision != "unknown" && !revision.ends_with("+changes");
}

bool repository_holds(const std::string& revision) {
  return run_program({"git", "-C", source_path(""), "cat-file", "-e", revision + "^{commit}"})
             .status == 0;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace boltzmark::experiments
