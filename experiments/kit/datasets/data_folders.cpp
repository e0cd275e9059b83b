#include "experiments/kit/datasets/data_folders.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace boltzmark::experiments {
namespace {

namespace fs = std::filesystem;

std::vector<std::string>& replacement() {
  static std::vector<std::string> folders;
  return folders;
}

std::optional<std::string> installed_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  return (program.parent_path().parent_path() / "share/boltzmark/datasets").string();
}

}  // namespace

std::vector<std::string> data_folders() {
  if (!replacement().empty()) return replacement();
  std::vector<std::string> folders;
  const char* variable = std::getenv("BOLTZMARK_DATA");
  std::string_view rest = variable != nullptr ? variable : "";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (!folder.empty()) folders.emplace_back(folder);
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
#ifdef BOLTZMARK_SOURCE_DIR
  folders.emplace_back(BOLTZMARK_SOURCE_DIR "/datasets");
#endif
  if (auto folder = installed_folder()) folders.push_back(std::move(*folder));
  return folders;
}

void set_data_folders(std::vector<std::string> folders) { replacement() = std::move(folders); }

std::optional<std::string> find_data_file(std::string_view set, std::string_view name) {
  for (const auto& folder : data_folders()) {
    for (const auto& place : {fs::path(folder), fs::path(folder) / set}) {
      for (const auto* ending : {"", ".gz"}) {
        const std::string path = (place / name).string() + ending;
        std::error_code error;
        if (fs::exists(path, error)) return path;
      }
    }
  }
  return std::nullopt;
}

std::string find_in_data_folders(const std::string& path) {
  std::error_code error;
  const fs::path name(path);
  const bool leaves = std::find(name.begin(), name.end(), "..") != name.end();
  if (path.empty() || name.is_absolute() || leaves || fs::exists(path, error)) return path;
  for (const auto& folder : data_folders())
    if (const fs::path found = fs::path(folder) / name; fs::is_regular_file(found, error))
      return found.string();
  return path;
}

}  // namespace boltzmark::experiments
