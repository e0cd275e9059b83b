#pragma once

namespace boltzmark {

/// How many cases stand side by side in a split product, and how many rows of its matrix.
inline constexpr int kSplitCases = 16, kSplitRows = 4;

/// Computes u' C w of 16 cases, each with its own u and w.
/// Shapes  c [row_groups][columns][4], u [4 row_groups][16], w [columns][16], out [16]; u, w and out
///   aligned to 64 bytes
/// Cost  one fused product and sum per entry of C and case
void split_product(const double* c, int row_groups, int columns, const double* u, const double* w,
                   double* out);

}  // namespace boltzmark
