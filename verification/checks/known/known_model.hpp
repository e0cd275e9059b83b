#pragma once

#include <Eigen/Core>
#include <span>
#include <string>
#include <string_view>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// A model, and its log Z, which is known however many units there are.
struct KnownModel {
  Layered model;
  KnownLogZ known;
};

/// A family of such models, by the numbers that name one of them.
struct ModelFamily {
  std::string_view form;     ///< "ising:L:COUPLING"
  std::string_view meaning;  ///< in a line
  std::string_view example;  ///< one that make_known_model takes
  KnownModel (*make)(std::span<const std::string> fields);

  std::string_view name() const { return form.substr(0, form.find(':')); }
};

/// Lists the families.
std::span<const ModelFamily> model_families();

/// Makes a model from FAMILY:PARAMETERS.
/// Randomness  that of a seed in the text, by family
/// Throws      InvalidArgument naming the forms there are, or the parameter outside its range
KnownModel make_known_model(std::string_view text);

/// Draws normal numbers, column by column.
Eigen::MatrixXd normal_parameters(int rows, int cols, double sd, Stream& draws);

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

/// Two patterns of the visible units, one that many weak hidden units hold and one that few strong ones
/// do. From random states the weak ones outvote the strong, and between the patterns, and from either to
/// units that hold none, there are transitions of first order.
struct Votes {
  int visible = 0;
  int weak = 0, strong = 0;  ///< hidden units
  double ahead = 0;          ///< nats by which the strong pattern's mass exceeds all other
};

/// Makes such an RBM. The units of a pattern are alike, so that log Z is a sum over how many of the weak
/// ones and of the strong ones are on. Units are shuffled and the encoding of half of them is flipped.
/// Randomness  draws: order and encoding     Throws  InvalidArgument if a number is below 1
KnownModel make_votes(const Votes& votes, Stream& draws);

/// A strip of spins with normal couplings between neighbours and normal fields: a frustrated lattice with
/// open ends, of any length.
struct Strip {
  int width = 0, length = 0;
  double strength = 0, field = 0;  ///< standard deviations
};

/// Makes a strip. log Z is a product of transfer matrices, a spin at a time.     [Kramers, Wannier 1941]
/// Randomness  draws: the couplings, then the fields
/// Throws      InvalidArgument unless 1 <= width <= 16 and there are two spins or more
/// Cost        2 width length 2^width exponentials
KnownModel make_strip(const Strip& strip, Stream& draws);

/// Local patterns along a line of visible units: each hidden unit looks at a window of neighbours, some of
/// which have a value of its own to it. Where many windows overlap there are many modes, none of which
/// much of the mass is near.
struct Conjunctions {
  int visible = 0, hidden = 0;
  int window = 0;       ///< neighbours that a hidden unit looks at
  int members = 0;      ///< of these, chosen at random, with a value each
  double strength = 0;  ///< its input, in nats, where all members have their values
};

/// Makes such an RBM: a hidden unit's input is strength where its members are right and falls by 1.5 strength
/// with each that is not; visible biases are normal, of 0.3. log Z is that of sum_along_line.
/// Randomness  draws: the biases, then each unit's window, members and values
/// Throws      InvalidArgument unless 1 <= members <= window <= visible, window <= 16, hidden >= 1 and
///             strength >= 0
KnownModel make_conjunctions(const Conjunctions& conjunctions, Stream& draws);

/// Sums over the states of an RBM of Bernoulli units, each hidden unit of which has weights to a window of
/// so many neighbours alone, whatever they are: the hidden units are summed out where their windows end.
/// Accuracy  KnownLogZ::error, of the roundings of each step
/// Throws    InvalidArgument if a layer is none of Bernoulli units, there are not two, window is not from 1
///           to 16, or a hidden unit sees further
/// Cost      2^window (visible + hidden) exponentials
KnownLogZ sum_along_line(const Layered& rbm, int window);

/// Constraints on the parities of random triples of visible units, as many as there are units and
/// independent of each other: one planted state meets all of them, and each of the 2^n sets of
/// constraints that are broken has one state. Those that break few hold the mass, isolated and far
/// apart: finding them takes any chain of local steps a time that is exponential in n where
/// `strength` is high.                                  [random 3-XORSAT: Ricci-Tersenghi et al. 2001]
struct Parities {
  int visible = 0;  ///< n, and constraints
  /// Of a weight: a constraint that is met has about half of it more, in nats.
  double strength = 0;
};

struct ParityModel : KnownModel {
  Eigen::VectorXd planted;  ///< the state that meets all [visible]
};

/// Makes such an RBM: four hidden units a constraint, one for each of the triple's values that meet it,
/// of input strength (agreements - 5/2).
/// Randomness  draws: triples and the planted state
/// Throws      InvalidArgument if visible < 4 or strength is negative
ParityModel make_parities(const Parities& parities, Stream& draws);

/// A pattern of some visible units that one hidden unit holds, beside independent wells of two states each:
/// behind the gate is the same again, in 2^wells states, of which what starts near one meets one. Chains from
/// a flat base pass the gate as seldom as the pattern comes by chance.
struct Gate {
  int visible = 0;   ///< of the pattern
  double ahead = 0;  ///< nats by which what is behind the gate exceeds what is before it
  int wells = 0;     ///< of 12 visible and 6 hidden units each
};

/// Makes such an RBM, its units shuffled and the encoding of half of them flipped. log Z is a sum over both
/// sides of the gate, and for a well over how many of its hidden units are on.
/// Randomness  draws: order and encoding     Invariant  visible >= 1, wells >= 0
KnownModel make_gate(const Gate& gate, Stream& draws);

/// Continuous units without states to list: independent stars of some visible units around one hidden each. Given
/// the hidden unit's value the others are summed in closed form, so that each star is an integral over [-1, 1]:
/// with strong weights one of two peaks, at both ends or between.
struct Stars {
  int count = 0;
  int visible = 0;      ///< of each star
  double strength = 0;  ///< standard deviation of the weights
};

/// Makes such an RBM, its units shuffled. The weights are normal; so are the biases, which tilt a star's peaks
/// against each other by two nats or so, less where the weights are below 1.
/// Accuracy    what quadrature of a fourth of its panels is off by, and rounding
/// Randomness  draws: weights, biases and order     Invariant  count, visible >= 1, strength >= 0
KnownModel make_stars(const Stars& stars, Stream& draws);

}  // namespace boltzmark
