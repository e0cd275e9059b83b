#include "experiments/kit/trial_checkpoint.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "boltzmark/core/checkpoint.hpp"
#include "experiments/kit/files.hpp"

namespace boltzmark::experiments {

// The name is of the inputs and the seed, so that another build's state is replaced, not kept.
TrialCheckpoint::TrialCheckpoint(const std::string& folder, const TrialKey& key)
    : path_(fmt::format("{}/checkpoints/{:016x}", folder, hash_bytes(key.inputs.dump(), key.seed))),
      key_(key.text()) {}

std::optional<std::string> TrialCheckpoint::read() const {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) return std::nullopt;
  const std::string bytes = read_text(path_);
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
  std::filesystem::remove(path_, error);
  std::filesystem::remove(std::filesystem::path(path_).parent_path(), error);  // if it is empty
}

std::string TrialCheckpoint::heading(std::string_view state) const {
  return fmt::format("{:016x} {}\n", hash_bytes(state), key_);
}

}  // namespace boltzmark::experiments
