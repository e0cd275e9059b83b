#include <zlib.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/model_file.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using io_test::fixture;

namespace {

Array read_npy_file(const std::string& path) {
  ByteSource source = ByteSource::open(path);
  return read_npy(source);
}

Eigen::MatrixXd table() {
  Eigen::MatrixXd values(2, 3);
  values << 0, 1, 2.5, -3, 4, 0.125;
  return values;
}

/// Moves the sizes and the place of every member of a zip file that has no extra fields into one of
/// zip64, 8 bytes each: size, packed size, place [PKWARE APPNOTE 6.3, 4.5.3].
std::string with_zip64_fields(const std::string& file) {
  constexpr std::size_t kEnd = 22, kEntry = 46;
  std::string end = file.substr(file.size() - kEnd), directory;
  const auto byte = [](const std::string& text, std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(text[at]));
  };
  const std::string zeros(4, '\0');
  for (std::size_t at = byte(end, 16) + 256 * byte(end, 17); at < file.size() - kEnd;) {
    std::string entry = file.substr(at, kEntry + byte(file, at + 28));
    at += entry.size();
    const std::string extra = std::string{1, 0, 24, 0} + entry.substr(24, 4) + zeros +
                              entry.substr(20, 4) + zeros + entry.substr(42, 4) + zeros;
    entry.replace(20, 8, 8, '\xff').replace(42, 4, 4, '\xff');
    entry[30] = static_cast<char>(extra.size());
    directory += entry + extra;
  }
  end[12] = static_cast<char>(directory.size() & 0xff);
  end[13] = static_cast<char>(directory.size() >> 8);
  return file.substr(0, byte(end, 16) + 256 * byte(end, 17)) + directory + end;
}

void check_small_rbm(const Layered& model) {
  Eigen::MatrixXd weights(3, 2);
  weights << -0.5, -0.25, 0, 0.25, 0.5, 0.75;
  REQUIRE(model.is_rbm());
  CHECK(model.is_binary());
  CHECK(model.weights(0) == weights);
  CHECK(model.bias(0) == Eigen::Vector3d(1, -2, 0.5));
  CHECK(model.bias(1) == Eigen::Vector2d(0.25, -0.75));
}

}  // namespace

TEST_CASE("integers of every size that NumPy saves are read to their ends") {
  const io_test::Folder folder;
  const auto read = [&](const std::string& code, const std::string& bytes) {
    std::string header = "{'descr': '" + code + "', 'fortran_order': False, 'shape': (1, 2), }";
    header.resize(117, ' ');
    const std::string path =
        folder.write("i.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n" + bytes);
    return Eigen::RowVector2d(read_npy_file(path).matrix());
  };
  const auto ends = [](int bytes, bool is_signed) {  // the least and the greatest, little end first
    std::string low(static_cast<std::size_t>(bytes), '\0'), high(low.size(), '\xff');
    if (is_signed) low.back() = '\x80', high.back() = '\x7f';
    return low + high;
  };
  for (const int bytes : {1, 2, 4, 8}) {
    const double most = std::ldexp(1.0, 8 * bytes), half = most / 2;
    const std::string size = std::to_string(bytes), order = bytes == 1 ? "|" : "<";
    CHECK(read(order + "u" + size, ends(bytes, false)) ==
          Eigen::RowVector2d(
              0, static_cast<double>(static_cast<std::uint64_t>(-1) >> (64 - 8 * bytes))));
    CHECK(
        read(order + "i" + size, ends(bytes, true)) ==
        Eigen::RowVector2d(
            -half, static_cast<double>((static_cast<std::uint64_t>(-1) >> (64 - 8 * bytes)) >> 1)));
  }
}

