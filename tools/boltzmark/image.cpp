#include "image.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "boltzmark/core/atomic_file.hpp"
#include "boltzmark/core/error.hpp"
#include "input.hpp"

namespace boltzmark::cli {
namespace {

constexpr int kGap = 1;  // pixels of grey between images, and around them

/// A grey picture, row by row, a byte a pixel.
struct Picture {
  int width = 0, height = 0;
  std::string pixels = {};
};

Picture grid_of(const Eigen::MatrixXf& grey, ImageShape shape, int across) {
  const auto count = static_cast<int>(grey.cols());
  across = std::min(across, count);
  const int down = (count + across - 1) / across;
  Picture grid{.width = across * (shape.cols + kGap) + kGap,
               .height = down * (shape.rows + kGap) + kGap};
  const auto width = static_cast<std::size_t>(grid.width);
  grid.pixels.assign(width * static_cast<std::size_t>(grid.height), static_cast<char>(128));
  for (int k = 0; k < count; ++k)
    for (int u = 0; u < grey.rows(); ++u) {
      const int x = k % across * (shape.cols + kGap) + kGap + u % shape.cols;
      const int y = k / across * (shape.rows + kGap) + kGap + u / shape.cols;
      grid.pixels[static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x)] =
          static_cast<char>(std::lround(255 * grey(u, k)));
    }
  return grid;
}

std::string pgm(const Picture& picture) {
  return fmt::format("P5\n{} {}\n255\n", picture.width, picture.height) + picture.pixels;
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

const Bytef* bytes_of(const std::string& text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

std::string png_chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong sum = crc32(0, bytes_of(body), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(sum));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(data.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size, bytes_of(data), data.size(), 9);
  packed.resize(size);
  return packed;
}

// 8 bits of grey a pixel, every row as it stands.                        [PNG, ISO/IEC 15948]
std::string png(const Picture& picture) {
  std::string rows;
  for (int y = 0; y < picture.height; ++y)
    rows += '\0' + picture.pixels.substr(static_cast<std::size_t>(y) * picture.width,
                                         static_cast<std::size_t>(picture.width));
  const std::string header = big_endian(static_cast<std::uint32_t>(picture.width)) +
                             big_endian(static_cast<std::uint32_t>(picture.height)) +
                             std::string("\x08\0\0\0\0", 5);
  return std::string("\x89PNG\r\n\x1a\n", 8) + png_chunk("IHDR", header) +
         png_chunk("IDAT", deflated(rows)) + png_chunk("IEND", "");
}

std::string base64(const std::string& data) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < data.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < data.size() ? static_cast<unsigned char>(data[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= data.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string svg(const Picture& picture) {
  constexpr int kScale = 4;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {2} "
      "{3}\">\n<image width=\"{2}\" height=\"{3}\" style=\"image-rendering:pixelated\" "
      "href=\"data:image/png;base64,{4}\"/>\n</svg>\n",
      kScale * picture.width, kScale * picture.height, picture.width, picture.height,
      base64(png(picture)));
}

using Format = std::string (*)(const Picture&);

Format format_of(const std::string& path) {
  if (path.ends_with(".pgm")) return pgm;
  if (path.ends_with(".png")) return png;
  if (path.ends_with(".svg")) return svg;
  throw DataError(path + ": its name does not say the format (must end in .pgm, .png or .svg)");
}

}  // namespace

void ImageRequest::add_to(Command& command, const std::string& what) {
  command.text(&file, "--image FILE",
               "Draw " + what + " as a grid of images (.pgm, .png or .svg).");
  command.text(&shape, "--image-shape RxC",
               "Rows and columns of each image (default: those of the data set, or a square).");
  command.comes_with("--image-shape", {"--image"});
}

void ImageRequest::check(bool replace) const {
  if (file.empty()) return;
  format_of(file);
  check_output(file, replace);
}

ImageShape image_shape(const ImageRequest& request, int units) {
  if (request.shape.empty()) {
    const int side = static_cast<int>(std::lround(std::sqrt(units)));
    if (side * side == units) return {side, side};
    throw InvalidArgument(fmt::format(
        "--image (must go with a square number of visible units or --image-shape, not {})", units));
  }
  for (int rows = 1; rows <= units; ++rows)
    if (units % rows == 0 && request.shape == fmt::format("{}x{}", rows, units / rows))
      return {rows, units / rows};
  throw InvalidArgument(
      fmt::format("--image-shape = {} (must be ROWSxCOLUMNS of {} units)", request.shape, units));
}

Eigen::MatrixXf grey_values(Eigen::MatrixXf values, Unit unit) {
  const bool bounded = std::isfinite(unit.highest());
  const float low = bounded ? static_cast<float>(unit.lowest()) : values.minCoeff();
  const float high = bounded ? static_cast<float>(unit.highest()) : values.maxCoeff();
  if (!(high > low)) return Eigen::MatrixXf::Constant(values.rows(), values.cols(), 0.5F);
  values = ((values.array() - low) / (high - low)).min(1.0F).max(0.0F);
  return values;
}

void write_images(const std::string& path, const Eigen::MatrixXf& grey, ImageShape shape,
                  int across) {
  AtomicFile file(path);
  file.write(format_of(path)(grid_of(grey, shape, across)));
  file.commit();
}

}  // namespace boltzmark::cli
