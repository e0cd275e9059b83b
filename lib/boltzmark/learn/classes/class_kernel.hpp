#pragma once

#include <cstddef>

#include "boltzmark/model/unit.hpp"

namespace boltzmark {

struct SparseValues;

/// Adds sum_k x_k column_(i_k) to a vector.
/// Shapes  columns [rows x any], column by column; out [rows]
void add_columns(const double* columns, std::size_t rows, SparseValues x, double* out);

/// Adds x_k v to each column i_k, in rows first..first + count - 1 alone.
/// Shapes  v [rows], columns [rows x any]
void add_outer(const double* v, std::size_t rows, std::size_t first, std::size_t count,
               SparseValues x, double* columns);

/// Computes sum_j ln phi(a_j + u_j) of hidden units, and psi(a_j + u_j) of each unless it is null.
///   psi = d ln phi / dx is the unit's mean                           [yokoyama2019, Eqs. 6, 7, 14]
/// Shapes  a, u, psi [rows]
/// Accuracy  absolute: a few ulp of 1 in psi and of max(|x|, 1) in each ln phi
double log_phi_sum(Unit unit, const double* a, const double* u, std::size_t rows, double* psi);

}  // namespace boltzmark
