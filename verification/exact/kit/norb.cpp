// Small NORB's files, their pixel map, and the stand-in that is rendered for it.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/formats/byte_source.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/datasets/norb_toy.hpp"
#include "experiments/kit/temporary_folder.hpp"

namespace boltzmark::experiments {

namespace {

std::string digest(const Array& array) { return sha256(array.bytes.data(), array.bytes.size()); }

// Every pose of every category once, as the files of training or of test have them; images are
// promised, not there.
NorbSet grid(bool test) {
  std::vector<std::int32_t> categories;
  std::vector<NorbPose> poses;
  for (int i = 0; i < kNorbPairs; ++i) {
    categories.push_back(i % 5);
    poses.push_back({norb_instances(test)[static_cast<std::size_t>(i / 5 % 5)], i / 25 % 9,
                     2 * (i / 225 % 18), i / 4050});
  }
  NorbSet set = make_norb_set(categories, poses, 1);
  set.images.bytes.clear();
  set.images.shape = {kNorbPairs, 2, kNorbSide, kNorbSide};
  return set;
}

void change(Array& array, std::size_t i, std::int32_t value) {
  std::memcpy(array.bytes.data() + i * sizeof value, &value, sizeof value);
}

// The mean of a set's first images at 32 x 32 places, evenly spread over as many pixels or more.
Eigen::VectorXd mean_image(const NorbSet& set) {
  constexpr std::size_t kImages = 6000;
  const std::size_t side = set.images.shape[2];
  Eigen::VectorXd mean = Eigen::VectorXd::Zero(32 * 32);
  for (std::size_t image = 0; image < kImages; ++image)
    for (std::size_t place = 0; place < 32 * 32; ++place) {
      const std::size_t row = (2 * (place / 32) + 1) * side / 64,
                        column = (2 * (place % 32) + 1) * side / 64;
      mean[static_cast<Eigen::Index>(place)] +=
          set.images.bytes[(image * side + row) * side + column];
    }
  return mean / kImages;
}

double correlation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const Eigen::VectorXd from_a = a.array() - a.mean(), from_b = b.array() - b.mean();
  return from_a.dot(from_b) / (from_a.norm() * from_b.norm());
}

double mean_level(const NorbSet& set, std::size_t image) {
  const std::size_t pixels = set.images.shape[2] * set.images.shape[3];
  const auto first = set.images.bytes.begin() + static_cast<std::ptrdiff_t>(image * pixels);
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(pixels), 0.0) /
         static_cast<double>(pixels);
}

}  // namespace

TEST_CASE("the inputs of a NORB image are squares that partition its 96 x 96 pixels") {
  const std::vector<std::uint16_t>& inputs = norb_pixel_inputs();
  REQUIRE(inputs.size() == 96 * 96);
  struct Box {
    int top = 96, left = 96, bottom = 0, right = 0, pixels = 0;
  };
  std::vector<Box> boxes(4488);
  for (int row = 0; row < 96; ++row)
    for (int column = 0; column < 96; ++column) {
      Box& box = boxes.at(inputs[static_cast<std::size_t>(row * 96 + column)]);
      box.top = std::min(box.top, row);
      box.left = std::min(box.left, column);
      box.bottom = std::max(box.bottom, row + 1);
      box.right = std::max(box.right, column + 1);
      ++box.pixels;
    }
  std::vector<int> sides(9, 0);
  int first = -1;
  for (const Box& box : boxes) {
    const int side = box.bottom - box.top;
    REQUIRE(box.right - box.left == side);
    REQUIRE(box.pixels == side * side);
    ++sides[static_cast<std::size_t>(side)];
    REQUIRE(box.top * 96 + box.left > first);  // numbered by their first pixels
    first = box.top * 96 + box.left;
  }
  CHECK(sides == std::vector<int>{0, 4096, 272, 0, 76, 0, 0, 0, 44});
  // By hand: the corner is a square of 8, the middle begins at (16, 16).
  CHECK(inputs[7 * 96 + 7] == 0);
  CHECK(inputs[7 * 96 + 8] == 1);
  CHECK(inputs[16 * 96 + 16] != inputs[16 * 96 + 17]);
  CHECK(inputs[15 * 96 + 16] == inputs[14 * 96 + 17]);
}

TEST_CASE("a NORB image's inputs are the rounded means of their pixels") {
  std::vector<unsigned char> image(96 * 96, 10), inputs(4488);
  image[3] = 10 + 64;            // one of the 64 pixels of input 0: the mean is 11
  image[96 * 48 + 48] = 255;     // in the middle: alone
  image[96 * 14 + 16] = 10 + 2;  // one of four: 10.5 becomes 11
  reduce_norb_image(image.data(), inputs.data());
  const auto of = [](int row, int column) {
    return norb_pixel_inputs()[static_cast<std::size_t>(row * 96 + column)];
  };
  std::vector<unsigned char> expected(4488, 10);
  expected[0] = 11;
  expected[of(48, 48)] = 255;
  expected[of(14, 16)] = 11;
  CHECK(inputs == expected);
}

