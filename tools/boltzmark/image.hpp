#pragma once

#include <Eigen/Core>
#include <string>

#include "boltzmark/model/unit.hpp"
#include "command.hpp"

namespace boltzmark::cli {

/// The images that fit into one file.
inline constexpr int kMostImages = 100;
/// The images of a row, where nothing else says how many.
inline constexpr int kImagesAcross = 10;

/// What a command is told about the images that it draws.
struct ImageRequest {
  std::string file = {};   ///< empty: none
  std::string shape = {};  ///< ROWSxCOLUMNS; empty: a square

  /// Adds --image and --image-shape to a command that draws `what`.
  void add_to(Command& command, const std::string& what);
  /// Refuses a shape without an image, and a file's name that does not say the format.
  /// Throws  InvalidArgument; DataError
  void check(bool replace) const;
};

/// Rows and columns of units that are an image, row by row.
struct ImageShape {
  int rows = 0, cols = 0;
};

/// Reads the shape of a request, which `units` units must have.
/// Throws  InvalidArgument if they have not, or none is given and they are no square
ImageShape image_shape(const ImageRequest& request, int units);

/// Maps a unit's values to [0, 1]: the least black, the greatest white; of units without bounds those
/// that there are.
Eigen::MatrixXf grey_values(Eigen::MatrixXf values, Unit unit);

/// Draws images as a grid, one a column of `grey`, `across` of them in a row of it: .pgm, .png or .svg,
/// as the file's name says.
///   Shapes  grey [rows cols x images], in [0, 1]     Throws  DataError if it cannot be written
void write_images(const std::string& path, const Eigen::MatrixXf& grey, ImageShape shape,
                  int across = kImagesAcross);

}  // namespace boltzmark::cli
