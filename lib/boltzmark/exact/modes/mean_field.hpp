#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <vector>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

/// A lower bound of log Z by Jensen's inequality, and how wrong rounding may make it.
struct MeanFieldBound {
  double log_z = std::numeric_limits<double>::quiet_NaN();        ///< E_q[log f] + H(q), in nats
  double error_bound = std::numeric_limits<double>::quiet_NaN();  ///< log Z >= log_z - error_bound
};

/// Bounds log Z by a product law q over the listed side: log f(E_q[x]) + H(q) <= E_q[log f] + H(q), for log f, the
/// other side summed out, is convex in the side's values; then by Jensen's inequality.
///   entropy  of q, to the reference measure; size  what its terms are rounded from, in nats: the sizes of the
///   inputs that make q, and what else is added to each
/// Shapes      means [units of the side], E_q[x], each of mean_value or so near to it
/// Accuracy    error_bound
MeanFieldBound jensen_bound(const Bipartite& sides, const Eigen::VectorXd& means, double entropy,
                            double size);

/// Moves each chain to means of all units by so many updates, side by side, from its values on the side of
/// `parity`, and bounds log Z by the product law that they are of: by naive mean field, what a phase holds
/// that is near its means, less what its units' dependence adds.
/// Shapes      sides = list_side(model, parity); returns [chains]
/// Accuracy    error_bound
/// Throws      InvalidArgument if a layer is Gaussian
/// Cost        updates + 1 sweeps of one chain for each, and an exponential a unit
std::vector<MeanFieldBound> mean_field(const Layered& model, const Bipartite& sides, int parity,
                                       int updates, Chains& chains);

/// Returns the parity of the side with fewer units if one of them is continuous: what has no states
/// to list has orthants. None if none is.
std::optional<int> side_of_orthants(const Layered& model);

/// Bounds log Z from below by the log of the sum over orthants of a side, in each of which every continuous unit
/// has one sign and a discrete one any value, of Jensen's bound there:
///   sum_o exp(log f(E_qo[x]) + H(qo)),  qo a product law on o
/// and the other side summed out of f (jensen_bound). Each law is that of mean field within its orthant: a phase on
/// one side of every unit's zero counts by its own law, where that of the whole side is one for all phases.
///   The orthants are those of the starts, then the ones across one unit's zero from the likeliest known,
/// and so on.
/// Shapes      starts [units x starts], values of the side's units
/// Accuracy    error_bound, as that of mean_field
/// Throws      InvalidArgument if a unit is Gaussian
/// Invariant   there is a start; magnitude(sides) < kUnresolved
/// Cost        at most 30 sweeps of one chain for each orthant, of which there are at most 1,024, fewer of large
///   models
MeanFieldBound sum_over_orthants(const Bipartite& sides, const Eigen::MatrixXd& starts);

/// Bounds a model's log Z so, from the values of chains on the side_of_orthants. NaN where there is none, or
/// a double does not resolve a nat.
MeanFieldBound bound_by_orthants(const Layered& model, const Chains& starts);

}  // namespace boltzmark