TEST_CASE("small NORB's labels must be every pose of every category once") {
  for (const bool test : {false, true}) {
    const NorbSet good = grid(test);
    CHECK_NOTHROW(check_norb(good, test));
    CHECK_THROWS_AS(check_norb(good, !test), DataError);  // the other half's instances
    NorbSet bad = good;
    change(bad.categories, 17, 5);
    CHECK_THROWS_AS(check_norb(bad, test), DataError);
    bad = good;
    change(bad.categories, 17, 3);  // which that pose has elsewhere
    CHECK_THROWS_AS(check_norb(bad, test), DataError);
    for (const int number : {0, 1, 2, 3}) {
      bad = good;
      change(bad.poses, static_cast<std::size_t>(4 * 100 + number), 35);
      CHECK_THROWS_AS(check_norb(bad, test), DataError);
    }
    bad = good;
    bad.images.shape = {kNorbPairs, 2, 32, 32};
    CHECK_THROWS_AS(check_norb(bad, test), DataError);
    bad = good;
    bad.images.shape[0] -= 1;
    CHECK_THROWS_AS(check_norb(bad, test), DataError);
    bad = good;
    bad.poses.type = ElementType::uint8;
    CHECK_THROWS_AS(check_norb(bad, test), DataError);
  }
}

TEST_CASE("a binary matrix's header has three sizes at least, little endian") {
  const auto words = [](const std::string& header) {
    std::vector<std::uint32_t> all(header.size() / 4);
    std::memcpy(all.data(), header.data(), header.size());
    return all;
  };
  using Words = std::vector<std::uint32_t>;
  CHECK(words(binary_matrix_header(ElementType::uint8, {24300, 2, 96, 96})) ==
        Words{0x1e3d4c55, 4, 24300, 2, 96, 96});
  CHECK(words(binary_matrix_header(ElementType::int32, {24300})) ==
        Words{0x1e3d4c54, 1, 24300, 1, 1});
  CHECK(words(binary_matrix_header(ElementType::int32, {24300, 4})) ==
        Words{0x1e3d4c54, 2, 24300, 4, 1});
  CHECK_THROWS_AS(binary_matrix_header(ElementType::int64, {1}), InvalidArgument);
}

TEST_CASE("a ray meets a solid where it enters the first part, at that part's normal") {
  const Solid solid({{Part::Shape::ellipsoid, {0, 0, 0}, {1, 2, 3}},
                     {Part::Shape::box, {5, 0, 0}, {1, 1, 1}},
                     {Part::Shape::cylinder_z, {0, 9, 0}, {1, 1, 2}}});
  const auto hit = solid.first_hit({{10, 0, 0.5F}, {-1, 0, 0}});
  REQUIRE(hit);
  CHECK(hit->t == 4);
  CHECK(hit->normal.x == 1);
  const auto pole = solid.first_hit({{0, 0, 10}, {0, 0, -2}});
  REQUIRE(pole);
  CHECK(pole->t == Approx(3.5).epsilon(1e-6));
  CHECK(pole->normal.z == 1);
  const auto cap = solid.first_hit({{0.5F, 9, 7}, {0, 0, -1}});
  REQUIRE(cap);
  CHECK(cap->t == 5);
  CHECK(cap->normal.z == 1);
  const auto side = solid.first_hit({{-4, 9, 1}, {2, 0, 0}});
  REQUIRE(side);
  CHECK(side->t == 1.5F);
  CHECK(side->normal.x == -1);
  CHECK_FALSE(solid.stops({{10, 0, 0}, {1, 0, 0}}));        // away from it
  CHECK(solid.stops({{10, 1.5F, 0}, {-1, 0, 0}}));          // past the box, at the ellipsoid
  CHECK_FALSE(solid.stops({{0.9F, 9.9F, 7}, {0, 0, -1}}));  // beside the cylinder, inside its box
  // Parallel to faces of a box: between them, and beyond either.
  const Solid box({{Part::Shape::box, {5, 0, 0}, {1, 1, 1}}});
  for (const float aside : {-1.5F, -0.5F, 0.5F, 1.5F}) {
    CHECK(box.stops({{10, aside, 0}, {-1, 0, 0}}) == (std::abs(aside) < 1));
    CHECK(box.stops({{10, 0, aside}, {-1, 0, 0}}) == (std::abs(aside) < 1));
  }
}

