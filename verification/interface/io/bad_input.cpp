#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "experiments/kit/datasets/data_folders.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using Catch::Contains;
using io_test::check_model;
using io_test::check_refused;
using io_test::data_error;
using io_test::fixture;
using io_test::Folder;
using io_test::gzipped;
using io_test::read_all;

namespace {

void check_data(const std::string& path, const std::string& fault) {
  check_refused(data_error([&] { read_dataset(path); }), path, fault);
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
  const std::string message = data_error([&] { read_dataset(folder / "a\nb"); });
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
  CHECK_THAT(data_error([] { experiments::load_dataset("mnits"); }),
             Contains("must be mnist, bas"));
  CHECK_THAT(data_error([] { experiments::load_dataset("bas:training"); }),
             Contains("must be train, valid"));
  CHECK_THAT(data_error([] { experiments::load_dataset("artificial-modes-2"); }),
             Contains("is no data set"));
  CHECK_THROWS_AS(experiments::load_dataset("bas", {}, "all"), InvalidArgument);
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
  refuse("{'descr': '<U8', 'fortran_order': False, 'shape': (1, 1)}", "holds text, '<U8'");
  refuse("{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}", "holds Python objects, '|O'");
  check_data(fixture("big_endian.npy"), "holds big-endian float64");
  check_data(fixture("complex.npy"), "holds complex128");
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
  check_data(folder.write("a.csv", "1,-1e60\n"), "'-1e60' is out of range");
  check_data(folder.write("a.csv", "1,1e400\n"), "'1e400' is out of range");
  check_data(folder.write("a.csv", "1,-1E+400\n"), "'-1E+400' is out of range");
  const std::string zeros(400, '0');
  check_data(folder.write("a.csv", "1,1" + zeros + "e-5\n"), "is out of range");
  check_data(folder.write("a.csv", "1,0." + zeros + "1e500\n"), "is out of range");
  check_data(folder.write("a.csv", "1,1e99999999999999999999\n"), "is out of range");
  for (const std::string& small :
       {std::string("-1e-60"), std::string("1e-400"), std::string("-1E-400"),
        std::string("+2.5e-5000"), "0." + zeros + "1", "1" + zeros + "e-500",
        "-." + zeros + "1e300", std::string("1e-99999999999999999999")})
    CHECK(read_dataset(folder.write("a.csv", std::string("1,") + small + "\n")).values(1, 0) == 0);
}

TEST_CASE("integers beyond int32 are refused, be the bits that int32 keeps of the same sign") {
  const Folder folder;
  const auto integers = [&](std::int64_t value) {
    NpzWriter writer(folder / "a.npz");
    writer.add("units", std::vector<std::int64_t>{7, value}, {2});
    writer.commit();
    return Npz(folder / "a.npz").read("units").integers();
  };
  for (const std::int64_t value : {std::int64_t{2147483647}, -std::int64_t{2147483648}})
    CHECK(integers(value) == std::vector<std::int32_t>{7, static_cast<std::int32_t>(value)});
  // 2^31 and its opposite, and what is 3 or -3 modulo 2^32.
  for (const std::int64_t value : {std::int64_t{2147483648}, -std::int64_t{2147483649},
                                   std::int64_t{4294967299}, -std::int64_t{4294967299}})
    CHECK_THAT(data_error([&] { integers(value); }),
               Contains(std::to_string(value)) && Contains("must be within int32"));
}

TEST_CASE("text that is no table of numbers is refused with row and column") {
  const Folder folder;
  check_data(folder.write("a.csv", "1,2\n3\n"), "row 2 holds 1 values");
  check_data(folder.write("a.amat", "1 2\n\n3 4 5\n"), "row 2 holds 3 values");
  check_data(folder.write("a.csv", "1,,2\n"), "row 1, column 2: '' is empty");
  check_data(folder.write("a.csv", "1,2,\n"), "row 1, column 3: '' is empty");
  check_data(folder.write("a.csv", "pixel0,1\n0,1\n"), "'pixel0' is no number");
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
  CHECK(read_dataset(folder.write("a", idx("554c3d1e" + two + "00000000", 6))).values.rows() == 3);
  // Shorts have a sign: cases of -1, 2, 32767 and 0, 1, -32768.
  const std::string shorts = idx("564c3d1e" + two + "00000000" + "ffff0200ff7f000001000080", 0);
  Eigen::MatrixXf expected(3, 2);
  expected << -1, 0, 2, 1, 32767, -32768;
  CHECK(read_dataset(folder.write("a", shorts)).values.matrix() == expected);
  // Floats are four bytes long, doubles eight.
  expected << 0.5, 3, -1, 0, 2, 7.25;
  const auto written = [&]<typename Real>(const char* magic, Real) {
    std::string file = idx(magic + two + "00000000", 0);
    for (const float value : expected.reshaped()) {
      const Real real = value;
      file.append(reinterpret_cast<const char*>(&real), sizeof real);
    }
    return folder.write("a", file);
  };
  CHECK(read_dataset(written("514c3d1e", float{})).values.matrix() == expected);
  CHECK(read_dataset(written("534c3d1e", double{})).values.matrix() == expected);
}

TEST_CASE("bytes that have a sign are cases of both signs") {
  const Folder folder;
  const std::string head = "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2)}";
  const std::string path = folder.write("a.npy", npy(head, std::string("\x01\xff\xff\x01", 4)));
  CHECK(read_dataset(path).values.matrix() == (Eigen::Matrix2f() << 1, -1, -1, 1).finished());
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
  CHECK(read_dataset(folder.write("a.csv.gz", gzipped(table) + gzipped(table))).values.cols() == 4);
}

TEST_CASE("a gzip bomb is unpacked no further than its header promises") {
  const Folder folder;
  const std::string zeros(std::size_t{1} << 26, '\0');
  check_data(folder.write("bomb", gzipped(idx("000008030000000100000002000000ff", 0) + zeros)),
             "goes on after its data");
}

TEST_CASE("a registered data set whose file was changed is refused by its digest") {
  const Folder folder;
  struct Restore {
    ~Restore() { experiments::set_data_folders({}); }
  } restore;
  experiments::set_data_folders({folder / "none"});
  CHECK_THAT(data_error([] { experiments::load_dataset("mnist"); }),
             Contains("train-images-idx3-ubyte.gz is missing"));
  CHECK_THAT(data_error([] { experiments::load_dataset("dna"); }), Contains("is missing"));
  experiments::set_data_folders({folder / ""});
  const std::string images = folder.write("t10k-images-idx3-ubyte",
                                          idx_header({10000, 28, 28}) + std::string(7840000, '\0'));
  folder.write("t10k-labels-idx1-ubyte", idx_header({10000}) + std::string(10000, '\0'));
  CHECK_THAT(data_error([] { experiments::load_dataset("mnist:test"); }),
             Contains("t10k-labels-idx1-ubyte: has SHA-256"));
  folder.write("t10k-images-idx3-ubyte", idx_header({2, 28, 28}) + std::string(2 * 784, '\0'));
  check_refused(data_error([] { experiments::load_dataset("mnist:test"); }), images,
                "has shape (2, 28, 28)");
  folder.write("dna_3186x181.csv", "n,0,1\n");
  CHECK_THAT(data_error([] { experiments::load_dataset("dna:test"); }), Contains("has SHA-256"));
}
