#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/io/dataset_sources.hpp"
#include "boltzmark/io/sha256.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

constexpr int kSide = 4;
constexpr int kPixels = kSide * kSide;
constexpr std::uint64_t kModeCases = 10000, kModesHeldOut = 2000;
constexpr std::uint64_t kModesSeed = 1;

/// Computes the digest of binary values written as bytes, case after case.
std::string digest_of(const Eigen::MatrixXf& values) {
  const Eigen::Matrix<unsigned char, Eigen::Dynamic, Eigen::Dynamic> bytes =
      values.cast<unsigned char>();
  return sha256(bytes.data(), static_cast<std::size_t>(bytes.size()));
}

bool mode_pixel(std::uint64_t mode, int pixel) {
  const bool second_half = pixel >= kPixels / 2;
  return mode == 1 || (mode == 2 && second_half) || (mode == 3 && !second_half);
}

}  // namespace

Dataset bars_and_stripes() {
  constexpr int kPatterns = 1 << kSide;
  Dataset data;
  data.rows = data.cols = kSide;
  data.values.resize(kPixels, 2 * kPatterns);
  for (int number = 0; number < kPatterns; ++number) {
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const int row = pixel / kSide, column = pixel % kSide;
      data.values(pixel, number) = static_cast<float>(number >> row & 1);
      data.values(pixel, kPatterns + number) = static_cast<float>(number >> column & 1);
    }
  }
  data.provenance = "generated: all 4x4 images of equal rows, then all of equal columns";
  data.sha256 = digest_of(data.values);
  return data;
}

Dataset artificial_modes(Split split, double flip_probability) {
  if (!(flip_probability >= 0 && flip_probability <= 1)) {
    throw InvalidArgument(
        fmt::format("flip probability = {} (must be in [0, 1])", flip_probability));
  }
  const CaseRange range = split == Split::test ? CaseRange{kModeCases, kModeCases}
                                               : training_range(split, kModeCases, kModesHeldOut);
  const StreamKey key =
      make_key(kModesSeed, "artificial-modes", fmt::format("{}", flip_probability));
  const auto threshold = static_cast<std::uint64_t>(std::round(flip_probability * 0x1p32));
  Dataset data;
  data.rows = data.cols = kSide;
  data.values.resize(kPixels, static_cast<Eigen::Index>(range.count));
  for (std::uint64_t i = 0; i < range.count; ++i) {
    const std::uint64_t number = range.first + i, mode = number % 4;
    Stream draws(key, Purpose::data, number);
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const bool flipped = draws() < threshold;
      data.values(pixel, static_cast<Eigen::Index>(i)) = mode_pixel(mode, pixel) != flipped;
    }
    data.labels.push_back(static_cast<int>(mode));
  }
  data.provenance =
      fmt::format("generated: 2,500 copies of each of 4 modes, pixels flipped with probability {}",
                  flip_probability);
  data.sha256 = digest_of(data.values);
  return data;
}

}  // namespace boltzmark
