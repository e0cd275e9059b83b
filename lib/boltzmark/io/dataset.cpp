#include "boltzmark/io/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/formats/file_kind.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/formats/text.hpp"
#include "boltzmark/io/sha256.hpp"

namespace boltzmark {
namespace {

constexpr int kMostClasses = 1 << 20;

/// Throws  DataError unless every label is a class.
template <class Values>
std::vector<int> classes_of(const Values& values, const Place& place) {
  std::vector<int> labels;
  for (const auto value : values) {
    if (!(value >= 0 && value < kMostClasses) || std::floor(value) != value)
      place.refuse(
          fmt::format("case {} has class {:.7g}", labels.size() + 1, static_cast<double>(value)),
          fmt::format("must be a whole number from 0 to {}", kMostClasses - 1));
    labels.push_back(static_cast<int>(value));
  }
  return labels;
}

/// A column (cases, 1), as a table's is sliced, is a row of classes.
Array labels_of_column(Array array) {
  if (array.shape.size() == 2 && array.shape[1] == 1) array.shape.pop_back();
  return array;
}

// Whether the first of several rows counts its columns, of which two may be bits.
bool counts_columns(const Eigen::MatrixXf& cases) {
  bool counts = cases.rows() > 2 && cases.cols() > 1;
  for (Eigen::Index i = 0; counts && i < cases.rows(); ++i)
    counts = cases(i, 0) == static_cast<float>(i);
  return counts;
}

/// What follows the lines of comment that a text begins with.
std::string_view after_comments(std::string_view text) {
  for (;;) {
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    if (first == text.size() || text[first] != '#') return text;
    text.remove_prefix(std::min(text.find('\n', first), text.size()));
  }
}

/// `.amat` or `.csv` by the extension; other names by whether the first bytes that are no comment hold a comma.
Separator separator_of(std::string_view path, std::string_view head) {
  if (path.ends_with(".gz")) path.remove_suffix(3);
  if (path.ends_with(".csv")) return Separator::commas;
  if (path.ends_with(".amat")) return Separator::spaces;
  return after_comments(head).find(',') != std::string_view::npos ? Separator::commas
                                                                  : Separator::spaces;
}

/// The most cases, as a share, in which a threshold may leave every unit alike.
constexpr double kMostConstant = 0.95;

/// Tells whether an array holds grey levels rather than binary values.
bool holds_levels(const Array& array) {
  return array.type == ElementType::uint8 && array.shape.size() >= 2 &&
         std::any_of(array.bytes.begin(), array.bytes.end(), [](unsigned char b) { return b > 1; });
}

/// Tells how many cases have all units alike.
Eigen::Index constant_cases(const CaseValues& values) {
  Eigen::Index constant = 0;
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    const Eigen::VectorXf units = values.col(c);
    constant += units.minCoeff() == units.maxCoeff() ? 1 : 0;
  }
  return constant;
}

void take_binarised(CaseValues values, const BinariseOptions& options, Dataset& data,
                    const Place& place) {
  data.values = std::move(values);
  data.grey_levels = true;
  data.provenance = ", " + binarise_text(options);
  if (options.kind != BinariseOptions::Kind::threshold || data.values.rows() == 1) return;
  const Eigen::Index constant = constant_cases(data.values);
  if (static_cast<double>(constant) > kMostConstant * static_cast<double>(data.values.cols()))
    place.refuse(fmt::format("by {} {} of {} cases have all units alike", binarise_text(options),
                             constant, data.values.cols()),
                 "must differ within most cases: ask for another --binarise");
}

void binarise_levels(const Array& levels, const BinariseOptions& options, Dataset& data,
                     const Place& place) {
  take_binarised(binarise(levels, {0, levels.shape[0]}, options, "file"), options, data, place);
}

void take_values(const CaseValues& values, const BinariseOptions& options, Dataset& data,
                 const Place& place) {
  data.values = values;
  const bool bytes = values.levels() != nullptr, shares = values.maxCoeff() <= 1;
  if (options.images_only || bytes == shares) return;  // bits, or neither
  if (bytes)
    return binarise_levels({.type = ElementType::uint8,
                            .shape = {static_cast<std::uint64_t>(values.cols()),
                                      static_cast<std::uint64_t>(values.rows())},
                            .bytes = *values.levels(),
                            .place = place},
                           options, data, place);
  if (values.minCoeff() >= 0)
    take_binarised(binarise_shares(values, options, "file"), options, data, place);
}

void take_array(Array array, const BinariseOptions& options, Dataset& data) {
  const bool images = array.shape.size() == 3;
  if (images) {
    data.rows = static_cast<int>(array.shape[1]);
    data.cols = static_cast<int>(array.shape[2]);
  }
  if (images && array.count() > 0 && holds_levels(array)) {
    binarise_levels(array, options, data, array.place);
    return;
  }
  const Place place = array.place;
  take_values(std::move(array).cases(), options, data, place);
}

// Every visible state that an .npz file of chains has kept, [.., units], is a case.
void take_states(const std::string& path, const BinariseOptions& options, Dataset& data) {
  Array visible = Npz(path).read("visible");
  if (visible.shape.size() == 3)
    visible.shape = {visible.shape[0] * visible.shape[1], visible.shape[2]};
  visible.expect_dimensions(2);
  take_array(std::move(visible), options, data);
  data.states = true;
}

// For the digest of a file whose parts were read elsewhere.
void read_to_end(ByteSource& source) {
  std::array<char, 1 << 16> bytes{};
  while (source.read(bytes.data(), bytes.size()) == bytes.size()) {
  }
}

}  // namespace

