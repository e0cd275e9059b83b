#include "boltzmark/model/case_values.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/error.hpp"

using namespace boltzmark;

namespace {

Eigen::MatrixXf three_levels() {
  Eigen::MatrixXf values(3, 2);
  values << 0, 7, 1, 1, 0, 255;
  return values;
}

}  // namespace

TEST_CASE("whole numbers of 0..255 are held as a byte each, other values as they are") {
  const CaseValues bytes = CaseValues::compact(three_levels());
  REQUIRE(bytes.levels() != nullptr);
  CHECK(*bytes.levels() == CaseValues::Levels{0, 1, 0, 7, 1, 255});
  CHECK(bytes.bytes() == 6);
  CHECK(bytes.matrix() == three_levels());
  for (const float odd : {0.5F, -1.0F, 256.0F, std::nanf("")}) {
    Eigen::MatrixXf values = three_levels();
    values(2, 1) = odd;
    const CaseValues floats = CaseValues::compact(values);
    CHECK(floats.levels() == nullptr);
    CHECK(floats.bytes() == 24);
    CHECK(floats.all([](float x) { return std::isfinite(x); }) == !std::isnan(odd));
  }
  CHECK_THROWS_AS(CaseValues({0, 1, 1}, 2), InvalidArgument);  // a case and a half
  CHECK(CaseValues().size() == 0);
}

TEST_CASE("both ways to hold values of cases give the same numbers") {
  const CaseValues bytes = CaseValues::compact(three_levels()), floats = three_levels();
  REQUIRE(floats.levels() == nullptr);
  for (const CaseValues& values : {bytes, floats}) {
    CHECK(values.rows() == 3);
    CHECK(values.cols() == 2);
    CHECK(values(2, 1) == 255);
    CHECK(values.col(1) == three_levels().col(1));
    CHECK(values.leftCols(1) == three_levels().leftCols(1));
    const int chosen[] = {1, 0, 1};
    CHECK(values.select(chosen) == three_levels()(Eigen::all, {1, 0, 1}));
    CHECK(values.minCoeff() == 0);
    CHECK(values.maxCoeff() == 255);
    CHECK(values.mean([](float x) { return x; }) == 264.0 / 6);  // 0 + 7 + 1 + 1 + 0 + 255
    CHECK(values.all([](float x) { return x != 2; }));
    CHECK_FALSE(values.all([](float x) { return x != 7; }));
    CHECK(values.hash(5) == floats.hash(5));
    CHECK(values.hash(5) != values.hash(6));
    const CaseValues signs = values.mapped([](float x) { return 2 * x - 1; });
    CHECK(signs.matrix() == (2 * three_levels().array() - 1).matrix());
    CHECK(signs.minCoeff() == -1);
    CHECK(signs.mean([](float x) { return x; }) == 87);
  }
  CHECK(bytes.mapped([](float x) { return -x; }).bytes() == 6);
  CHECK(bytes.mapped([](float x) { return -x; }).hash(5) != bytes.hash(5));
  const Eigen::MatrixXf other_shape = three_levels().reshaped(2, 3);
  CHECK(CaseValues(other_shape).hash(5) != bytes.hash(5));
}
