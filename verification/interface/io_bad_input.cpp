#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "boltzmark/io/data_folders.hpp"
#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/idx.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/io/npy.hpp"
#include "boltzmark/io/npz.hpp"
#include "io_files.hpp"

using namespace boltzmark;
using Catch::Contains;
using io_test::data_error;
using io_test::fixture;
using io_test::Folder;
using io_test::gzipped;
using io_test::read_all;

namespace {

/// Checks that a file is refused as data, or as a model, in one line that names it and the fault.
void check_refused(const std::string& message, const std::string& path, const std::string& fault) {
  CAPTURE(message);
  CHECK_THAT(message, Catch::StartsWith(path + ": "));
  CHECK_THAT(message, Contains(fault));
  CHECK_THAT(message, Catch::EndsWith(")") && Contains(" (must"));
  CHECK(message.find('\n') == std::string::npos);
}
void check_data(const std::string& path, const std::string& fault) {
  check_refused(data_error([&] { load_dataset(path); }), path, fault);
}
void check_model(const std::string& path, const std::string& fault) {
  check_refused(data_error([&] { read_model(path); }), path, fault);
}

/// Lays out a .npy file with any header.
std::string npy(std::string_view dictionary, std::string_view data = "") {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dictionary.size() & 0xff);
  file += static_cast<char>(dictionary.size() >> 8);
  return file.append(dictionary).append(data);
}

std::string idx(std::string_view header_hex, std::size_t data) {
  std::string file;
  for (std::size_t i = 0; i < header_hex.size(); i += 2) {
    file.push_back(static_cast<char>(std::stoi(std::string(header_hex.substr(i, 2)), nullptr, 16)));
  }
  return file.append(data, '\x01');
}

/// Writes an .npz model of these arrays; null leaves one out.
std::string write_npz(const Folder& folder, const Eigen::MatrixXd* weights,
                      const Eigen::VectorXd* visible, const Eigen::VectorXd* hidden) {
  NpzWriter writer(folder / "model.npz");
  if (weights != nullptr) writer.add("W", *weights);
  if (visible != nullptr) writer.add("b", *visible);
  if (hidden != nullptr) writer.add("c", *hidden);
  writer.commit();
  return folder / "model.npz";
}

const Eigen::MatrixXd kWeights = Eigen::MatrixXd::Zero(3, 2);
const Eigen::VectorXd kTwo = Eigen::VectorXd::Zero(2), kThree = Eigen::VectorXd::Zero(3);

}  // namespace

TEST_CASE("a path that is no file with content is refused") {
  const Folder folder;
  check_data(folder / "none.npy", "is missing");
  check_data(folder / "none.npy/inside", "is missing");
  check_data(folder / "", "is a folder");
  check_data("/dev/null", "is no regular file");
  check_data(folder.write("empty.csv", ""), "is empty");
  check_model(folder / "none.npz", "is missing");
  check_model(folder / "", "is a folder");
  check_model(folder / "empty.csv", "is empty");
}

TEST_CASE("a line break in a file's name does not break the message") {
  const Folder folder;
  const std::string message = data_error([&] { load_dataset(folder / "a\nb"); });
  CHECK(message.find('\n') == std::string::npos);
  CHECK_THAT(message, Contains("a?b: is missing"));
}

TEST_CASE("a file of another format is refused, as data and as a model") {
  const Folder folder;
  check_data(folder.write("a.npy",
                          "\x7f"
                          "ELF\x02\x01\x01"),
             "is no data set");
  check_data(fixture("rbm.npz"), "is no data set");
  check_data(fixture("rbm_plain.mat"), "is no data set");
  check_model(fixture("f8_c.npy"), "is no model file");
  check_model(folder.write("a.mat", "\x89HDF\r\n\x1a\n matlab 7.3"), "is no model file");
}

