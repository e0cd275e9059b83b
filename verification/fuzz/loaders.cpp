// Feeds any bytes to the readers of models and data sets: they may refuse them with an Error, and
// do nothing else. Built by `make fuzz` with libFuzzer and the sanitizers.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/model_file.hpp"

namespace {

/// Names a file of this process; `extension` matters only where content does not tell.
std::string scratch_file(const std::string& extension) {
  const auto name = "boltzmark-fuzz-" + std::to_string(getpid()) + extension;
  return (std::filesystem::temp_directory_path() / name).string();
}

template <class Read>
void refuse_or_read(const std::string& path, Read read) {
  try {
    read(path);
  } catch (const boltzmark::Error&) {
    // A clear refusal is a right answer.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string paths[] = {scratch_file(".csv"), scratch_file(".amat")};
  // The first byte only chooses the extension.
  const std::string& path = paths[size > 0 ? data[0] & 1U : 0];
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + (size > 0 ? 1 : 0),
             static_cast<std::streamsize>(size > 0 ? size - 1 : 0));
  refuse_or_read(path, [](const std::string& file) { boltzmark::read_model(file); });
  refuse_or_read(path, [](const std::string& file) { boltzmark::read_dataset(file); });
  return 0;
}
