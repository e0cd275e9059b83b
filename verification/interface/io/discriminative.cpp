#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <optional>

#include "boltzmark/io/dataset.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using io_test::check_refused;
using io_test::data_error;
using io_test::Folder;

namespace {

DiscriminativeRbm any_model(Unit unit) {
  Stream stream(make_key(1), Purpose::test);
  const auto draw = [&](Eigen::Index rows, Eigen::Index cols) {
    return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return stream.normal(); }).eval();
  };
  const Eigen::MatrixXd input_weights = draw(3, 4), class_weights = draw(3, 2);
  const Eigen::VectorXd hidden_bias = draw(3, 1), class_bias = draw(2, 1);
  return DiscriminativeRbm(unit, input_weights, class_weights, hidden_bias, class_bias);
}

/// The arrays of a model of 4 inputs, 3 hidden units and 2 classes, to be spoilt.
struct Arrays {
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(4, 3);
  std::optional<Eigen::MatrixXd> u = Eigen::MatrixXd::Zero(3, 2);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(2);
  Eigen::VectorXd c = Eigen::VectorXd::Zero(3);
  std::vector<std::int32_t> units = {};
  std::string further = {};  ///< the name of one more

  void write(const std::string& path) const {
    NpzWriter file(path);
    file.add("W", w);
    if (u) file.add("U", *u);
    file.add("b", b);
    file.add("c", c);
    if (!units.empty()) file.add("units", units, {units.size()});
    if (!further.empty()) file.add(further, b);
    file.commit();
  }
};

}  // namespace

TEST_CASE("a discriminative RBM comes back exactly, and its W is [inputs x hidden]") {
  const Folder folder;
  for (const int code : {0, 1, 4, 65535, -1}) {
    const DiscriminativeRbm model = any_model(Unit::from_code(code));
    const std::string path = folder / "m.npz";
    write_discriminative(model, path);
    CHECK(is_discriminative_file(path));
    const DiscriminativeRbm back = read_discriminative(path);
    CHECK(back.hidden_unit() == model.hidden_unit());
    CHECK(back.input_weights() == model.input_weights());
    CHECK(back.class_weights() == model.class_weights());
    CHECK(back.hidden_bias() == model.hidden_bias());
    CHECK(back.class_bias() == model.class_bias());
    const Npz file(path);
    CHECK(file.read("W").shape == std::vector<std::uint64_t>{4, 3});
    CHECK(file.read("W").matrix()(1, 2) == model.input_weights()(2, 1));
  }
  Arrays().write(folder / "plain.npz");
  CHECK(read_discriminative(folder / "plain.npz").hidden_unit() == Unit::bernoulli());
  CHECK_THROWS_AS(write_discriminative(any_model(Unit::bernoulli()), folder / "m.mat"),
                  InvalidArgument);
}

TEST_CASE("a discriminative file says how its inputs were binarised, or nothing") {
  const Folder folder;
  const std::string path = folder / "m.npz";
  const DiscriminativeRbm model = any_model(Unit::continuous());
  write_discriminative(model, path);
  CHECK_FALSE(read_binarise(path).has_value());
  for (const char* text : {"grey", "threshold:9", "sample:18446744073709551615"}) {
    write_discriminative(model, path, parse_binarise(text));
    REQUIRE(read_binarise(path).has_value());
    CHECK(binarise_text(*read_binarise(path)) == text);
    CHECK(read_discriminative(path).input_weights() == model.input_weights());
  }
  NpzWriter bad(path);
  bad.add("binarise", std::vector<std::uint8_t>{'g', 'r', 'a', 'y'}, {4});
  bad.commit();
  check_refused(data_error([&] { read_binarise(path); }), path, "binarise = gray");
}

TEST_CASE("a discriminative file with missing or disagreeing arrays is refused") {
  const Folder folder;
  const std::string path = folder / "bad.npz";
  const auto refuses = [&](const Arrays& arrays, const std::string& fault) {
    arrays.write(path);
    check_refused(data_error([&] { read_discriminative(path); }), path, fault);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  refuses({.u = std::nullopt}, "has no array U");
  refuses({.u = Eigen::MatrixXd::Zero(2, 2)}, "U has shape (2, 2)");
  refuses({.b = Eigen::VectorXd::Zero(4)}, "b has 4 values (must have 2, the classes of U");
  refuses({.c = Eigen::VectorXd::Zero(4)}, "c has 4 values (must have 3, the hidden units of W");
  refuses({.w = Eigen::MatrixXd::Constant(4, 3, nan)}, "W holds NaN");
  refuses({.units = {1, 1}}, "units has 2 codes");
  for (const char* none : {"W1", "b0", "sigma0"})
    refuses({.further = none}, std::string("has an array ") + none + " that a discriminative RBM");
  Arrays{.further = "note"}.write(path);  // arrays of other names are left alone
  CHECK(read_discriminative(path).classes() == 2);
  refuses({.units = {-7}}, "unit code = -7");
  refuses({.units = {-2}}, "Gaussian");
  refuses({.u = Eigen::MatrixXd::Zero(3, 1), .b = Eigen::VectorXd::Zero(1)}, "classes = 1");
}

TEST_CASE("a discriminative file is no model of visible units, and says so") {
  const Folder folder;
  Arrays().write(folder / "m.npz");
  check_refused(data_error([&] { read_model(folder / "m.npz"); }), folder / "m.npz",
                "is a discriminative RBM");
}

TEST_CASE("classes are read from IDX, .npy and text, and are whole numbers from 0") {
  const Folder folder;
  const std::vector<int> expected{3, 0, 2};
  CHECK(read_labels(folder.write("l.txt", "3\n0\n2\n")) == expected);
  const std::string idx{0, 0, 8, 1, 0, 0, 0, 3, 3, 0, 2};
  CHECK(read_labels(folder.write("l-idx1", idx)) == expected);
  CHECK(read_labels(folder.write("l.csv", "label\n3\n0\n2\n")) == expected);  // as pandas writes
  for (const std::string shape : {"(3,)", "(3, 1)"}) {
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    CHECK(read_labels(folder.write("l.npy", std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header +
                                                "\n" + std::string{3, 0, 2})) == expected);
  }
  const auto refuses = [&](const std::string& content, const std::string& fault) {
    const std::string path = folder.write("bad", content);
    check_refused(data_error([&] { read_labels(path); }), path, fault);
  };
  refuses("3\n-1\n", "case 2 has class -1");
  refuses("1\n0.5\n", "case 2 has class 0.5");
  refuses("1,2\n0,1\n", "has 2 columns");
  refuses("", "");
}
