#pragma once

#include <Eigen/Core>
#include <functional>

namespace boltzmark {

/// Value and derivatives of the convex function
///   G(z) = sum_i w_i log sum_k e^(l_ik - z_k) + sum_k n_k z_k,  sum_i w_i = sum_k n_k,
/// whose minimum, up to a shift of all z, equates the expected numbers sum_i w_i p_ik to n_k; here
/// p_ik is proportional to e^(l_ik - z_k). MBAR and the mixed likelihood of RTS have this form.
struct MixturePoint {
  double value = 0;          ///< without sum_k n_k z_k
  Eigen::VectorXd expected;  ///< e_k = sum_i w_i p_ik
  Eigen::MatrixXd overlap;   ///< O = sum_i w_i p_i p_i' (its lower triangle); empty if not wanted
};
using Mixture = std::function<MixturePoint(const Eigen::VectorXd& z, bool with_overlap)>;

struct MixtureSolution {
  Eigen::VectorXd z;  ///< first 0
  bool converged = false;
  int iterations = 0;
};

/// Minimises G by Newton's method with a line search.
/// Steps of 0.1 or less in every z_k are taken whole: there the Hessian changes by a factor of at
/// most e^0.2, and the iteration contracts. Where no part of a step lowers G, the self-consistent
/// step z_k += log(e_k / n_k) does. It stops when the Newton decrement, the distance to the minimum
/// in standard deviations of independent samples, is below 1e-6, and takes the last step.
/// Shapes  counts, start [rungs], counts positive
MixtureSolution solve_mixture(const Mixture& mixture, const Eigen::VectorXd& counts,
                              Eigen::VectorXd start);

/// Makes the Hessian of G, diag(sum_j O_kj) - O: its diagonal is the sum of what lies beside it,
/// which keeps weak overlaps that diag(e) - O would cancel.
/// Shapes  overlap [rungs x rungs], of which the lower triangle is read
Eigen::MatrixXd mixture_hessian(const Eigen::MatrixXd& overlap);

/// Solves hessian x = right with the first row of x held at 0.
/// Shapes  right [rungs x any], each column of sum 0
Eigen::MatrixXd solve_hessian(const Eigen::MatrixXd& hessian, const Eigen::MatrixXd& right);

}  // namespace boltzmark
