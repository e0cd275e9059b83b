#include "boltzmark/exact/spectrum_krylov.hpp"

// g++ 12 misreads Eigen's resize inside Spectra's eigenvector loop.
#pragma GCC diagnostic ignored "-Wuse-after-free"

#include <Spectra/GenEigsSolver.h>
#include <Spectra/SymEigsSolver.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

// Vectors of this many numbers no longer fit a cache: orthogonalising costs more than a product.
constexpr Eigen::Index kLarge = Eigen::Index{1} << 16;

// The matrix as Spectra wants it; counts products.
class Product {
 public:
  using Scalar = double;
  explicit Product(const LinearMap& map) : map_(&map) {}
  Eigen::Index rows() const { return map_->size; }
  Eigen::Index cols() const { return map_->size; }
  void perform_op(const double* in, double* out) const {
    Eigen::Map<Eigen::VectorXd> y(out, rows());
    y = Eigen::Map<const Eigen::VectorXd>(in, rows());
    map_->apply(y);
  }

 private:
  const LinearMap* map_;
};

// Opens a solver's Krylov space, so that the best eigenpair in it is known even when the solver
// gives up.
template <class Solver>
class Opened : public Solver {
 public:
  using Solver::Solver;
  const auto& basis() const { return this->m_fac.matrix_V(); }
  const auto& projection() const { return this->m_fac.matrix_H(); }
};

double edge_key(std::complex<double> value, Edge edge) {
  return edge == Edge::modulus ? std::abs(value) : value.real();
}

double measured_residual(const LinearMap& map, const Eigen::VectorXcd& vector,
                         std::complex<double> value) {
  Eigen::VectorXd real = vector.real(), imaginary = vector.imag();
  map.apply(real);
  if (value.imag() != 0)
    map.apply(imaginary);
  else
    imaginary *= value.real();
  double sum = 0;
  for (Eigen::Index i = 0; i < vector.size(); ++i)
    sum += std::norm(std::complex<double>(real[i], imaginary[i]) - value * vector[i]);
  return std::sqrt(sum) / vector.norm();
}

Eigen::VectorXd starting_vector(Eigen::Index size) {
  Stream stream(make_key(1, "krylov start"), Purpose::start);
  Eigen::VectorXd start(size);
  for (double& value : start) value = stream.uniform(-1, 1);
  return start;
}

// The Krylov basis that a solver ends with, [size x basis], and its products with the matrix.
struct Subspace {
  Eigen::MatrixXd basis;
  int products = 0;
};

template <class Solver>
Subspace krylov(const LinearMap& map, Spectra::SortRule rule, double tolerance, int max_restarts) {
  // Small: a few more eigenvalues than needed guard against a missed one. Large: a short basis of
  // which each restart keeps half (Spectra's rule for one eigenvalue) costs least.
  const bool large = map.size > kLarge;
  Product product(map);
  Opened<Solver> solver(product, large ? 1 : 4, std::min<Eigen::Index>(map.size, large ? 20 : 40));
  solver.init(starting_vector(map.size).data());
  solver.compute(rule, max_restarts, tolerance, rule);
  return {solver.basis(), static_cast<int>(solver.num_operations())};
}

// The best eigenpair of A in a subspace (Rayleigh-Ritz).
EdgeEigenvalue best_in(const LinearMap& map, const Subspace& space, Edge edge) {
  Eigen::MatrixXd projection(space.basis.cols(), space.basis.cols());
  for (Eigen::Index k = 0; k < space.basis.cols(); ++k) {
    Eigen::VectorXd image = space.basis.col(k);
    map.apply(image);
    projection.col(k).noalias() = space.basis.transpose() * image;
  }
  const EigenPairs small = eigen_pairs(projection);
  const Eigen::VectorXcd& values = small.values;
  Eigen::Index best = 0;
  for (Eigen::Index i = 1; i < values.size(); ++i)
    if (edge_key(values[i], edge) > edge_key(values[best], edge)) best = i;
  EdgeEigenvalue result{.value = values[best], .products = space.products};
  result.residual = measured_residual(map, space.basis * small.vectors.col(best), result.value);
  return result;
}

}  // namespace

EdgeEigenvalue edge_eigenvalue(const LinearMap& map, Edge edge, double tolerance,
                               int max_restarts) {
  Eigen::VectorXd probe = starting_vector(map.size);
  const double before = probe.norm();
  map.apply(probe);
  // A random vector that vanishes to rounding: the matrix is zero, and has no Krylov space.
  if (probe.norm() <= 1e-14 * before)
    return {.value = 0, .residual = probe.norm() / before, .converged = true, .products = 1};
  using Spectra::SortRule;
  Subspace space;
  if (map.symmetric) {
    const SortRule rule = edge == Edge::modulus ? SortRule::LargestMagn : SortRule::LargestAlge;
    space = krylov<Spectra::SymEigsSolver<Product>>(map, rule, tolerance, max_restarts);
  } else {
    const SortRule rule = edge == Edge::modulus ? SortRule::LargestMagn : SortRule::LargestReal;
    space = krylov<Spectra::GenEigsSolver<Product>>(map, rule, tolerance, max_restarts);
  }
  EdgeEigenvalue result = best_in(map, space, edge);
  // The solver's own estimate drifts from the residual by the rounding of the basis.
  result.converged = result.residual <= 10 * tolerance;
  return result;
}

}  // namespace boltzmark
