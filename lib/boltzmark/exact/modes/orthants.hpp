#pragma once

#include <Eigen/Core>
#include <optional>

#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/modes/mean_field.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

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