bool holds_states(const std::string& path) {
  if (file_kind(path) != FileKind::zip) return false;
  const Npz file(path);
  return file.contains("visible") && !file.contains("W") && !file.contains("W0");
}

Dataset read_dataset(const std::string& path, const BinariseOptions& options) {
  ByteSource source = ByteSource::open(path);
  Sha256 hash;
  source.hash_into(&hash);
  Dataset data;
  switch (kind_of(source.peek(512))) {
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
      constexpr std::size_t kComments = 1 << 16;
      const Separator separator = separator_of(path, source.peek(kComments));
      TextTable table = read_text(source, separator);
      data.numbered = counts_columns(table.cases);
      take_values(CaseValues::compact(std::move(table.cases)), options, data, source.place());
      data.header = fmt::format("{}", fmt::join(table.header, ","));
      break;
    }
    default:
      if (!holds_states(path))
        source.place().refuse("is no data set",
                              "must be IDX, .amat, .csv, .npy or a binary matrix, or one gzipped, "
                              "or states as `sample` writes them");
      take_states(path, options, data);
      read_to_end(source);
  }
  data.name = path;
  data.sha256 = hash.finish();
  data.provenance = fmt::format("file {}{}", path, data.provenance);
  return data;
}

std::vector<int> spread_cases(const Dataset& data, int count) {
  const auto all = static_cast<int>(data.values.cols());
  if (count < 1 || count > all)
    throw InvalidArgument(
        fmt::format("count = {} (must be 1..{}, the cases of {})", count, all, data.name));
  std::map<int, std::vector<int>> classes;
  for (int c = 0; c < all; ++c)
    classes[data.labels.empty() ? 0 : data.labels[static_cast<std::size_t>(c)]].push_back(c);
  // Shares as equal as can be: a class that is too small leaves the rest to those after it.
  std::vector<const std::vector<int>*> by_size;
  for (const auto& [label, members] : classes) by_size.push_back(&members);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const auto* a, const auto* b) { return a->size() < b->size(); });
  std::vector<int> chosen;
  for (std::size_t g = 0; g < by_size.size(); ++g) {
    const std::vector<int>& members = *by_size[g];
    const auto left = static_cast<std::size_t>(count) - chosen.size();
    const std::size_t share = std::min(members.size(), left / (by_size.size() - g));
    for (std::size_t i = 0; i < share; ++i)
      chosen.push_back(members[(2 * i + 1) * members.size() / (2 * share)]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<int> read_labels(const std::string& path) {
  ByteSource source = ByteSource::open(path);
  switch (kind_of(source.peek(512))) {
    case FileKind::npy:
      return classes_of(labels_of_column(read_npy(source, Elements::integers)).integers(),
                        source.place());
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
