#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "boltzmark/io/data_folders.hpp"
#include "boltzmark/io/dataset_sources.hpp"
#include "boltzmark/io/text.hpp"

namespace boltzmark {
namespace {

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
  const std::string digest = hash.finish();
  if (digest != kDigest) {
    source.place().refuse("has SHA-256 " + digest, fmt::format("must be {}", kDigest));
  }
  return table;
}

}  // namespace

Dataset load_dna(Split split) {
  const TextTable table = read_table();
  const auto cases = static_cast<std::uint64_t>(table.cases.cols());
  const CaseRange range = split == Split::test ? CaseRange{kTrainCases, cases - kTrainCases}
                                               : training_range(split, kTrainCases, kHeldOut);
  Dataset data;
  data.values = table.cases.middleCols(static_cast<Eigen::Index>(range.first),
                                       static_cast<Eigen::Index>(range.count));
  for (std::uint64_t i = range.first; i < range.first + range.count; ++i) {
    const auto* known = std::find(kClasses.begin(), kClasses.end(), table.labels[i]);
    data.labels.push_back(static_cast<int>(known - kClasses.begin()));
  }
  data.provenance = "StatLog/UCI splice-junction DNA, as shipped by Debian's r-cran-mlbench";
  data.sha256 = kDigest;
  return data;
}

}  // namespace boltzmark
