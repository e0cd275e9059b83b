#include "experiments/kit/run/trial_checkpoint.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "boltzmark/core/checkpoint.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {
namespace {

std::string folder_of_states(const std::string& folder) { return folder + "/checkpoints"; }

// Of the inputs and the seed, so that another build's state is replaced, not kept.
std::string name_of_state(const TrialKey& key) {
  return fmt::format("{:016x}", hash_bytes(key.inputs.dump(), key.seed));
}

/// The name of the first attempt at the trial that a file is of: others have a number behind it.
std::string first_name(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  return name.substr(0, name.find('-'));
}

std::vector<std::filesystem::path> list_files(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    files.push_back(entry.path());
  return files;
}

void remove_files(const std::string& folder, const std::set<std::string>& names) {
  std::error_code error;
  for (const auto& file : list_files(folder))
    if (names.contains(first_name(file))) std::filesystem::remove(file, error);
  std::filesystem::remove(folder, error);  // if it is empty
}

}  // namespace

TrialCheckpoint::TrialCheckpoint(const std::string& folder, const TrialKey& key, int attempt)
    : folder_(folder_of_states(folder)),
      name_(name_of_state(key)),
      path_(folder_ + "/" + name_ + (attempt == 0 ? "" : fmt::format("-{}", attempt))),
      key_(key.text()) {}

std::vector<std::string> TrialCheckpoint::files() const {
  std::vector<std::string> found;
  for (const auto& file : list_files(folder_))
    if (first_name(file) == name_) found.push_back(file.string());
  return found;
}

std::optional<std::string> TrialCheckpoint::read() const {
  std::optional<std::string> last;
  std::filesystem::file_time_type written;
  for (const std::string& file : files()) {
    std::error_code gone;
    const auto time = std::filesystem::last_write_time(file, gone);
    if (gone || (last && time < written)) continue;
    if (auto state = read_file(file)) {
      last = std::move(state);
      written = time;
    }
  }
  return last;
}

std::optional<std::string> TrialCheckpoint::read_file(const std::string& path) const {
  const std::string bytes = read_text(path);
  const std::size_t end = bytes.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string state = bytes.substr(end + 1);
  if (bytes.substr(0, end + 1) != heading(state)) return std::nullopt;
  return state;
}

void TrialCheckpoint::write(std::string_view state) const {
  write_text(path_, heading(state) + std::string(state));
}

void TrialCheckpoint::remove() const { remove_files(folder_, {name_}); }

void TrialCheckpoint::remove(const std::string& folder, const std::vector<const TrialKey*>& keys) {
  const std::string states = folder_of_states(folder);
  std::error_code error;
  if (!std::filesystem::exists(states, error)) return;  // as it is for most trials
  std::set<std::string> names;
  for (const TrialKey* key : keys) names.insert(name_of_state(*key));
  remove_files(states, names);
}

std::string TrialCheckpoint::heading(std::string_view state) const {
  return fmt::format("{:016x} {}\n", hash_bytes(state), key_);
}

}  // namespace boltzmark::experiments