TEST_CASE("an array that is packed to a thousandth is read to its end") {
  // 2.35 MB in a few KiB: taken in pieces, for what is promised need not come.
  const io_test::Folder folder;
  constexpr int kCases = 3000, kUnits = 784;
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3000, 784), }";
  header.resize(117, ' ');
  std::string npy = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n";
  const std::size_t start = npy.size();
  npy.resize(start + std::size_t{kCases} * kUnits, '\0');
  for (int c = 0; c < kCases; ++c)
    npy[start + static_cast<std::size_t>(c) * kUnits + static_cast<std::size_t>(c % kUnits)] = 1;
  const std::string path = folder / "d.npy.gz";
  gzFile packed = gzopen(path.c_str(), "wb9");
  REQUIRE(gzwrite(packed, npy.data(), static_cast<unsigned>(npy.size())) ==
          static_cast<int>(npy.size()));
  REQUIRE(gzclose(packed) == Z_OK);
  const Eigen::MatrixXf values = read_dataset(path, {}).values.matrix();
  REQUIRE(values.cols() == kCases);
  CHECK(values.sum() == kCases);
  int right = 0;
  for (int c = 0; c < kCases; ++c) right += values(c % kUnits, c) == 1 ? 1 : 0;
  CHECK(right == kCases);
}

TEST_CASE("arrays that NumPy saved are read whatever their type and order") {
  CHECK(read_npy_file(fixture("f8_c.npy")).matrix() == table());
  CHECK(read_npy_file(fixture("f8_fortran.npy")).matrix() == table());
  CHECK(read_npy_file(fixture("f8_c.npy.gz")).matrix() == table());
  CHECK(read_npy_file(fixture("f4_c.npy")).matrix() == table());
  CHECK(read_npy_file(fixture("bool_fortran.npy")).matrix() ==
        (table().array() > 1).cast<double>().matrix());
  Eigen::MatrixXd integers(2, 3);
  integers << 1, -2, 3, 4, 5, -6;
  CHECK(read_npy_file(fixture("i8_c.npy")).matrix() == integers);
  // The first index of Fortran order runs fastest, in three dimensions too: level 10 n at place n.
  const io_test::Folder folder;
  std::string cube = io_test::read_all(fixture("u1_cube.npy"));
  cube.replace(cube.find("False"), 5, "True ");
  const Array array = read_npy_file(folder.write("cube.npy", cube));
  REQUIRE(array.shape == std::vector<std::uint64_t>{2, 3, 4});
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k)
        CHECK(array.bytes[12 * i + 4 * j + k] == 10 * (i + 2 * j + 6 * k));
}

TEST_CASE("arrays with a header of version 1, 2 or 3 are read, and no other") {
  const io_test::Folder folder;
  // Versions 2 and 3 give the header's length four bytes; 3 allows UTF-8 in it.
  const std::string first = io_test::read_all(fixture("f8_c.npy"));
  const std::string rest = first.substr(10);
  for (const char version : {'\x02', '\x03'}) {
    std::string file = first.substr(0, 6);
    file += {version, '\0', first[8], first[9], '\0', '\0'};
    CHECK(read_npy_file(folder.write("a.npy", file + rest)).matrix() == table());
    CHECK(read_dataset(folder / "a.npy").values.matrix() == table().transpose().cast<float>());
  }
  for (const char version : {'\x00', '\x04'}) {
    std::string file = first;
    file[6] = version;
    CHECK_THROWS_AS(read_npy_file(folder.write("a.npy", file)), DataError);
  }
}

TEST_CASE("a case is the first index of an array, its pixels run row by row") {
  const Dataset data = read_dataset(fixture("u1_cube.npy"), {.kind = BinariseOptions::Kind::grey});
  CHECK(data.rows == 3);
  CHECK(data.cols == 4);
  REQUIRE(data.values.rows() == 12);
  REQUIRE(data.values.cols() == 2);
  CHECK(data.values(0, 0) == 0);
  CHECK(data.values(5, 0) == 50.0F / 255);
  CHECK(data.values(11, 1) == 230.0F / 255);
  const Dataset binary = read_dataset(fixture("u1_cube.npy"));
  CHECK(binary.values.matrix().sum() == 11);  // the levels 130 .. 230 pass 127
  const Dataset floats = read_dataset(fixture("f4_c.npy"));
  CHECK(floats.values.matrix() == table().transpose().cast<float>());
}

