#include "experiments/kit/datasets/norb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/io/formats/byte_source.hpp"
#include "boltzmark/io/formats/idx.hpp"
#include "experiments/kit/datasets/data_folders.hpp"

namespace boltzmark::experiments {
namespace {

constexpr std::size_t kPoseNumbers = 4;

enum NorbFile { kImages, kCategories, kPoses };
constexpr std::array<std::string_view, 3> kNorbEndings = {"dat", "cat", "info"};

std::string norb_name(bool test, NorbFile file) {
  return fmt::format("smallnorb-5x{}x9x18x6x2x96x96-{}-{}.mat", test ? "01235" : "46789",
                     test ? "testing" : "training", kNorbEndings[file]);
}

Array integer_array(const void* values, std::vector<std::uint64_t> shape, const char* place) {
  Array array{.type = ElementType::int32, .shape = std::move(shape), .bytes = {}, .place = {place}};
  array.bytes.resize(array_bytes(array.type, array.shape, array.place));
  std::memcpy(array.bytes.data(), values, array.bytes.size());
  return array;
}

Array read_norb_file(bool test, NorbFile file) {
  const std::string name = norb_name(test, file);
  const auto path = find_data_file("norb", name);
  if (!path)
    Place{"norb"}.refuse(fmt::format("file {} is missing", name),
                         "must be in datasets/norb or a folder of BOLTZMARK_DATA");
  ByteSource source = ByteSource::open(*path);
  return read_binary_matrix(source);
}

void expect_array(const Array& array, ElementType type, const std::vector<std::uint64_t>& shape) {
  if (array.type != type)
    array.place.refuse(fmt::format("holds {}", element_name(array.type)),
                       fmt::format("must hold {}", element_name(type)));
  if (array.shape != shape)
    array.place.refuse("has shape " + shape_text(array.shape), "must be " + shape_text(shape));
}

template <class Element>
Element element_at(const Array& array, std::size_t i) {
  Element value;
  std::memcpy(&value, array.bytes.data() + i * sizeof value, sizeof value);
  return value;
}

// The number of a pose among all, in the order of the grid; -1 if it is none of them.
int grid_place(std::int32_t category, const NorbPose& pose, bool test) {
  const std::array<int, 5> instances = norb_instances(test);
  const auto* instance = std::find(instances.begin(), instances.end(), pose.instance);
  const auto within = [](std::int32_t value, int count) { return value >= 0 && value < count; };
  if (!within(category, kNorbCategories) || instance == instances.end() ||
      !within(pose.elevation, kNorbElevations) || !within(pose.azimuth, 2 * kNorbAzimuths) ||
      pose.azimuth % 2 != 0 || !within(pose.lighting, kNorbLightings))
    return -1;
  const auto number = static_cast<int>(instance - instances.begin());
  return (((category * 5 + number) * kNorbElevations + pose.elevation) * kNorbAzimuths +
          pose.azimuth / 2) *
             kNorbLightings +
         pose.lighting;
}

// The side of the square that a pixel belongs to; its corners are multiples of it.
int square_side(int row, int column) {
  const int edge = std::min({row, column, kNorbSide - 1 - row, kNorbSide - 1 - column});
  return edge < 8 ? 8 : edge < 12 ? 4 : edge < 16 ? 2 : 1;
}

std::vector<std::uint16_t> number_squares() {
  std::vector<std::uint16_t> inputs(kNorbSide * kNorbSide);
  std::uint16_t next = 0;
  for (int row = 0; row < kNorbSide; ++row)
    for (int column = 0; column < kNorbSide; ++column) {
      const int side = square_side(row, column);
      const int first = row / side * side * kNorbSide + column / side * side;
      const int here = row * kNorbSide + column;
      inputs[here] = first == here ? next++ : inputs[first];
    }
  return inputs;
}

void write_binary_matrix(const Array& array, const std::string& path) {
  AtomicFile file(path);
  file.write(binary_matrix_header(array.type, array.shape));
  file.write(array.bytes.data(), array.bytes.size());
  file.commit();
}

}  // namespace

std::array<int, 5> norb_instances(bool test) {
  return test ? std::array{0, 1, 2, 3, 5} : std::array{4, 6, 7, 8, 9};
}

NorbSet make_norb_set(const std::vector<std::int32_t>& categories,
                      const std::vector<NorbPose>& poses, int side) {
  static_assert(sizeof(NorbPose) == kPoseNumbers * sizeof(std::int32_t));
  const auto pairs = static_cast<std::uint64_t>(poses.size());
  const auto pixels = static_cast<std::uint64_t>(side);
  Array images{.type = ElementType::uint8,
               .shape = {pairs, 2, pixels, pixels},
               .bytes = {},
               .place = {"images"}};
  images.bytes.resize(array_bytes(images.type, images.shape, images.place));
  return {std::move(images), integer_array(categories.data(), {pairs}, "categories"),
          integer_array(poses.data(), {pairs, kPoseNumbers}, "poses")};
}

void check_norb(const NorbSet& set, bool test) {
  expect_array(set.categories, ElementType::int32, {kNorbPairs});
  expect_array(set.poses, ElementType::int32, {kNorbPairs, kPoseNumbers});
  expect_array(set.images, ElementType::uint8, {kNorbPairs, 2, kNorbSide, kNorbSide});
  std::vector<bool> seen(kNorbPairs, false);
  for (std::size_t i = 0; i < kNorbPairs; ++i) {
    const auto pose = element_at<NorbPose>(set.poses, i);
    const auto category = element_at<std::int32_t>(set.categories, i);
    const int place = grid_place(category, pose, test);
    const std::string what =
        fmt::format("pair {} is of category {}, instance {}, elevation {}, azimuth {}, lighting {}",
                    i + 1, category, pose.instance, pose.elevation, pose.azimuth, pose.lighting);
    if (place < 0)
      set.poses.place.refuse(
          what, fmt::format("must be one of small NORB's {} pairs", test ? "test" : "training"));
    if (seen[static_cast<std::size_t>(place)])
      set.poses.place.refuse(
          what + ", as one before",
          "must have each once, by the categories of " + set.categories.place.file);
    seen[static_cast<std::size_t>(place)] = true;
  }
}

bool has_norb() {
  for (const bool test : {false, true})
    for (const NorbFile file : {kImages, kCategories, kPoses})
      if (!find_data_file("norb", norb_name(test, file))) return false;
  return true;
}

NorbSet read_norb(bool test) {
  NorbSet set{.images = {},
              .categories = read_norb_file(test, kCategories),
              .poses = read_norb_file(test, kPoses)};
  set.images = read_norb_file(test, kImages);
  check_norb(set, test);
  return set;
}

std::array<std::string, 3> norb_files(const std::string& path) {
  std::string stem = path;
  for (const std::string_view ending : {".mat", "-dat"})
    if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  return {path, stem + "-cat.mat", stem + "-info.mat"};
}

void write_norb(const NorbSet& set, const std::string& path) {
  const std::array<std::string, 3> files = norb_files(path);
  write_binary_matrix(set.categories, files[kCategories]);
  write_binary_matrix(set.poses, files[kPoses]);
  write_binary_matrix(set.images, files[kImages]);
}

const std::vector<std::uint16_t>& norb_pixel_inputs() {
  static const std::vector<std::uint16_t> inputs = number_squares();
  return inputs;
}

void reduce_norb_image(const unsigned char* image, unsigned char* inputs) {
  const std::vector<std::uint16_t>& of = norb_pixel_inputs();
  std::array<std::uint16_t, kNorbInputs> sums{}, counts{};
  for (std::size_t pixel = 0; pixel < of.size(); ++pixel) {
    sums[of[pixel]] = static_cast<std::uint16_t>(sums[of[pixel]] + image[pixel]);
    ++counts[of[pixel]];
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    inputs[i] = static_cast<unsigned char>((sums[i] + counts[i] / 2) / counts[i]);
}

Array reduce_norb(const Array& images) {
  constexpr std::size_t kPixels = kNorbSide * kNorbSide;
  Array reduced{.type = ElementType::uint8,
                .shape = {images.shape[0], 2, kNorbInputs},
                .bytes = {},
                .place = images.place};
  reduced.bytes.resize(2 * images.shape[0] * kNorbInputs);
  parallel_for(2 * images.shape[0], [&](std::size_t i) {
    reduce_norb_image(images.bytes.data() + i * kPixels, reduced.bytes.data() + i * kNorbInputs);
  });
  return reduced;
}

}  // namespace boltzmark::experiments
