// Small NORB's files as LeCun's are, written here word by word and read back by every split.
#include "experiments/kit/datasets/norb.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;

namespace {

/// Pairs whose images are not black: the first and the last of each split.
const std::vector<int> kMarkedPairs = {0, 1, 19999, 20000, 24299};
constexpr int kMarkedRow = 20, kMarkedColumn = 30;  // of the middle, where a pixel is an input

/// The grey level of the marked pixel of a pair's left (0) or right (1) image: no two are alike.
int mark_of(bool test, std::size_t marked, int camera) {
  return 10 + (test ? 100 : 0) + 10 * static_cast<int>(marked) + camera;
}

int category_of(bool test, int pair) { return (pair + (test ? 1 : 0)) % 5; }

/// Little-endian words, as in the files.
std::string norb_words(const std::vector<std::uint32_t>& words) {
  std::string bytes;
  for (const std::uint32_t word : words)
    for (int byte = 0; byte < 4; ++byte) bytes += static_cast<char>(word >> (8 * byte) & 0xFF);
  return bytes;
}

/// Writes the three files of a half; of images that are black there are holes alone.
void write_half(const io_test::Folder& folder, bool test) {
  const std::string stem = test ? "smallnorb-5x01235x9x18x6x2x96x96-testing"
                                : "smallnorb-5x46789x9x18x6x2x96x96-training";
  const std::vector<std::uint32_t> instances =
      test ? std::vector<std::uint32_t>{0, 1, 2, 3, 5} : std::vector<std::uint32_t>{4, 6, 7, 8, 9};
  std::vector<std::uint32_t> categories{0x1e3d4c54, 1, 24300, 1, 1},
      poses{0x1e3d4c54, 2, 24300, 4, 1};
  for (int pair = 0; pair < 24300; ++pair) {
    categories.push_back(static_cast<std::uint32_t>(category_of(test, pair)));
    const auto pose =
        static_cast<std::uint32_t>(pair / 5);  // instance, elevation, azimuth, lighting
    poses.insert(poses.end(),
                 {instances[pose % 5], pose / 5 % 9, 2 * (pose / 45 % 18), pose / 810});
  }
  folder.write(stem + "-cat.mat", norb_words(categories));
  folder.write(stem + "-info.mat", norb_words(poses));
  const std::string header = norb_words({0x1e3d4c55, 4, 24300, 2, 96, 96});
  const std::string images = folder.write(stem + "-dat.mat", header);
  std::filesystem::resize_file(images, header.size() + std::uintmax_t{24300} * 2 * 96 * 96);
  std::fstream file(images, std::ios::binary | std::ios::in | std::ios::out);
  for (std::size_t marked = 0; marked < kMarkedPairs.size(); ++marked)
    for (const int camera : {0, 1}) {
      const std::int64_t image = 2 * std::int64_t{kMarkedPairs[marked]} + camera;
      file.seekp(static_cast<std::int64_t>(header.size()) + image * 96 * 96 + kMarkedRow * 96 +
                 kMarkedColumn);
      file.put(static_cast<char>(mark_of(test, marked, camera)));
    }
}

}  // namespace

TEST_CASE("small NORB's files give every split its pairs, the left camera's inputs first") {
  const io_test::Folder folder;
  struct Restore {
    ~Restore() { experiments::set_data_folders({}); }
  } restore;
  experiments::set_data_folders({folder / ""});
  for (const bool test : {false, true}) write_half(folder, test);
  REQUIRE(experiments::has_norb());
  const Eigen::Index input = experiments::norb_pixel_inputs()[kMarkedRow * 96 + kMarkedColumn];
  struct Split {
    const char* spec;
    bool test;
    int first, cases;
  };
  for (const auto& [spec, test, first, cases] :
       {Split{"norb", false, 0, 24300}, Split{"norb:fit", false, 0, 20000},
        Split{"norb:valid", false, 20000, 4300}, Split{"norb:test", true, 0, 24300}}) {
    CAPTURE(spec);
    const Dataset data = experiments::load_dataset(spec, parse_binarise("grey"));
    REQUIRE(data.values.rows() == 2 * 4488);
    REQUIRE(data.values.cols() == cases);
    REQUIRE(data.labels.size() == static_cast<std::size_t>(cases));
    int looked_at = 0;
    for (std::size_t marked = 0; marked < kMarkedPairs.size(); ++marked) {
      const int c = kMarkedPairs[marked] - first;
      if (c < 0 || c >= cases) continue;
      ++looked_at;
      const Eigen::VectorXf levels = 255 * data.values.col(c);
      const int left = mark_of(test, marked, 0), right = mark_of(test, marked, 1);
      CHECK(levels[input] == Approx(left));
      CHECK(levels[4488 + input] == Approx(right));
      CHECK(levels.sum() == Approx(left + right));  // black but for these
    }
    CHECK(looked_at == (cases == 24300 ? 5 : cases == 20000 ? 3 : 2));
    CHECK(data.values.col(cases / 2).isZero());
    int of_their_category = 0;
    for (int c = 0; c < cases; ++c)
      of_their_category += data.labels[static_cast<std::size_t>(c)] == category_of(test, first + c);
    CHECK(of_their_category == cases);
  }
}