TEST_CASE("names that are no data set, split or file are refused") {
  CHECK_THAT(data_error([] { load_dataset("mnits"); }), Contains("must be mnist, bas"));
  CHECK_THAT(data_error([] { load_dataset("bas:training"); }), Contains("must be train, valid"));
  CHECK_THAT(data_error([] { load_dataset("artificial-modes-2"); }), Contains("is no data set"));
  CHECK_THROWS_AS(load_dataset("bas", {}, "all"), InvalidArgument);
}

TEST_CASE("a .npy file that does not hold what it promises is refused before allocating") {
  const Folder folder;
  const std::string whole = read_all(fixture("f8_c.npy"));
  check_data(folder.write("a.npy", whole.substr(0, 7)), "header ends early");
  check_data(folder.write("a.npy", whole.substr(0, 100)), "header");
  check_data(folder.write("a.npy", whole.substr(0, whole.size() - 1)), "promises 48 bytes");
  check_data(folder.write("a.npy", whole + "x"), "goes on after its data");
  const std::string huge =
      "{'descr': '<f8', 'fortran_order': False, 'shape': (1048576, 1048576)}\n";
  check_data(folder.write("a.npy", npy(huge, "12345678")), "promises 8796093022208 bytes");
  check_data(folder.write("a.npy.gz", gzipped(npy(huge, "12345678"))), "promises 8796093022208");
  check_data(folder.write("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': "
                                       "(4294967296, 4294967296, 0)}\n")),
             "promises (4294967296");
  check_data(folder.write("a.npy", npy("{'descr': '<f8', 'fortran_order': False, 'shape': "
                                       "(99999999999999999999,)}\n")),
             "promises more than 2^64");
  check_data(folder.write("a.npy", std::string("\x93NUMPY\x02\x00\xff\xff\xff\x7f", 12)),
             "promises a header of 2147483647 bytes");
}

TEST_CASE("a .npy header that is malformed is refused") {
  const Folder folder;
  const auto refuse = [&](std::string_view dictionary, const std::string& fault) {
    check_data(folder.write("a.npy", npy(dictionary, "12345678")), fault);
  };
  refuse("", "malformed header");
  refuse("{'descr': '<f8', 'fortran_order': False}", "malformed header");
  refuse("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1, 1)}", "malformed header");
  refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)", "malformed header");
  refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), 'shape': (1, 1)}", "malformed");
  refuse("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 1)}", "negative size");
  refuse("{'descr': '<U8', 'fortran_order': False, 'shape': (1, 1)}", "holds type '<U8'");
  refuse("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}", "holds type '|O'");
  check_data(fixture("big_endian.npy"), "holds type '>f8'");
  check_data(fixture("complex.npy"), "holds type '<c16'");
  check_data(fixture("records.npy"), "holds records");
  check_data(folder.write("a.npy", std::string("\x93NUMPY\x09\x00\x00\x00", 10)), "version 9");
}

TEST_CASE("an array of another shape than cases by units is refused") {
  const Folder folder;
  const std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  check_data(folder.write("a.npy", npy(head + "(2,)}", "12345678")), "has 1 dimensions");
  check_data(folder.write("a.npy", npy(head + "()}", "1234")), "has 0 dimensions");
  check_data(folder.write("a.npy", npy(head + "(0, 5)}")), "is empty");
  check_data(folder.write("a.npy", npy(head + "(5, 0)}")), "is empty");
}

TEST_CASE("numbers that are not finite are refused") {
  const Folder folder;
  const std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}";
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity(), 1e300}) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &value, 8);
    check_data(folder.write("a.npy", npy(head, bytes)), "NaN, infinity");
  }
  check_data(folder.write("a.csv", "1,nan\n"), "row 1, column 2: 'nan' is not finite");
  check_data(folder.write("a.amat", "0 1\n-inf 0\n"), "row 2, column 1: '-inf' is not finite");
  check_data(folder.write("a.csv", "1,1e60\n"), "'1e60' is out of range");
}

