#include <rapidcheck/catch.h>

#include <catch2/catch.hpp>

#include "boltzmark/io/formats/mat.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/model_file.hpp"
#include "verification/interface/io/files.hpp"

using namespace boltzmark;
using io_test::Folder;

namespace {

/// Any finite double that float32 can hold too when asked: a mantissa and an exponent.
double any_number(FilePrecision precision) {
  const double value = std::ldexp(*rc::gen::arbitrary<double>(), *rc::gen::inRange(-60, 60));
  const double bounded = std::isfinite(value) ? std::clamp(value, -1e30, 1e30) : 0.0;
  return precision == FilePrecision::float32 ? static_cast<float>(bounded) : bounded;
}

Layered any_model(FilePrecision precision, int most_layers, bool binary) {
  const int count = *rc::gen::inRange(2, most_layers + 1);
  std::vector<Layer> layers(count);
  std::vector<Eigen::MatrixXd> weights;
  const auto number = [&] { return any_number(precision); };
  for (int l = 0; l < count; ++l) {
    const int size = *rc::gen::inRange(1, 6);
    if (!binary) layers[l].unit = Unit::from_code(*rc::gen::element(0, 1, 2, 4, 65535, -1, -2));
    layers[l].bias = Eigen::VectorXd::NullaryExpr(size, number);
    if (layers[l].unit.has_scale()) {
      layers[l].sigma0 = Eigen::VectorXd::NullaryExpr(size, [] {
        return std::ldexp(1.0 + *rc::gen::inRange(0, 1 << 20) * 0x1p-20, *rc::gen::inRange(-9, 9));
      });
    }
    if (l == 0) continue;
    weights.push_back(Eigen::MatrixXd::NullaryExpr(layers[l - 1].bias.size(), size, number));
  }
  return Layered(std::move(layers), std::move(weights));
}

bool same(const Layered& a, const Layered& b) {
  if (a.layers() != b.layers()) return false;
  for (int l = 0; l < a.layers(); ++l) {
    const Layer &x = a.layer(l), &y = b.layer(l);
    if (x.unit != y.unit || x.bias != y.bias || x.sigma0.size() != y.sigma0.size()) return false;
    if (x.sigma0.size() > 0 && x.sigma0 != y.sigma0) return false;
    if (l > 0 && a.weights(l - 1) != b.weights(l - 1)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a model of any units and depth comes back exactly from .npz, in both precisions") {
  const Folder folder;
  rc::prop("npz", [&] {
    const FilePrecision precision =
        *rc::gen::element(FilePrecision::float32, FilePrecision::float64);
    const Layered model = any_model(precision, 4, false);
    write_model(model, folder / "m.npz", precision);
    RC_ASSERT(same(read_model(folder / "m.npz"), model));
  });
}

TEST_CASE("an RBM comes back exactly from .mat, in both precisions") {
  const Folder folder;
  rc::prop("mat", [&] {
    const FilePrecision precision =
        *rc::gen::element(FilePrecision::float32, FilePrecision::float64);
    const Layered model = any_model(precision, 2, true);
    write_model(model, folder / "m.mat", precision);
    RC_ASSERT(same(read_model(folder / "m.mat"), model));
  });
}

// The class stands in the array flags, behind a header of 128 bytes and two tags; 6 is a double.
TEST_CASE("a matrix in .mat has the class of its precision, and may be stored as small integers") {
  const Folder folder;
  const auto written = [&](ElementType type) {
    AtomicFile file(folder / "m.mat");
    write_mat_header(file);
    write_mat_matrix(file, "x", Eigen::RowVector2d(-2, 40000), type);
    file.commit();
    return io_test::read_all(folder / "m.mat");
  };
  CHECK(written(ElementType::float64)[144] == 6);
  CHECK(written(ElementType::float32)[144] == 7);
  // MATLAB stores whole numbers of a double matrix in fewer bytes: two of type 3, signed, or 4, and
  // one of type 1, signed, or 2.
  const std::string head = written(ElementType::float64).substr(0, 184);
  for (const auto& [type, first] : {std::pair('\1', -2.0), std::pair('\2', 254.0),
                                    std::pair('\3', -2.0), std::pair('\4', 65534.0)}) {
    const bool wide = type > '\2';
    std::string file = head + std::string{type, 0, static_cast<char>(wide ? 4 : 2), 0} +
                       std::string(wide ? "\xfe\xff\x05\x00" : "\xfe\x05\x00\x00", 4);
    file[132] = static_cast<char>(file.size() - 136);
    CHECK(read_mat(folder.write("i.mat", file), {"x"}).at("x").matrix() ==
          Eigen::RowVector2d(first, 5));
  }
}

TEST_CASE("a matrix in .mat may be stored as integers of four bytes") {
  // Of type 5, signed, or 6: the count of bytes stands apart from the type then.
  const Folder folder;
  AtomicFile file(folder / "m.mat");
  write_mat_header(file);
  write_mat_matrix(file, "x", Eigen::RowVector2d(0, 0), ElementType::float64);
  file.commit();
  const std::string head = io_test::read_all(folder / "m.mat").substr(0, 184);
  for (const auto& [type, first] : {std::pair('\5', -70000.0), std::pair('\6', 4294897296.0)}) {
    std::string stored = head + std::string{type, 0, 0, 0, 8, 0, 0, 0} +
                         std::string("\x90\xee\xfe\xff\x05\x00\x00\x00", 8);
    stored[132] = static_cast<char>(stored.size() - 136);
    CHECK(read_mat(folder.write("i.mat", stored), {"x"}).at("x").matrix() ==
          Eigen::RowVector2d(first, 5));
  }
}

TEST_CASE("the same model gives the same bytes, and no draft stays behind") {
  const Folder folder;
  const Layered model = read_model(io_test::fixture("deep.npz"));
  write_model(model, folder / "a.npz");
  write_model(model, folder / "b.npz");
  write_model(model, folder / "b.npz");  // replaces
  CHECK(io_test::read_all(folder / "a.npz") == io_test::read_all(folder / "b.npz"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("arrays of every written type come back with shape and values") {
  const Folder folder;
  const std::vector<double> doubles = {1, -0.5, 1e300, 4, 5, 6};
  const std::vector<float> floats = {1.5F};
  const std::vector<std::int32_t> ints = {-7, 2147483647};
  const std::vector<std::int64_t> longs = {};
  const std::vector<std::uint8_t> bytes = {0, 255, 7, 9};
  NpzWriter writer(folder / "a.npz");
  writer.add("D", doubles, {1, 3, 2});
  writer.add("f", floats, {});
  writer.add("rung", ints, {2});
  writer.add("none", longs, {0, 5});
  writer.add("bytes", bytes, {2, 2});
  CHECK_THROWS_AS(writer.add("bytes", bytes, {4}), InvalidArgument);
  CHECK_THROWS_AS(writer.add("other", bytes, {5}), InvalidArgument);
  CHECK(folder.entries() == 1);  // the draft only
  CHECK_FALSE(std::filesystem::exists(folder / "a.npz"));
  writer.commit();
  const Npz file(folder / "a.npz");
  const Array array = file.read("D");
  CHECK(array.shape == std::vector<std::uint64_t>{1, 3, 2});
  CHECK(std::memcmp(array.bytes.data(), doubles.data(), 48) == 0);
  CHECK(file.read("f").type == ElementType::float32);
  CHECK(file.read("rung").integers() == ints);
  CHECK(file.read("none").count() == 0);
  CHECK(file.read("bytes").matrix()(0, 1) == 255);
}

TEST_CASE("a draft that is never committed leaves nothing") {
  const Folder folder;
  { NpzWriter(folder / "a.npz").add("x", std::vector<float>{1}, {1}); }
  CHECK(folder.entries() == 0);
}

TEST_CASE("what a format cannot hold is refused before anything is written") {
  const Folder folder;
  const Layered deep = read_model(io_test::fixture("deep.npz"));
  CHECK_THROWS_AS(write_model(deep, folder / "m.mat"), InvalidArgument);
  CHECK_THROWS_AS(write_model(deep, folder / "m.pt"), InvalidArgument);
  const Layered large = Layered::rbm(Eigen::MatrixXd::Constant(1, 1, 1e300),
                                     Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1));
  CHECK_THROWS_AS(write_model(large, folder / "m.npz", FilePrecision::float32), InvalidArgument);
  const auto biased = [](double below, double above) {
    return Layered::rbm(Eigen::MatrixXd::Zero(1, 1), Eigen::VectorXd::Constant(1, below),
                        Eigen::VectorXd::Constant(1, above));
  };
  const auto scaled = [](double sigma) {
    Layer gaussian{Unit::gaussian(), Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, sigma)};
    return Layered({gaussian, {Unit::bernoulli(), Eigen::VectorXd::Zero(1), {}}},
                   {Eigen::MatrixXd::Zero(1, 1)});
  };
  for (const double sigma : {1e-60, 1e60})  // float32's zero, and its infinity
    CHECK_THROWS_AS(write_model(scaled(sigma), folder / "m.npz", FilePrecision::float32),
                    InvalidArgument);
  for (const Layered& model : {biased(1e39, 0), biased(0, -1e39)})
    CHECK_THROWS_AS(write_model(model, folder / "m.npz", FilePrecision::float32), InvalidArgument);
  CHECK(folder.entries() == 0);
  CHECK_NOTHROW(write_model(biased(1e38, -1e38), folder / "m.npz", FilePrecision::float32));
}
