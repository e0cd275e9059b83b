#pragma once

#include <cstdint>
#include <vector>

namespace boltzmark {

/// Small NORB's images are of kNorbSide x kNorbSide pixels, and become kNorbInputs inputs each.
inline constexpr int kNorbSide = 96;
inline constexpr int kNorbInputs = 4488;

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

}  // namespace boltzmark
