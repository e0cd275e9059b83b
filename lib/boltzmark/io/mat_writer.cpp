#include <cstring>

#include "boltzmark/io/mat.hpp"
#include "boltzmark/io/place.hpp"

namespace boltzmark {
namespace {

void append32(std::string& out, std::uint32_t value) {
  char bytes[4];
  std::memcpy(bytes, &value, 4);
  out.append(bytes, 4);
}

void append_element(std::string& out, std::uint32_t type, const void* data, std::size_t size) {
  append32(out, type);
  append32(out, static_cast<std::uint32_t>(size));
  out.append(static_cast<const char*>(data), size);
  out.append((8 - size % 8) % 8, '\0');
}

}  // namespace

void write_mat_header(AtomicFile& file) {
  std::string header = "MATLAB 5.0 MAT-file, written by Boltzmark";
  header.resize(124, ' ');
  std::fill(header.begin() + 116, header.end(), '\0');  // no subsystem data
  header += {'\x00', '\x01', 'I', 'M'};
  file.write(header);
}

void write_mat_matrix(AtomicFile& file, const std::string& name, const Eigen::MatrixXd& matrix,
                      ElementType type) {
  const bool is_single = type == ElementType::float32;
  const auto bytes = static_cast<std::uint64_t>(matrix.size()) * (is_single ? 4 : 8);
  if (bytes > 0x7fffffff) {
    Place{file.path(), name}.refuse("needs more than 2 GiB", "must fit MATLAB 5; write .npz");
  }
  std::string body;
  const std::uint32_t flags[2] = {is_single ? 7U : 6U, 0};
  const std::int32_t shape[2] = {static_cast<std::int32_t>(matrix.rows()),
                                 static_cast<std::int32_t>(matrix.cols())};
  append_element(body, 6, flags, sizeof flags);
  append_element(body, 5, shape, sizeof shape);
  append_element(body, 1, name.data(), name.size());
  if (is_single) {
    const Eigen::MatrixXf values = matrix.cast<float>();
    append_element(body, 7, values.data(), bytes);
  } else {
    append_element(body, 9, matrix.data(), bytes);
  }
  std::string tag;
  append32(tag, 14);
  append32(tag, static_cast<std::uint32_t>(body.size()));
  file.write(tag);
  file.write(body);
}

}  // namespace boltzmark
