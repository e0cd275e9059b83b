#include "boltzmark/io/datasets/norb_pixels.hpp"

#include <algorithm>
#include <array>

namespace boltzmark {
namespace {

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

}  // namespace

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

}  // namespace boltzmark
