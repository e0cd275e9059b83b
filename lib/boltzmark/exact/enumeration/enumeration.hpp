#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "boltzmark/exact/enumeration/scaled.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

/// Where a unit of a bipartite view stands in its model.
struct UnitPlace {
  int layer = 0;
  int unit = 0;
};

/// A layered network as two sides: units to enumerate, and others that are independent given them.
///   log weight of e = constant + sum_i bias_i e_i + sum_j log_partition_j(x_j(e))
/// The constant holds the reference measures of the enumerated units.
/// Invariant  every enumerated unit is discrete
struct Bipartite {
  std::vector<Unit> enumerated;   ///< [n]
  Eigen::VectorXd bias;           ///< [n]
  std::vector<UnitPlace> places;  ///< [n]
  std::vector<Unit> other;        ///< [m]
  Eigen::VectorXd other_input;    ///< [m], the input at e = 0: bias and outside; Gaussian: outside
  Eigen::VectorXd other_mean;     ///< [m], Gaussian units: a; else 0
  Eigen::VectorXd other_sigma;    ///< [m], Gaussian units: sigma; else 0
  std::vector<UnitPlace> other_places;  ///< [m]
  Eigen::MatrixXd weights;              ///< [m x n]
  double constant = 0;
  std::uint64_t states = 1;
};

constexpr int kEnumeratedUnits = 40;  // units, unless more are asked for

/// Views a model with the layers of one parity (0 even, 1 odd) enumerated.
/// Throws  InvalidArgument if a layer of that parity is not discrete, or it has more than
///   max_units units or more than 2^62 states
Bipartite enumerate_side(const Layered& model, int parity, int max_units = kEnumeratedUnits);

/// Views a model with the layers of one parity listed, however many states they have (`states` is 0)
/// and whatever their units are but Gaussian: only discrete ones count in the constant.
Bipartite list_side(const Layered& model, int parity);

/// Views a model with the side of fewer states enumerated; the odd layers when equal.
Bipartite enumerate_smaller_side(const Layered& model, int max_units = kEnumeratedUnits);

/// Views the hidden layers given the visible state, log f(v, .), the side of fewer states
/// enumerated; the constant holds the visible terms of log f. An RBM has nothing to enumerate.
/// Throws  as enumerate_side, and InvalidArgument if shapes differ
Bipartite given_visible(const Layered& model, const Eigen::Ref<const Eigen::VectorXd>& visible);

/// Views the hidden layers alone, without what the visible layer adds to log f, the odd ones
/// enumerated.
/// Throws  as enumerate_side
Bipartite enumerate_odd_hidden(const Layered& model);

/// Adds up the sizes of all that a log weight is summed from, which bounds it.  Units  nats
double magnitude(const Bipartite& sides);
/// The least magnitude of which a double no longer resolves one nat.
inline constexpr double kUnresolved = 0x1p49;
/// Refuses weights so large that a double no longer resolves one nat.
/// Throws  InvalidArgument
void check_magnitude(const Bipartite& sides);

/// Computes log of the sum over a unit of e^{input x}; for Gaussian units (mean a)
///   log int exp(-(x - a)^2 / (2 sigma^2) + u x) dx = log(sqrt(2 pi) sigma) + a u + sigma^2 u^2 / 2
///   with u the input
double log_other_partition(const Bipartite& sides, int j, double input);

/// Computes the mean of an other unit given its input; Gaussian a + sigma^2 u.
double mean_other(const Bipartite& sides, int j, double input);

/// Splits an enumeration into chunks whose sums are combined in order, so that threads and
/// resumes change nothing.
struct ChunkedSum {
  virtual ~ChunkedSum() = default;
  virtual std::uint64_t chunks() const = 0;
  /// Sums one chunk; called from several threads.
  virtual ScaledSum sum(std::uint64_t chunk) const = 0;
  /// Bounds |log of the computed sum - log of the true sum| before the last logarithm.
  virtual double error_bound() const = 0;
  /// Foretells what all chunks take on one core, in seconds.
  virtual double seconds() const = 0;
  /// Names the arithmetic, for the checkpoint's identity.
  virtual const char* name() const = 0;
};

/// Computes the log of the sum over all states of a view, and the bound of its error; `seconds` stays 0.
///   the fast kernel where it applies, in the precision asked for or better; else the plain sum
/// Throws  DataError about the checkpoint
ExactLogZ sum_states(const Bipartite& sides, const ExactOptions& options = {});

}  // namespace boltzmark
