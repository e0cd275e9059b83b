#pragma once

#include <string>

#include "boltzmark/io/dataset.hpp"

namespace boltzmark::experiments {

/// Which cases of a set: all for training, those held out, those for testing, training without
/// those held out.
enum class Split { train, valid, test, fit };

/// Loads MNIST's images and labels, checked against the SHA-256 of the raw files.
Dataset load_mnist(Split split, const BinariseOptions& options);
/// Loads the dna set: 3186 cases of 180 binary features, classes ei, ie, n.
Dataset load_dna(Split split);
/// Makes Bars and Stripes 4x4: 16 patterns of rows, then 16 of columns; all-0 and all-1 stand
/// twice. Every split is the whole.
Dataset bars_and_stripes();
/// Makes Artificial Modes: 10,000 images of 16 pixels, case i a copy of mode i % 4 (all 0, all 1,
/// second half 1, first half 1) with each pixel flipped with the given probability; `test` is
/// another such set.
/// Randomness  one draw per pixel, Philox keyed by (1, "artificial-modes", flip probability),
/// stream = case (test: 10,000 + case)
Dataset artificial_modes(Split split, double flip_probability);
/// Loads small NORB from the user's files: pairs of images of kNorbInputs inputs, and categories.
Dataset load_norb(Split split, const BinariseOptions& options);
/// Renders the stand-in for it, in images of side x side pixels; those of side kNorbSide become
/// inputs as small NORB's.
Dataset load_norb_toy(Split split, int side, const BinariseOptions& options);

}  // namespace boltzmark::experiments
