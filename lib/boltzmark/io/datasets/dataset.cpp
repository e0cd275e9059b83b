#include "boltzmark/io/datasets/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/io/datasets/data_folders.hpp"
#include "boltzmark/io/datasets/dataset_sources.hpp"
#include "boltzmark/io/datasets/norb.hpp"
#include "boltzmark/io/datasets/norb_toy.hpp"
#include "boltzmark/io/formats/file_kind.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/formats/text.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kModes = "artificial-modes-";
constexpr std::array<std::string_view, 4> kSplits = {"train", "valid", "test", "fit"};

std::optional<Split> parse_split(std::string_view text) {
  for (std::size_t i = 0; i < kSplits.size(); ++i) {
    if (kSplits[i] == text) return static_cast<Split>(i);
  }
  return std::nullopt;
}

/// Parses artificial-modes-P, 0 <= P <= 1.
std::optional<double> parse_modes(std::string_view name) {
  if (!name.starts_with(kModes)) return std::nullopt;
  name.remove_prefix(kModes.size());
  const auto probability = parse_number<double>(name);
  return probability && *probability >= 0 && *probability <= 1 ? probability : std::nullopt;
}

std::optional<Dataset> load_registered(std::string_view name, Split split,
                                       const BinariseOptions& options) {
  if (name == "mnist") return load_mnist(split, options);
  if (name == "bas") return bars_and_stripes();
  if (name == "dna") return load_dna(split);
  if (name == "norb") return load_norb(split, options);
  if (const auto side = norb_toy_side(name)) return load_norb_toy(split, *side, options);
  if (const auto probability = parse_modes(name)) return artificial_modes(split, *probability);
  return std::nullopt;
}

bool is_registered(std::string_view name) {
  return name == "mnist" || name == "bas" || name == "dna" || name == "norb" ||
         norb_toy_side(name) || parse_modes(name);
}

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

}  // namespace

Dataset load_dataset(std::string_view spec, const BinariseOptions& binarise,
                     std::string_view default_split) {
  const auto fallback = parse_split(default_split);
  if (!fallback) {
    throw InvalidArgument(
        fmt::format("default_split = {} (must be train, valid, test or fit)", default_split));
  }
  const std::string_view name = spec.substr(0, spec.rfind(':'));
  if (is_registered(name)) {
    const bool has_split = name.size() < spec.size();
    const auto split = has_split ? parse_split(spec.substr(name.size() + 1)) : fallback;
    if (!split) {
      Place{std::string(name)}.refuse(fmt::format("has no split {}", spec.substr(name.size() + 1)),
                                      "must be train, valid, test or fit");
    }
    Dataset data = *load_registered(name, *split, binarise);
    data.name = fmt::format("{}:{}", name, kSplits[static_cast<std::size_t>(*split)]);
    return data;
  }
  const std::string path = find_in_data_folders(std::string(spec));
  std::error_code error;
  if (!std::filesystem::exists(path, error) && path.find_first_of("./") == std::string::npos) {
    Place{path}.refuse(
        "is no data set and no file",
        "must be mnist, bas, artificial-modes-P, dna, norb, norb-toy[-96] or a file");
  }
  return load_case_file(path, binarise);
}

std::vector<DatasetInfo> registered_datasets() {
  const bool mnist = find_data_file("mnist", "train-images-idx3-ubyte").has_value() &&
                     find_data_file("mnist", "t10k-images-idx3-ubyte").has_value();
  const bool dna = find_data_file("dna", "dna_3186x181.csv").has_value();
  return {{"mnist", "handwritten digits, 28x28, binarised at > 127", 784, 60000, 10000, mnist},
          {"bas", "Bars and Stripes 4x4, every pattern", 16, 32, 32, true, false},
          {"artificial-modes-0.1", "4 modes of 16 pixels, each flipped with probability 0.1", 16,
           10000, 10000, true, false},
          {"artificial-modes-0.01", "4 modes of 16 pixels, each flipped with probability 0.01", 16,
           10000, 10000, true, false},
          {"dna", "splice-junction gene sequences, 180 binary features", 180, 2000, 1186, dna},
          {"norb", "small NORB, stereo pairs of toys, 96x96 in 4,488 inputs: the user's files",
           2 * kNorbInputs, kNorbPairs, kNorbPairs, has_norb()},
          {"norb-toy",
           "rendered stand-in for small NORB, stereo pairs of 32x32 pixels; norb-toy-96: as norb",
           2048, kNorbPairs, kNorbPairs, true, false}};
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
  ByteSource source = ByteSource::open(find_in_data_folders(path));
  switch (kind_of(source.peek(512))) {
    case FileKind::npy:
      return classes_of(labels_of_column(read_npy(source)).integers(), source.place());
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
