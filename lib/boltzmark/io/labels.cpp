#include "boltzmark/io/labels.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/io/file_kind.hpp"
#include "boltzmark/io/idx.hpp"
#include "boltzmark/io/npy.hpp"
#include "boltzmark/io/text.hpp"

namespace boltzmark {
namespace {

constexpr int kMostClasses = 1 << 20;

/// Throws  DataError unless every label is a class.
template <class Values>
std::vector<int> classes_of(const Values& values, const Place& place) {
  std::vector<int> labels;
  for (const auto value : values) {
    if (!(value >= 0 && value < kMostClasses) || std::floor(value) != value)
      place.refuse(fmt::format("case {} has class {}", labels.size() + 1, value),
                   fmt::format("must be a whole number from 0 to {}", kMostClasses - 1));
    labels.push_back(static_cast<int>(value));
  }
  return labels;
}

}  // namespace

std::vector<int> read_labels(const std::string& path) {
  ByteSource source = ByteSource::open(path);
  switch (kind_of(source.peek(512))) {
    case FileKind::npy:
      return classes_of(read_npy(source).integers(), source.place());
    case FileKind::idx:
      return classes_of(read_idx(source).integers(), source.place());
    case FileKind::text: {
      const TextTable table = read_text(source, Separator::commas);
      if (table.cases.rows() != 1)
        source.place().refuse(fmt::format("has {} columns", table.cases.rows()),
                              "must have 1, the class of a case");
      return classes_of(table.cases.reshaped(), source.place());
    }
    default:
      source.place().refuse("holds no classes", "must be IDX or .npy of one dimension, or text");
  }
}

}  // namespace boltzmark