TEST_CASE("text that is no table of numbers is refused with row and column") {
  const Folder folder;
  check_data(folder.write("a.csv", "1,2\n3\n"), "row 2 holds 1 values");
  check_data(folder.write("a.amat", "1 2\n\n3 4 5\n"), "row 2 holds 3 values");
  check_data(folder.write("a.csv", "1,,2\n"), "row 1, column 2: '' is empty");
  check_data(folder.write("a.csv", "1,2,\n"), "row 1, column 3: '' is empty");
  check_data(folder.write("a.csv", "pixel0,pixel1\n0,1\n"), "'pixel0' is no number");
  check_data(folder.write("a.amat", "0 0x1\n"), "'0x1' is no number");
  check_data(folder.write("a.amat", "0,1\n"), "'0,1' is no number");
  check_data(folder.write("a.csv", "0 1\n"), "'0 1' is no number");
  check_data(folder.write("a.csv", "+-1,2\n"), "is no number");
  check_data(folder.write("a.csv", " \n\n"), "holds no values");
  check_data(folder.write("a.csv", std::string(2000, '1')), "is too long");
  check_data(folder.write("a.csv", std::string("1,2\n\0", 5)), "is no data set");
}

TEST_CASE("an IDX file that is wrong is refused") {
  const Folder folder;
  check_data(folder.write("a", idx("000008", 0)), "is no data set");
  check_data(folder.write("a", idx("00000803000000", 0)), "header ends early");
  check_data(folder.write("a", idx("00000d03000000010000000100000001", 4)), "IDX type 0x0d");
  check_data(folder.write("a", idx("00000803ffffffff0000000100000001", 4)), "negative size, -1");
  check_data(folder.write("a", idx("00000803000000020000000200000002", 7)), "promises 8 bytes");
  check_data(folder.write("a", idx("00000803000000020000000200000002", 9)), "goes on after");
  check_data(folder.write("a", idx("000008037fffffff7fffffff7fffffff", 9)), "promises");
  check_data(folder.write("a", idx("000008030001000000010000000000ff", 9)), "promises");
  check_data(folder.write("a", idx("0000080100000002", 2)), "has 1 dimensions");
}

TEST_CASE("a binary matrix that is wrong is refused") {
  const Folder folder;
  const std::string two = "020000000200000003000000";  // 2 dimensions, 2 x 3
  check_data(folder.write("a", idx("524c3d1e" + two + "00000000", 6)), "magic number 1e3d4c52");
  check_data(folder.write("a", idx("1e3d4c55" + two + "00000000", 6)), "big endian");
  check_data(folder.write("a", idx("554c3d1e" + two + "00000000", 5)), "promises 6 bytes");
  check_data(folder.write("a", idx("554c3d1e" + two, 0)), "header ends early");
  check_data(folder.write("a", idx("554c3d1e09000000", 90)), "has 9 dimensions");
  check_data(folder.write("a", idx("554c3d1e02000000feffffff0300000000000000", 6)),
             "negative size");
  CHECK(load_dataset(folder.write("a", idx("554c3d1e" + two + "00000000", 6))).values.rows() == 3);
}

TEST_CASE("a gzip stream that is truncated, damaged or followed by more is refused") {
  const Folder folder;
  const std::string packed = gzipped(read_all(fixture("f8_c.npy")));
  check_data(folder.write("a.gz", packed.substr(0, 5)), "truncated inside its gzip stream");
  check_data(folder.write("a.gz", packed.substr(0, packed.size() / 2)), "truncated inside");
  check_data(folder.write("a.gz", packed.substr(0, packed.size() - 1)), "truncated inside");
  check_data(folder.write("a.gz", packed + "more"), "is damaged: gzip stream");
  std::string damaged = packed;
  damaged[damaged.size() - 6] ^= 1;  // in the checksum
  check_data(folder.write("a.gz", damaged), "is damaged: gzip stream: incorrect data check");
  const std::string table = "1,0\n0,1\n";
  CHECK(load_dataset(folder.write("a.csv.gz", gzipped(table) + gzipped(table))).values.cols() == 4);
}

TEST_CASE("a gzip bomb is unpacked no further than its header promises") {
  const Folder folder;
  const std::string zeros(std::size_t{1} << 26, '\0');
  check_data(folder.write("bomb", gzipped(idx("000008030000000100000002000000ff", 0) + zeros)),
             "goes on after its data");
}

