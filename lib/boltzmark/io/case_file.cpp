#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/io/dataset_sources.hpp"
#include "boltzmark/io/file_kind.hpp"
#include "boltzmark/io/idx.hpp"
#include "boltzmark/io/npy.hpp"
#include "boltzmark/io/text.hpp"

namespace boltzmark {
namespace {

/// `.amat` or `.csv` by the extension; other names by whether the first bytes hold a comma.
Separator separator_of(std::string_view path, std::string_view head) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".csv")) return Separator::commas;
  if (path.ends_with(".amat")) return Separator::spaces;
  return head.find(',') != std::string_view::npos ? Separator::commas : Separator::spaces;
}

/// Tells whether an array holds images of grey levels rather than binary values.
bool holds_levels(const Array& array) {
  return array.type == ElementType::uint8 &&
         std::any_of(array.bytes.begin(), array.bytes.end(), [](unsigned char b) { return b > 1; });
}

void take_array(const Array& array, const BinariseOptions& options, Dataset& data) {
  if (array.shape.size() >= 2 && array.count() > 0 && holds_levels(array)) {
    data.values = binarise(array, {0, array.shape[0]}, options, "file");
    data.provenance = ", " + binarise_text(options);
  } else {
    data.values = array.cases();
  }
  if (array.shape.size() != 3) return;
  data.rows = static_cast<int>(array.shape[1]);
  data.cols = static_cast<int>(array.shape[2]);
}

}  // namespace

Dataset load_case_file(const std::string& path, const BinariseOptions& options) {
  ByteSource source = ByteSource::open(path);
  Sha256 hash;
  source.hash_into(&hash);
  Dataset data;
  const std::string_view head = source.peek(512);
  switch (kind_of(head)) {
    case FileKind::npy:
      take_array(read_npy(source), options, data);
      break;
    case FileKind::idx:
      take_array(read_idx(source), options, data);
      break;
    case FileKind::binary_matrix:
      take_array(read_binary_matrix(source), options, data);
      break;
    case FileKind::text: {
      const Separator separator = separator_of(path, head);
      data.values = read_text(source, separator).cases;
      break;
    }
    default:
      source.place().refuse("is no data set",
                            "must be IDX, .amat, .csv, .npy or a binary matrix, or one gzipped");
  }
  data.name = path;
  data.sha256 = hash.finish();
  data.provenance = fmt::format("file {}{}", path, data.provenance);
  return data;
}

}  // namespace boltzmark
