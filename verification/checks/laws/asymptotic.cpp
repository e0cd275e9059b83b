#include "verification/checks/laws/asymptotic.hpp"

#include <fmt/format.h>

#include <Eigen/LU>
#include <complex>
#include <vector>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/spectrum/connectivity.hpp"

namespace boltzmark {
namespace {

void require_states(Eigen::Index have, Eigen::Index want, const char* name) {
  if (have != want)
    throw InvalidArgument(
        fmt::format("{} = {} entries (must be {}, one a state)", name, have, want));
}

void require_shapes(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                    const Eigen::Ref<const Eigen::VectorXd>& p,
                    const Eigen::Ref<const Eigen::MatrixXd>& functions) {
  require_states(matrix.cols(), matrix.rows(), "matrix");
  require_states(p.size(), matrix.rows(), "p");
  require_states(functions.rows(), matrix.rows(), "functions");
}

// Functions less their means under p.
Eigen::MatrixXd centre(const Eigen::Ref<const Eigen::VectorXd>& p,
                       const Eigen::Ref<const Eigen::MatrixXd>& functions) {
  return functions.rowwise() - p.transpose() * functions;
}

// The kernel in symmetrised coordinates, its stationary direction, and sqrt(p) (f - E f) in them.
struct Coordinates {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd root;
  Eigen::VectorXd centred;
  double mean = 0;
};

Coordinates symmetrise(const StateSpace& space, const Rule& rule, Scan scan,
                       const Eigen::Ref<const Eigen::VectorXd>& f) {
  require_states(f.size(), static_cast<Eigen::Index>(space.states()), "f");
  if (!connectivity(space, rule, scan).irreducible)
    throw Error("the chain is reducible: its averages have no one limit");
  Coordinates result;
  result.matrix = scan == Scan::periodic ? symmetrised_sweep_matrix(space, rule)
                                         : symmetrised_random_scan_matrix(space, rule);
  result.root = (space.log_p() / 2).array().exp();
  result.mean = space.p().dot(f);
  result.centred = result.root.array() * (f.array() - result.mean);
  return result;
}

// The eigenvalues that are not zero to rounding, and their eigenvectors as columns.
struct Eigenspace {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;
};

Eigenspace nonzero_eigenspace(const Eigen::MatrixXd& matrix) {
  const EigenPairs pairs = eigen_pairs(matrix);
  if (!pairs.converged) throw Error("the eigenvalues did not converge");
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i)
    if (std::abs(pairs.values[i]) > 1e-10) kept.push_back(i);
  return {pairs.values(kept), pairs.vectors(Eigen::all, kept)};
}

AsymptoticVariance finish(double mean, double variance, double asymptotic) {
  return {mean, variance, asymptotic, variance > 0 ? asymptotic / variance : 0};
}

}  // namespace

AsymptoticVariance asymptotic_variance(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                                       const Eigen::Ref<const Eigen::VectorXd>& p,
                                       const Eigen::Ref<const Eigen::VectorXd>& f) {
  const double asymptotic = asymptotic_covariance(matrix, p, f)(0, 0);
  const double mean = p.dot(f);
  return finish(mean, p.dot((f.array() - mean).square().matrix()), asymptotic);
}

Eigen::MatrixXd asymptotic_covariance(const Eigen::Ref<const Eigen::MatrixXd>& matrix,
                                      const Eigen::Ref<const Eigen::VectorXd>& p,
                                      const Eigen::Ref<const Eigen::MatrixXd>& functions) {
  require_shapes(matrix, p, functions);
  Eigen::MatrixXd system = -matrix;
  system.diagonal().array() += 1;
  system.rowwise() += p.transpose();
  const Eigen::FullPivLU<Eigen::MatrixXd> solver(system);
  if (!solver.isInvertible()) throw Error("the chain has more than one recurrent class");
  const Eigen::MatrixXd centred = centre(p, functions);
  const Eigen::MatrixXd sum = solver.solve(centred);  // sum over n >= 0 of T^n f0
  const Eigen::MatrixXd later = centred.transpose() * p.asDiagonal() * sum;
  return later + later.transpose() - centred.transpose() * p.asDiagonal() * centred;
}

AsymptoticVariance asymptotic_variance(const StateSpace& space, const Rule& rule, Scan scan,
                                       const Eigen::Ref<const Eigen::VectorXd>& f) {
  const Coordinates at = symmetrise(space, rule, scan, f);
  Eigen::MatrixXd system = -at.matrix + at.root * at.root.transpose();
  system.diagonal().array() += 1;
  const Eigen::VectorXd sum = system.partialPivLu().solve(at.centred);
  return finish(at.mean, at.centred.squaredNorm(), at.centred.dot(2 * sum - at.centred));
}

double spectral_autocorrelation_time(const StateSpace& space, const Rule& rule, Scan scan,
                                     const Eigen::Ref<const Eigen::VectorXd>& f) {
  const Coordinates at = symmetrise(space, rule, scan, f);
  const double variance = at.centred.squaredNorm();
  if (variance == 0) return 0;
  // tau = 1 + 2 sum_n R(n) = 1 + 2 sum over l != 0 of a_l l / (1 - l). Eigenvalue 0, of large
  // multiplicity under Gibbs, adds nothing, so only the eigenvectors R, L of the others are needed;
  // R (L' R)^-1 L' projects on their space whatever the multiplicities. Eigenvalues dropped below
  // 1e-10 change tau by less than 1e-9.
  const Eigen::MatrixXd deflated = at.matrix - at.root * at.root.transpose();
  const Eigenspace right = nonzero_eigenspace(deflated);
  const Eigenspace left = nonzero_eigenspace(deflated.transpose());
  if (right.values.size() != left.values.size())
    throw Error("the kernel's left and right eigenvectors differ in number");
  if (right.values.size() == 0) return 1;
  const Eigen::VectorXcd centred = at.centred.cast<std::complex<double>>();
  const Eigen::PartialPivLU<Eigen::MatrixXcd> overlap(left.vectors.transpose() * right.vectors);
  if (overlap.rcond() < 1e-12)
    throw Error("the kernel has no complete set of eigenvectors to working precision");
  const Eigen::VectorXcd shares = overlap.solve(left.vectors.transpose() * centred);
  std::complex<double> sum = 0;
  for (Eigen::Index i = 0; i < shares.size(); ++i) {
    const std::complex<double> weight = right.vectors.col(i).transpose() * centred;
    sum += weight * shares[i] * right.values[i] / (1.0 - right.values[i]);
  }
  return 1 + 2 * sum.real() / variance;
}

Eigen::VectorXd state_energies(const StateSpace& space) {
  return space.log_weight() - (space.log_p().array() + space.log_z());
}

}  // namespace boltzmark
