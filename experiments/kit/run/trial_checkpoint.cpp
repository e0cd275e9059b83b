#include "experiments/kit/run/trial_checkpoint.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "boltzmark/core/checkpoint.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {

// The name is of the inputs and the seed, so that another build's state is replaced, not kept.
TrialCheckpoint::TrialCheckpoint(const std::string& folder, const TrialKey& key, int attempt)
    : first_(
          fmt::format("{}/checkpoints/{:016x}", folder, hash_bytes(key.inputs.dump(), key.seed))),
      path_(attempt == 0 ? first_ : fmt::format("{}-{}", first_, attempt)),
      key_(key.text()) {}

std::vector<std::string> TrialCheckpoint::files() const {
  std::vector<std::string> found;
  std::error_code none;
  const std::filesystem::path first(first_);
  for (const auto& entry : std::filesystem::directory_iterator(first.parent_path(), none)) {
    const std::string name = entry.path().filename().string(), own = first.filename().string();
    if (name == own || name.starts_with(own + "-")) found.push_back(entry.path().string());
  }
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

void TrialCheckpoint::remove() const {
  std::error_code error;
  for (const std::string& file : files()) std::filesystem::remove(file, error);
  std::filesystem::remove(std::filesystem::path(path_).parent_path(), error);  // if it is empty
}

std::string TrialCheckpoint::heading(std::string_view state) const {
  return fmt::format("{:016x} {}\n", hash_bytes(state), key_);
}

}  // namespace boltzmark::experiments
