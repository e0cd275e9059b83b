#include "experiments/kit/datasets/named_datasets.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/number.hpp"
#include "boltzmark/io/place.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/dataset_sources.hpp"
#include "experiments/kit/datasets/norb.hpp"
#include "experiments/kit/datasets/norb_toy.hpp"

namespace boltzmark::experiments {
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
  return read_dataset(path, binarise);
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

}  // namespace boltzmark::experiments
