#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "boltzmark/core/progress.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// The arithmetic of an enumeration's inner products; everything around them is double.
enum class Precision { double_precision, float_precision };

struct EnumerationChunks;
/// Has all chunks summed and taken; a process that only helps another to take them takes none.
using ChunkDriver = std::function<void(const EnumerationChunks& chunks)>;

/// What an exact log Z takes beside the model.
struct ExactOptions {
  Precision precision = Precision::double_precision;
  /// Called now and then, from one thread at a time, with the fraction done in [0, 1].
  Progress progress = {};
  int max_enumerated_units = 40;  ///< at most 62
  /// A file that long runs save their partial sums to, and resume from; empty: none.
  std::string checkpoint = {};
  double checkpoint_seconds = 5;  ///< the least time between two saves
  /// Told why a save on the way failed, of the first in a row: the work goes on; null: nobody is told.
  std::function<void(const std::string& why)> on_unsaved = {};
  ChunkDriver driver = {};  ///< of the chunks, on other machines too; none: this process
};

/// An exact log Z and what it took.
struct ExactLogZ {
  double log_z = 0;          ///< nats
  double error_bound = 0;    ///< |log_z - true| is at most this; rounding is the only error
  std::uint64_t states = 0;  ///< 2^enumerated_units for binary units
  int enumerated_units = 0;
  double seconds = 0;  ///< wall time of the computation
  /// What the last save of the checkpoint threw, a DataError, or an Error where the disk is full; null: it
  /// stands, or there is none. log Z is as true without it.
  std::exception_ptr unsaved = nullptr;
};

/// Computes log Z by enumerating the smaller discrete side (even or odd layers), in log space.
///   Z = sum over the enumerated side e of exp(a.e) prod_j int exp(x_j(e) t) dt over each unit j
///   of the other side, which are independent given e and summed in closed form
/// Units  nats     Accuracy  error_bound, derived in enumeration/fast_sum.cpp and plain.cpp
/// Throws  InvalidArgument if neither side is discrete or more than options.max_enumerated_units
///   (or 2^62 states) would be enumerated; DataError if the checkpoint is another model's or cannot be
///   read, or, where options.progress throws, be written
/// Invariant  the result does not depend on the number of threads, nor on a resume or a driver
/// Cost  about 0.05 ns per state and unit of the other side on one core (AVX-512, double; float
///   half), s times that where it is X(s), s <= 8; 10 to 90 ns where one is any other
ExactLogZ exact_log_z(const Layered& model, const ExactOptions& options = {});

/// Foretells the seconds of one core that exact_log_z takes, in double precision, by the kinds of the units and by how
/// they are summed.
/// Throws  InvalidArgument as exact_log_z     Cost  the tables that it starts from
double exact_log_z_seconds(const Layered& model, int max_enumerated_units = 40);

}  // namespace boltzmark
