#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "boltzmark/io/formats/array.hpp"

namespace boltzmark::experiments {

/// The grid of small NORB: every combination of these is a stereo pair.       [LeCun et al. 2004]
struct NorbPose {
  std::int32_t instance = 0;   ///< of a category, 0..9; five are for training, five for testing
  std::int32_t elevation = 0;  ///< of the cameras, 0..8: 30, 35, .. 70 degrees
  std::int32_t azimuth = 0;    ///< of the object, 0, 2, .. 34: tens of degrees
  std::int32_t lighting = 0;   ///< 0..5
};
inline constexpr int kNorbCategories = 5;  ///< animal, human, plane, truck, car
inline constexpr int kNorbElevations = 9, kNorbAzimuths = 18, kNorbLightings = 6;
inline constexpr int kNorbPairs = 5 * kNorbCategories * kNorbElevations * kNorbAzimuths *
                                  kNorbLightings;  ///< 24,300, of training and of test each
inline constexpr int kNorbHeldOut = 4300;          ///< the last of the training pairs

/// Small NORB's images are of kNorbSide x kNorbSide pixels, and become kNorbInputs inputs each.
inline constexpr int kNorbSide = 96;
inline constexpr int kNorbInputs = 4488;

/// Returns the instances of each category that training, or testing, has.
std::array<int, 5> norb_instances(bool test);

/// Stereo pairs as small NORB's files hold them.
struct NorbSet {
  Array images;      ///< uint8 [pairs, 2, side, side], the left camera first
  Array categories;  ///< int32 [pairs]
  Array poses;       ///< int32 [pairs, 4], as NorbPose
};

/// Makes the arrays of a set whose images are still black.
/// Shapes  categories, poses [pairs]
NorbSet make_norb_set(const std::vector<std::int32_t>& categories,
                      const std::vector<NorbPose>& poses, int side);

/// Refuses a set that is not what small NORB's training or test files are: pairs of 96 x 96 images,
/// each pose of each category once.
/// Throws  DataError naming the file
void check_norb(const NorbSet& set, bool test);

/// Tells whether the user's files are in one of data_folders().
bool has_norb();
/// Reads the user's files smallnorb-5x{46789,01235}x9x18x6x2x96x96-{training,testing}-{dat,cat,info}
/// .mat.  Throws  DataError if one is missing or damaged, or as check_norb
NorbSet read_norb(bool test);

/// Writes a set as small NORB is: the images as `path`, categories and poses beside it with -cat and
/// -info before the .mat, in place of -dat if `path` has that; each whole or not at all.
/// Throws  DataError
void write_norb(const NorbSet& set, const std::string& path);
/// Returns the paths of the three files.
std::array<std::string, 3> norb_files(const std::string& path);

/// Returns the input that each pixel of an image belongs to, row by row.  Shapes  [96 * 96]
///   The middle 64 x 64 pixels stay; around them inputs are squares of 2 x 2 pixels as far as 12
///   pixels from the edge, then of 4 x 4 as far as 8, then of 8 x 8: 4096 + 272 + 76 + 44. Inputs
///   are numbered by their first pixels.
/// Salakhutdinov & Hinton 2009, Sec. 4.2, take 4,488 inputs with larger pixels at the edge and do not
/// say which; these four squares are the choice of this project.
const std::vector<std::uint16_t>& norb_pixel_inputs();

/// Averages the grey levels of each input's pixels, rounded to the nearest level.
/// Shapes  image [96 * 96], inputs [4488]
void reduce_norb_image(const unsigned char* image, unsigned char* inputs);

/// Averages 96 x 96 images to their inputs.  Shapes  uint8 [pairs, 2, 4488]
Array reduce_norb(const Array& images);

}  // namespace boltzmark::experiments
