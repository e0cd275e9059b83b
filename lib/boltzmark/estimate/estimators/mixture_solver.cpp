#include "boltzmark/estimate/estimators/mixture_solver.hpp"

#include <Eigen/Cholesky>
#include <cmath>

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double kWholeStep = 0.1;
constexpr double kDecrement = 1e-6;
constexpr int kIterations = 200;

// Halves a Newton step until G falls; the self-consistent step if it never does.
VectorXd damped(const Mixture& mixture, const VectorXd& counts, const VectorXd& z,
                const MixturePoint& at, const VectorXd& step, double squared_decrement) {
  const double before = at.value + counts.dot(z);
  double share = std::min(1.0, 10 / step.cwiseAbs().maxCoeff());
  for (int halving = 0; halving < 12; ++halving, share *= 0.5) {
    VectorXd next = z + share * step;
    const double after = mixture(next, false).value + counts.dot(next);
    if (after <= before - 1e-4 * share * squared_decrement) return next;
  }
  return z.array() + (at.expected.array() / counts.array()).log();
}

}  // namespace

Eigen::MatrixXd mixture_hessian(const Eigen::MatrixXd& overlap) {
  Eigen::MatrixXd hessian = -Eigen::MatrixXd(overlap.selfadjointView<Eigen::Lower>());
  hessian.diagonal().setZero();
  hessian.diagonal() = -hessian.rowwise().sum();
  return hessian;
}

Eigen::MatrixXd solve_hessian(const Eigen::MatrixXd& hessian, const Eigen::MatrixXd& right) {
  const Index rest = hessian.rows() - 1;
  Eigen::MatrixXd x = Eigen::MatrixXd::Zero(right.rows(), right.cols());
  x.bottomRows(rest) = hessian.bottomRightCorner(rest, rest).ldlt().solve(right.bottomRows(rest));
  return x;
}

MixtureSolution solve_mixture(const Mixture& mixture, const VectorXd& counts, VectorXd start) {
  MixtureSolution solution{.z = std::move(start)};
  while (!solution.converged && solution.iterations++ < kIterations) {
    const MixturePoint at = mixture(solution.z, true);
    const VectorXd excess = at.expected - counts;
    const VectorXd step = solve_hessian(mixture_hessian(at.overlap), excess);
    const double squared_decrement = step.dot(excess);
    if (step.allFinite() && step.cwiseAbs().maxCoeff() <= kWholeStep)
      solution.z += step;
    else if (step.allFinite() && squared_decrement > 0)
      solution.z = damped(mixture, counts, solution.z, at, step, squared_decrement);
    else
      solution.z.array() += (at.expected.array() / counts.array()).log();
    if (!solution.z.allFinite()) break;
    solution.z.array() -= solution.z[0];
    solution.converged = std::abs(squared_decrement) < kDecrement * kDecrement;
  }
  return solution;
}

}  // namespace boltzmark
