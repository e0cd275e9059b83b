#include "experiments/kit/temporary_folder.hpp"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "boltzmark/core/error.hpp"

namespace boltzmark::experiments {

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  const std::filesystem::path in =
      parent.empty() ? std::filesystem::temp_directory_path() : std::filesystem::path(parent);
  path_ = (in / "boltzmark-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(path_ + ": cannot be made (must be in a folder that is writable)");
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace boltzmark::experiments
