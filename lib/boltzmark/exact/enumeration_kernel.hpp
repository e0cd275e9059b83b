#pragma once

#include <cstdint>
#include <type_traits>

#include "boltzmark/exact/enumeration_scaled.hpp"

namespace boltzmark {

/// A tile is kTileRowGroup * k states of the row group times kTileColumns states of the column
/// group, padded with copies of state 0 that carry no weight.
inline constexpr int kTileColumns = 32;
inline constexpr int kTileRowGroup = 4;

/// Binary exponents as wide as T.
template <typename T>
using ExponentOf = std::conditional_t<std::is_same_v<T, double>, std::int64_t, std::int32_t>;

/// What a tile's product needs of the model: y = e^{scaled input} of unit j in row r, column l is
///   rows[r][j] * columns[j][l] * 2^exponent[j] * (the high group's factor)
/// with both tables in (2^-range, 2) and at least one entry of each in [1, 2).
template <typename T>
struct TileTables {
  int units = 0;
  int simple_units = 0;        ///< the first ones have the factor 1 + y, the others
  const int* steps = nullptr;  ///< 1 + y + ... + y^steps  [units]
  int row_groups = 0;
  const T* rows = nullptr;                 ///< [row group][units][kTileRowGroup]
  const T* columns = nullptr;              ///< [units][kTileColumns]
  const std::int32_t* exponent = nullptr;  ///< [units]
  const std::int32_t* range = nullptr;     ///< [units]: y spans at most 2^(range + 3) in a tile
  const double* row_mantissa = nullptr;    ///< linear terms; 0 on padding
  const std::int64_t* row_exponent = nullptr;
  const double* column_mantissa = nullptr;
  const std::int64_t* column_exponent = nullptr;
};

/// Room for one tile's work, uninitialised; all aligned to 64 bytes.
template <typename T>
struct TileWork {
  T* scaled;                ///< [units][kTileColumns]
  T* scale;                 ///< [units]
  T* one;                   ///< [units]
  std::int32_t* low;        ///< [units]
  std::int32_t* high;       ///< [units]
  std::int32_t* schedule;   ///< [units + 1]
  T* mantissa;              ///< [rows][kTileColumns]
  ExponentOf<T>* exponent;  ///< [rows][kTileColumns]
};

/// The largest range[j] * steps[j] that the kernel takes: half of it is 2^-exponents inside T.
template <typename T>
inline constexpr int kTileRange = std::is_same_v<T, double> ? 860 : 60;

/// Sums prod_j factor_j over a tile's states, with their linear terms, for one state of the high
/// group, whose factor of y_j is high_mantissa[j] * 2^high_exponent[j], mantissas in 2^+-60.
///   Without transcendentals: one multiplication and one fused multiply-add per state and unit.
///   y is scaled by 2^-shift_j, shift_j in the middle of its span in this tile, so that
///   factor * 2^-shift = 2^-shift + y 2^-shift can neither overflow nor vanish; exponents are taken
///   out of the products before they could leave the range of T.
Scaled sum_tile(const TileTables<double>& tables, const TileWork<double>& work,
                const double* high_mantissa, const std::int32_t* high_exponent);
Scaled sum_tile(const TileTables<float>& tables, const TileWork<float>& work,
                const double* high_mantissa, const std::int32_t* high_exponent);

}  // namespace boltzmark
