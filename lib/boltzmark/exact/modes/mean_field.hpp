#pragma once

#include <limits>
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

}  // namespace boltzmark