TEST_CASE("images of nothing but 0 and 1 are bits, not two grey levels") {
  const io_test::Folder folder;
  const auto images = [&](const char* name, const std::string& bytes) {
    return read_dataset(folder.write(name, npy_header(ElementType::uint8, {3, 1, 3}) + bytes));
  };
  const Dataset bits = images("bits.npy", std::string("\0\1\1\0\0\1\0\0\1", 9));
  CHECK_FALSE(bits.grey_levels);
  CHECK(bits.values.matrix().col(0) == Eigen::Vector3f(0, 1, 1));
  CHECK(bits.values.matrix().col(2) == Eigen::Vector3f(0, 0, 1));
  // One level of 2 is enough.
  const Dataset levels = images("levels.npy", std::string("\0\2\1\0\310\1\0\200\1", 9));
  CHECK(levels.grey_levels);
  CHECK(levels.values.matrix().col(0).isZero(0));
  CHECK(levels.values.matrix().col(1) == Eigen::Vector3f(0, 1, 0));
}

TEST_CASE("models that NumPy saved are read, stored or deflated, float32 or float64") {
  check_small_rbm(read_model(fixture("rbm.npz")));
  check_small_rbm(read_model(fixture("rbm_deflated.npz")));
  // As writers of large files lay them out: where members are packed, their two sizes differ.
  const io_test::Folder folder;
  for (const char* name : {"rbm.npz", "rbm_deflated.npz"})
    check_small_rbm(
        read_model(folder.write("zip64.npz", with_zip64_fields(io_test::read_all(fixture(name))))));
}

TEST_CASE("a deep model names the units of each layer") {
  const Layered model = read_model(fixture("deep.npz"));
  REQUIRE(model.layers() == 3);
  CHECK(model.layer(0).unit == Unit::gaussian());
  CHECK(model.layer(0).sigma0 == Eigen::Vector3d(1, 2, 0.5));
  CHECK(model.layer(1).unit == Unit::bernoulli());
  CHECK(model.layer(2).unit == Unit::multivalued(4));
  CHECK(model.weights(1) == Eigen::MatrixXd::Ones(2, 4));
}

TEST_CASE("MATLAB files of another writer are read, plain or packed") {
  check_small_rbm(read_model(fixture("rbm_plain.mat")));
  check_small_rbm(read_model(fixture("rbm_zlib.mat")));
}

TEST_CASE("a string or a table of MATLAB's, which have no dimensions, is passed over") {
  const io_test::Folder folder;
  const auto words = [](std::initializer_list<std::uint32_t> all) {
    return std::string(reinterpret_cast<const char*>(all.begin()), 4 * all.size());
  };
  // Flags of class 17, its name and its kind, each an element of its own [MAT-File Format, 1-14].
  const std::string opaque = words({6, 8, 17, 0}) + words({1, 4}) + "note" + words({0}) +
                             words({1, 4}) + "MCOS" + words({0});
  const std::string variable = words({14, static_cast<std::uint32_t>(opaque.size())}) + opaque,
                    whole = io_test::read_all(fixture("rbm_plain.mat"));
  check_small_rbm(read_model(folder.write("last.mat", whole + variable)));
  check_small_rbm(
      read_model(folder.write("first.mat", whole.substr(0, 128) + variable + whole.substr(128))));
}

TEST_CASE("an npz file lists its arrays and gives each by name") {
  const Npz file(fixture("deep.npz"));
  CHECK(file.names() == std::vector<std::string>{"W0", "W1", "b0", "b1", "b2", "units", "sigma0"});
  CHECK(file.contains("units"));
  CHECK_FALSE(file.contains("W2"));
  CHECK(file.read("units").integers() == std::vector<std::int32_t>{-2, 0, 4});
  CHECK(file.read("W0").shape == std::vector<std::uint64_t>{3, 2});
}
