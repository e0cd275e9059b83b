#pragma once

#include <unistd.h>
#include <zlib.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/model_file.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/temporary_folder.hpp"

namespace io_test {

/// A folder of its own that vanishes with the test; in memory where that can be, since files are
/// written through to the disk.
class Folder : public boltzmark::experiments::TemporaryFolder {
 public:
  Folder() : TemporaryFolder(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "") {}

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    const std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  /// Counts what the folder holds.
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path()), {}));
  }
};

inline std::string read_all(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

inline std::string fixture(std::string_view name) {
  return boltzmark::experiments::source_path("verification/interface/fixtures/" +
                                             std::string(name));
}

/// Packs bytes as gzip does.
inline std::string gzipped(std::string_view content) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Returns the message with which `body` throws DataError; "no error" if it does not throw.
template <class Body>
std::string data_error(Body&& body) {
  try {
    body();
  } catch (const boltzmark::DataError& error) {
    return error.what();
  }
  return "no error";
}

/// Checks that a message is one line that names the file, the fault and what must be.
inline void check_refused(const std::string& message, const std::string& path,
                          const std::string& fault) {
  CAPTURE(message);
  CHECK_THAT(message, Catch::StartsWith(path + ": "));
  CHECK_THAT(message, Catch::Contains(fault));
  CHECK_THAT(message, Catch::EndsWith(")") && Catch::Contains(" (must"));
  CHECK(message.find('\n') == std::string::npos);
}

/// Checks that reading a model is refused so.
inline void check_model(const std::string& path, const std::string& fault) {
  check_refused(data_error([&] { boltzmark::read_model(path); }), path, fault);
}

}  // namespace io_test