TEST_CASE("a model with missing, extra or disagreeing arrays is refused") {
  const Folder folder;
  check_model(write_npz(folder, nullptr, &kThree, &kTwo), "has no array W");
  check_model(write_npz(folder, &kWeights, &kThree, nullptr), "has no array c");
  check_model(write_npz(folder, &kWeights, nullptr, &kTwo), "has no array b");
  check_model(write_npz(folder, &kWeights, &kTwo, &kTwo), "b has 2 values");
  check_model(write_npz(folder, &kWeights, &kThree, &kThree), "c has 3 values");
  const Eigen::MatrixXd empty(3, 0);
  const Eigen::VectorXd none(0);
  check_model(write_npz(folder, &empty, &kThree, &none), "W is empty, (3, 0)");
  Eigen::MatrixXd infinite = kWeights;
  infinite(2, 1) = std::numeric_limits<double>::infinity();
  check_model(write_npz(folder, &infinite, &kThree, &kTwo), "W holds NaN or infinity");
}

TEST_CASE("arrays of a wrong type or number of dimensions are refused in a model") {
  const Folder folder;
  const std::string path = folder / "m.npz";
  const std::vector<std::int32_t> ints(6);
  const std::vector<double> doubles(6);
  const auto write = [&](auto&& weights, std::vector<std::uint64_t> shape,
                         std::vector<std::uint64_t> bias, std::vector<std::int32_t> units) {
    NpzWriter writer(path);
    writer.add("W", weights, shape);
    writer.add("b", std::span(doubles).first(3), bias);
    writer.add("c", std::span(doubles).first(2), {2});
    writer.add("units", std::span<const std::int32_t>(units), {units.size()});
    writer.commit();
  };
  write(std::span<const std::int32_t>(ints), {3, 2}, {3}, {0, 0});
  check_model(path, "W holds int32");
  write(std::span<const double>(doubles), {6}, {3}, {0, 0});
  check_model(path, "W has 1 dimensions");
  write(std::span<const double>(doubles), {3, 2}, {3, 1}, {0, 0});
  check_model(path, "b has 2 dimensions");
  write(std::span<const double>(doubles), {3, 2}, {3}, {0});
  check_model(path, "units has 1 codes");
  write(std::span<const double>(doubles), {3, 2}, {3}, {0, -3});
  check_model(path, "unit code = -3");
  write(std::span<const double>(doubles), {3, 2}, {3}, {-2, 0});
  check_model(path, "has no array sigma0");
  write(std::span<const double>(doubles), {3, 2}, {3}, {0, 0});
  CHECK_NOTHROW(read_model(path));
}

TEST_CASE("a scale that is not positive is refused") {
  const Folder folder;
  NpzWriter writer(folder / "m.npz");
  writer.add("W", kWeights);
  writer.add("b", kThree);
  writer.add("c", kTwo);
  writer.add("sigma0", kThree);
  writer.add("units", std::vector<std::int32_t>{-2, 0}, {2});
  writer.commit();
  check_model(folder / "m.npz", "scales of layer 0 = 0");
}

TEST_CASE("a zip file that is truncated, damaged or odd is refused") {
  const Folder folder;
  const std::string whole = read_all(fixture("rbm.npz"));
  check_model(folder.write("m.npz", whole.substr(0, 30)), "is no whole zip file");
  check_model(folder.write("m.npz", whole.substr(0, whole.size() - 1)), "end record is missing");
  check_model(folder.write("m.npz", whole + "x"), "end record is missing");
  std::string changed = whole;
  changed[whole.find("NUMPY") + 130] ^= 1;  // a weight
  check_model(folder.write("m.npz", changed), "W is damaged: CRC-32");
  const std::size_t directory = whole.find("PK\x01\x02");
  changed = whole;
  changed[directory + 10] = 12;  // bzip2
  check_model(folder.write("m.npz", changed), "it uses packing 12");
  changed = whole;
  changed[directory + 8] |= 1;
  check_model(folder.write("m.npz", changed), "it is encrypted");
  changed = whole;
  std::memset(changed.data() + directory + 20, 0x7f, 8);  // both sizes
  check_model(folder.write("m.npz", changed), "lies outside the file");
  changed = whole;
  changed[directory + 42] = 5;  // offset of the member
  check_model(folder.write("m.npz", changed), "a member's header is missing");
}

