#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/model_file.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using io_test::check_model;
using io_test::check_refused;
using io_test::data_error;
using io_test::fixture;
using io_test::Folder;
using io_test::read_all;

namespace {

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

TEST_CASE(
    "an array that is named as a layer's and that no layer reads is refused, others are not") {
  const Folder folder;
  const std::string path = folder / "m.npz";
  const auto write = [&](const char* more, bool deep) {
    NpzWriter writer(path);
    if (deep) {
      writer.add("W0", kWeights);
      writer.add("b0", kThree);
      writer.add("b1", kTwo);
    } else {
      writer.add("W", kWeights);
      writer.add("b", kThree);
      writer.add("c", kTwo);
    }
    writer.add(more, kThree);
    writer.commit();
    return path;
  };
  for (const char* name : {"W2", "w1", "b2", "sigma0", "unit", "Sigma1"})
    for (const bool deep : {false, true})
      check_model(write(name, deep), fmt::format("has an array {}", name));
  check_model(write("W1", false), "has an array W1");
  check_model(write("w", true), "has an array w");
  for (const char* name : {"log_z_notes", "epoch", "bias_momentum", "weights", "c2"}) {
    INFO(name);
    CHECK(read_model(write(name, false)).size(0) == 3);
  }
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
  changed[whole.rfind("PK\x05\x06") + 4] = 1;  // of the end record: which part it is
  check_model(folder.write("m.npz", changed), "it is one part of several");
  changed = whole;
  changed[directory + 42] = 5;  // offset of the member
  check_model(folder.write("m.npz", changed), "a member's header is missing");
  // A name has no checksum, and an array of another name is left alone: 'units' a letter off would make a model
  // of bits.
  NpzWriter writer(folder / "u.npz");
  writer.add("W", kWeights);
  writer.add("b", kThree);
  writer.add("c", kTwo);
  writer.add("units", std::vector<std::int32_t>{1, 1}, {2});
  writer.commit();
  const std::string named = read_all(folder / "u.npz");
  for (const std::size_t at : {named.find("units.npy"), named.rfind("units.npy")}) {
    changed = named;
    changed[at] ^= 1;
    check_model(folder.write("m.npz", changed), "a member has another name in its own header");
  }
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
  // A variable's tag, flags and dimensions are 48 bytes before its name; text is of class 4.
  const std::size_t weights = whole.find("vishid") - 48, after = whole.find("visbiases") - 48;
  changed = whole;
  changed[weights + 16] = 4;
  check_model(folder.write("m.mat", changed), "vishid is no real matrix of numbers");
  changed = whole + whole.substr(weights, after - weights);
  check_model(folder.write("m.mat", changed), "vishid stands twice");
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
