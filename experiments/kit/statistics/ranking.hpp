#pragma once

#include <span>

namespace boltzmark {

/// Computes how well scores tell two classes apart: the chance that one of the first scores more than one of
/// the second, ties counting half. 1: all of them; 1/2: as chance would. It is Mann and Whitney's U over the number of
/// pairs, and the area under the curve of true against false positives (ROC).
/// Scores may be infinite.
/// Throws  InvalidArgument if there is none of a class, or one is NaN
double area_under_roc(std::span<const double> first, std::span<const double> second);

}  // namespace boltzmark