TEST_CASE("a MATLAB file that is truncated, odd or misses a matrix is refused") {
  const Folder folder;
  const std::string whole = read_all(fixture("rbm_plain.mat"));
  check_model(folder.write("m.mat", whole.substr(0, 100)), "header ends early");
  check_model(folder.write("m.mat", whole.substr(0, 128)), "has no matrix hidbiases");
  check_model(folder.write("m.mat", whole.substr(0, 133)), "tag ends early");
  check_model(folder.write("m.mat", whole.substr(0, whole.size() - 9)), "promises");
  std::string changed = whole;
  changed.replace(whole.find("visbiases"), 9, "visbiased");
  check_model(folder.write("m.mat", changed), "has no matrix visbiases");
  changed = whole;
  std::swap(changed[126], changed[127]);
  check_model(folder.write("m.mat", changed), "is big endian");
  changed = whole;
  changed[125] = 2;  // HDF5 of MATLAB 7.3
  check_model(folder.write("m.mat", changed), "has a wrong version");
  changed = whole;
  changed[whole.find("vishid") - 12] = 9;  // columns: 9 in place of 2
  check_model(folder.write("m.mat", changed), "vishid promises (3, 9) elements");
  changed = whole;
  changed[whole.find("vishid") - 9] = '\x80';
  check_model(folder.write("m.mat", changed), "negative size");
  const std::string packed = read_all(fixture("rbm_zlib.mat"));
  changed = packed;
  changed[packed.size() - 2] ^= 1;  // in the last variable's checksum
  check_model(folder.write("m.mat", changed), "is damaged: zlib stream");
}

TEST_CASE("a place that cannot be written is refused, and nothing half-written stays") {
  const Folder folder;
  const Layered model = read_model(fixture("rbm.npz"));
  const auto check = [&](const std::string& path, const std::string& fault) {
    check_refused(data_error([&] { write_model(model, path); }), path, fault);
  };
  check(folder / "none/m.npz", "cannot be written");
  check(folder.write("file", "x") + "/m.npz", "cannot be written");
  check("/proc/m.npz", "cannot be written");
  std::filesystem::create_directory(folder / "folder.npz");
  check(folder / "folder.npz", "is no regular file");
  CHECK(folder.entries() == 2);
}

TEST_CASE("a registered data set whose file was changed is refused by its digest") {
  const Folder folder;
  struct Restore {
    ~Restore() { set_data_folders({}); }
  } restore;
  set_data_folders({folder / "none"});
  CHECK_THAT(data_error([] { load_dataset("mnist"); }),
             Contains("train-images-idx3-ubyte.gz is missing"));
  CHECK_THAT(data_error([] { load_dataset("dna"); }), Contains("is missing"));
  set_data_folders({folder / ""});
  const std::string images = folder.write("t10k-images-idx3-ubyte",
                                          idx_header({10000, 28, 28}) + std::string(7840000, '\0'));
  folder.write("t10k-labels-idx1-ubyte", idx_header({10000}) + std::string(10000, '\0'));
  CHECK_THAT(data_error([] { load_dataset("mnist:test"); }),
             Contains("t10k-labels-idx1-ubyte: has SHA-256"));
  folder.write("t10k-images-idx3-ubyte", idx_header({2, 28, 28}) + std::string(2 * 784, '\0'));
  check_refused(data_error([] { load_dataset("mnist:test"); }), images, "has shape (2, 28, 28)");
  folder.write("dna_3186x181.csv", "n,0,1\n");
  CHECK_THAT(data_error([] { load_dataset("dna:test"); }), Contains("has SHA-256"));
}
