#pragma once

#include "boltzmark/model/layered.hpp"

namespace boltzmark {

inline constexpr int kMostLattice = 128;  ///< L of a model: half a GiB of weights

/// The coupling at which the infinite square lattice orders: log(1 + sqrt 2) / 2.
double critical_coupling();

/// Makes the Ising model of an L x L square lattice, periodic, as an RBM of X(1) units: neighbours
/// are of different colours of the chessboard, so that one colour is the visible layer.
///   E(s) = -coupling sum over neighbours of s_i s_j, s = -1 or 1
/// Shapes  L^2 / 2 units a side, row by row
/// Throws  InvalidArgument unless 4 <= size <= kMostLattice is even and 1e-6 <= coupling <= 10
Layered ising_lattice(int size, double coupling);

/// Computes log Z of that model in closed form.                     [Kaufman 1949, Phys. Rev. 76]
/// Accuracy  some 1e-14 relative   Throws  InvalidArgument as ising_lattice, but size <= 256
double ising_log_z(int size, double coupling);

}  // namespace boltzmark