TEST_CASE("norb-toy is small NORB's grid of our own toys, the same bytes everywhere") {
  const NorbSet train = render_norb_toy(false, 32), test = render_norb_toy(true, 32);
  CHECK(train.images.shape == std::vector<std::uint64_t>{24300, 2, 32, 32});
  CHECK(digest(train.images) == "82b501af970a8909ddbb4449ea71965c242668353582bccf0262fe487124c5c3");
  CHECK(digest(train.categories) ==
        "a0a748833dfb700773db9320963ea8daa7b1ce4dc0b3b9fc05b84c7790192533");
  CHECK(digest(train.poses) == "30f170e9a32a0ab546746c2c02171c5052f180cb68ac1e438e86e2eae2ef5d24");
  CHECK(digest(test.images) == "e64eb78c7752cbc7790276510fa6b2ffdfce1a6f6e83e3fbb5d69c6987d38b71");
  CHECK(digest(test.categories) ==
        "1c710770ae46ce14e26e7280d15fdc1d8a25fbf4cd5fabf06173fd2110999b62");
  CHECK(digest(test.poses) == "180841802a3a97a321019737e3e8db17d7b6fcfdfb04741b04c0dc83618d6dad");
  // Written as LeCun's files are, and read back.
  const experiments::TemporaryFolder folder;
  write_norb(test, folder / "toy-dat.mat");
  const auto read_back = [&](const char* name) {
    ByteSource source = ByteSource::open(folder / name);
    return read_binary_matrix(source);
  };
  for (const auto& [name, written] :
       {std::pair("toy-dat.mat", &test.images), std::pair("toy-cat.mat", &test.categories),
        std::pair("toy-info.mat", &test.poses)}) {
    CAPTURE(name);
    const Array read = read_back(name);
    CHECK(read.type == written->type);
    CHECK(read.shape == written->shape);
    CHECK((read.bytes == written->bytes));
  }
  // All of small NORB's checks but the size of an image.
  for (const bool is_test : {false, true}) {
    NorbSet labels = is_test ? test : train;
    labels.images = {.type = ElementType::uint8,
                     .shape = {kNorbPairs, 2, 96, 96},
                     .bytes = {},
                     .place = {"images"}};
    CHECK_NOTHROW(check_norb(labels, is_test));
  }
  // Two cameras see two images; where a lamp is above, the ground is brighter than by one aside.
  const std::vector<std::int32_t> categories = train.categories.integers();
  CHECK(std::vector<int>(categories.begin(), categories.begin() + 5) !=
        std::vector<int>{0, 0, 0, 0, 0});
  double above = 0, aside = 0;
  for (std::size_t i = 0; i < 600; ++i) {
    std::int32_t lighting = 0;
    std::memcpy(&lighting, train.poses.bytes.data() + (4 * i + 3) * sizeof lighting,
                sizeof lighting);
    CHECK(std::memcmp(train.images.bytes.data() + 2 * i * 1024,
                      train.images.bytes.data() + (2 * i + 1) * 1024, 1024) != 0);
    if (lighting == 3) above = std::max(above, mean_level(train, 2 * i));
    if (lighting == 0) aside = std::max(aside, mean_level(train, 2 * i));
  }
  CHECK(above > aside);
  // Images of a side that does not divide 64 show the same, to a pixel.
  CHECK(correlation(mean_image(render_norb_toy(false, 33)), mean_image(train)) > 0.95);
}

TEST_CASE("norb-toy's cases are its pairs, the last 4,300 of training held out") {
  const BinariseOptions grey = parse_binarise("grey");
  const Dataset fit = load_dataset("norb-toy:fit", grey),
                valid = load_dataset("norb-toy:valid", grey);
  CHECK(fit.grey_levels);  // --binarise is of use
  CHECK(fit.values.cols() == 20000);
  CHECK(valid.values.cols() == 4300);
  CHECK(fit.rows == 64);
  CHECK(fit.cols == 32);
  CHECK(fit.values.rows() == 2048);
  CHECK(fit.sha256 == valid.sha256);
  std::vector<int> counts(5, 0);
  for (const int label : fit.labels) ++counts.at(static_cast<std::size_t>(label));
  for (const int label : valid.labels) ++counts.at(static_cast<std::size_t>(label));
  CHECK(counts == std::vector<int>(5, 4860));
  // Held out by chance: each category's share of 4,300 is 860, its standard deviation below 27.
  for (int category = 0; category < 5; ++category)
    CHECK(std::abs(std::count(valid.labels.begin(), valid.labels.end(), category) - 860) <
          6.1 * 27);
}

}  // namespace boltzmark::experiments
