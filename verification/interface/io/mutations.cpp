#include <catch2/catch.hpp>
#include <functional>

#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using io_test::fixture;
using io_test::Folder;
using io_test::read_all;

namespace {

/// Overwrites, flips, removes, repeats or cuts off a few bytes.
std::string mutated(std::string bytes, Stream& draws) {
  const std::uint64_t changes = 1 + draws.below(4);
  for (std::uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const std::size_t at = draws.below(bytes.size());
    switch (draws.below(8)) {
      case 0:
        bytes[at] = static_cast<char>(draws.below(256));
        break;
      case 1:
        bytes[at] = '\xff';
        break;
      case 2:
        bytes[at] = '\0';
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(at, 1 + draws.below(8));
        break;
      case 5:
        bytes.insert(at, bytes.substr(at, 1 + draws.below(8)));
        break;
      default:
        bytes[at] ^= static_cast<char>(1 << draws.below(8));
        break;
    }
  }
  return bytes;
}

struct Counts {
  int loaded = 0, refused = 0;
};

/// Reads many mutations of a file; anything but a value or DataError fails the test.
Counts read_mutations(const std::string& original, std::uint64_t index, int times,
                      const std::function<void(const std::string&)>& read) {
  const Folder folder;
  Stream draws(make_key(1, "io_mutations"), Purpose::test, index);
  Counts counts;
  for (int i = 0; i < times; ++i) {
    const std::string path = folder.write("file", mutated(original, draws));
    try {
      read(path);
      ++counts.loaded;
    } catch (const DataError& error) {
      ++counts.refused;
      const std::string message = error.what();
      REQUIRE(message.find('\n') == std::string::npos);
      REQUIRE(message.find(" (must ") != std::string::npos);
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("a mutated model file loads or is refused with DataError, nothing else") {
  std::uint64_t index = 0;
  for (const auto* name :
       {"rbm.npz", "rbm_deflated.npz", "deep.npz", "rbm_plain.mat", "rbm_zlib.mat"}) {
    CAPTURE(name);
    const Counts counts = read_mutations(read_all(fixture(name)), index++, 1500,
                                         [](const std::string& path) { read_model(path); });
    CHECK(counts.refused > 150);  // most bytes matter
  }
}

TEST_CASE("a mutated data file loads or is refused with DataError, nothing else") {
  const std::string cube = read_all(fixture("u1_cube.npy"));
  const std::string levels = cube.substr(cube.size() - 24);
  const std::string idx = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04", 16) + levels;
  const std::string matrix =
      std::string("\x55\x4c\x3d\x1e\x03\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0", 20) + levels;
  const std::string text = "0 1 0.5 1\n1 0 -2e3 1\n0 0 1 1\n";
  std::uint64_t index = 100;
  for (const auto& original : {read_all(fixture("f8_c.npy")), read_all(fixture("f8_fortran.npy")),
                               cube, read_all(fixture("f8_c.npy.gz")), idx, io_test::gzipped(idx),
                               matrix, text, io_test::gzipped(text)}) {
    CAPTURE(index);
    const Counts counts = read_mutations(original, index++, 1500,
                                         [](const std::string& path) { read_dataset(path); });
    CHECK(counts.refused > 150);
  }
}
