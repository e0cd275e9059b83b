#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "boltzmark/exact/enumeration/scaled.hpp"

namespace boltzmark {

/// A plane is kPlaneRowGroup * k states of the row group times kPlaneColumns states of the column
/// group, padded with copies of state 0 that carry no weight. A slab is the planes of one state of
/// the high group, one for each state of the middle group.
inline constexpr int kPlaneColumns = 32;
inline constexpr int kPlaneRowGroup = 8;

/// Units whose columns are scaled and multiplied at a time: they stay in the second-level cache,
/// and products are in registers for as many.
inline constexpr int kPlaneBlock = 256;

/// Binary exponents as wide as T.
template <typename T>
using ExponentOf = std::conditional_t<std::is_same_v<T, double>, std::int64_t, std::int32_t>;

/// What a plane's product needs of the model.
/// With y = e^{scaled input} of unit j in row r, column l,
///   1 + y = (R + C) / R,  R = rows[r][j] 2^row_exponent[j] = e^{-(bias and row group)},
///                         C = columns[j][l] 2^column_exponent[j] * (factors of the middle and the
///                             high group);
/// 1/R is linear in the states and left to the row's linear term.
/// Invariant  entries, with the middle group's products of at most 9 mantissas in [0.7, 1.42], are
///            in 2^[-kPlaneRange - 5, 5]
template <typename T>
struct PlaneTables {
  int units = 0;
  int simple_units = 0;        ///< the first ones have the factor 1 + y, the others
  const int* steps = nullptr;  ///< 1 + y + ... + y^steps  [units]
  int row_groups = 0;
  const T* rows = nullptr;                        ///< [row group][units][kPlaneRowGroup]
  const T* columns = nullptr;                     ///< [units][kPlaneColumns]
  const std::int32_t* row_exponent = nullptr;     ///< [units]
  const double* row_least = nullptr;              ///< [units], least entry
  const double* row_most = nullptr;               ///< [units], greatest entry
  const std::int32_t* column_exponent = nullptr;  ///< [units], middle group included
  const double* column_least = nullptr;           ///< [units], least entry times middle factor
  const double* column_most = nullptr;            ///< [units], greatest
  const Scaled* row_linear = nullptr;             ///< mantissa 0 on padding
  const double* column_mantissa = nullptr;        ///< linear terms, 0 on padding
  const std::int64_t* column_linear_exponent = nullptr;
};

/// Room for one slab's work, uninitialised; all aligned to 64 bytes.
template <typename T>
struct PlaneWork {
  T* rows;                  ///< as PlaneTables::rows
  T* columns;               ///< [kPlaneColumns * kPlaneBlock]
  T* row_scale;             ///< [units]
  double* column_scale;     ///< [units]
  std::int32_t* low;        ///< [units]
  std::int32_t* high;       ///< [units]
  std::int32_t* schedule;   ///< [units + 1]
  T* mantissa;              ///< [rows][kPlaneColumns]
  ExponentOf<T>* exponent;  ///< [rows][kPlaneColumns]
};

/// The largest range * steps that the kernel takes, in bits, of rows as of columns with the middle
/// group: half of it is an exponent inside T.
template <typename T>
inline constexpr int kPlaneRange = std::is_same_v<T, double> ? 860 : 60;

/// How T lays out its exponent.
template <typename T>
struct PlaneFormat {
  static constexpr int kMantissaBits = std::numeric_limits<T>::digits - 1;
  static constexpr int kBias = std::numeric_limits<T>::max_exponent - 1;
};

/// What the planes of a slab have in common.
struct Slab {
  std::int64_t exponent = 0;  ///< of every product
  int parts = 0;              ///< times that exponents are taken out
};

/// Writes row_scale, column_scale, low, high and schedule for one state of the high group, whose
/// factor of C_j is high_mantissa[j] * 2^high_exponent[j], mantissas in 2^+-60.
///   R and C are scaled by 2^-shift_j, shift_j in the middle of the exponents that R + C takes in
///   this slab, so that factors can neither overflow nor vanish
template <typename T>
Slab plan_slab(const PlaneTables<T>& tables, const PlaneWork<T>& work, const double* high_mantissa,
               const std::int32_t* high_exponent);

/// Scales the rows of a slab as planned; then its planes can be summed.
void scale_rows(const PlaneTables<double>& tables, const PlaneWork<double>& work);
void scale_rows(const PlaneTables<float>& tables, const PlaneWork<float>& work);

/// Sums prod_j factor_j over a plane's states, with their linear terms, for one state of the middle
/// group, whose factor of C_j is middle[j].
///   Without transcendentals: one addition and one multiplication per state and unit; exponents
///   are taken out of the products before they could leave the range of T.
Scaled sum_plane(const PlaneTables<double>& tables, const PlaneWork<double>& work, const Slab& slab,
                 const double* middle);
Scaled sum_plane(const PlaneTables<float>& tables, const PlaneWork<float>& work, const Slab& slab,
                 const double* middle);

}  // namespace boltzmark
