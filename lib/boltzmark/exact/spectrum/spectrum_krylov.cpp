#include "boltzmark/exact/spectrum/spectrum_krylov.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

// Between columns, as a power of 2 would put the same row of each into the same set of a cache.
constexpr Eigen::Index kPadding = Rows::kChunk + 8;
constexpr double kInvariant = 1e-14;  // what is left of a product inside the space

double edge_key(std::complex<double> value, Edge edge) {
  return edge == Edge::modulus ? std::abs(value) : value.real();
}

// A V = V B + v e', v the vector after V's columns, orthogonal to them; e is 0 but in its last
// entry until a restart, which leaves B's row for v full.
class KrylovSpace {
 public:
  KrylovSpace(const LinearMap& map, Eigen::Index columns)
      : map_(map),
        rows_(map.rows),
        size_(rows_.own()),
        basis_(size_ + kPadding, columns + 1),
        projection_(Eigen::MatrixXd::Zero(columns + 1, columns)) {}

  // Begins anew with a vector that is not 0.
  void start(const Eigen::VectorXd& vector) {
    column(0) = vector / std::sqrt(squared_norm(vector));
    columns_ = 0;
    invariant_ = false;
    projection_.setZero();
  }

  bool is_full() const { return columns_ == projection_.cols(); }
  bool is_invariant() const { return invariant_; }
  Eigen::MatrixXd projection() const { return projection_.topLeftCorner(columns_, columns_); }
  // ||A y - theta y|| of y = V c, from the recurrence.
  double residual(const Eigen::VectorXcd& coefficients) const {
    if (invariant_) return 0;
    return std::abs((projection_.row(columns_).head(columns_) * coefficients).value());
  }

  void expand() {
    const Eigen::Index at = columns_ + 1;
    column(at) = column(columns_);
    map_.apply(column(at));
    // Twice is enough [Giraud et al. 2005].
    const Eigen::VectorXd once = project(at, {});
    const Eigen::VectorXd again = project(at, once);
    const double norm = remove(at, again);
    projection_.col(columns_).head(at) = once + again;
    invariant_ = norm <= kInvariant || at == static_cast<Eigen::Index>(rows_.all());
    projection_(at, columns_) = norm;
    if (!invariant_) column(at) /= norm;
    ++columns_;
  }

  // Goes on from the space that the orthonormal columns of `kept` span, invariant under B.
  void restart(const Eigen::MatrixXd& kept) {
    const Eigen::Index count = kept.cols();
    rows_.for_chunks([&](Eigen::Index first, Eigen::Index rows) {
      auto block = basis_.middleRows(first, rows);
      const Eigen::MatrixXd rotated = block.leftCols(columns_) * kept;
      block.col(count) = block.col(columns_);
      block.leftCols(count) = rotated;
    });
    const Eigen::MatrixXd inner = kept.transpose() * projection() * kept;
    const Eigen::RowVectorXd row = projection_.row(columns_).head(columns_) * kept;
    projection_.setZero();
    projection_.topLeftCorner(count, count) = inner;
    projection_.row(count).head(count) = row;
    columns_ = count;
  }

  // ||A y - theta y|| of y = V c / ||V c||, from products: A (x + iy) = (a + ib)(x + iy).
  double measure(std::complex<double> theta, const Eigen::VectorXcd& coefficients) const {
    const double a = theta.real(), b = theta.imag();
    const Eigen::VectorXd real = combine(coefficients.real());
    Eigen::VectorXd image = real;
    map_.apply(image);
    image -= a * real;
    if (b == 0) return std::sqrt(squared_norm(image)) / std::sqrt(squared_norm(real));
    const Eigen::VectorXd imaginary = combine(coefficients.imag());
    image += b * imaginary;
    double squares = squared_norm(image);
    image = imaginary;
    map_.apply(image);
    image -= a * imaginary + b * real;
    squares += squared_norm(image);
    return std::sqrt(squares / (squared_norm(real) + squared_norm(imaginary)));
  }

  Eigen::VectorXd combine(const Eigen::VectorXd& coefficients) const {
    Eigen::VectorXd vector(size_);
    rows_.for_chunks([&](Eigen::Index first, Eigen::Index rows) {
      vector.segment(first, rows).noalias() = basis_.block(first, 0, rows, columns_) * coefficients;
    });
    return vector;
  }

 private:
  double squared_norm(const Eigen::VectorXd& vector) const { return rows_.dot(vector, vector); }
  Eigen::Ref<Eigen::VectorXd> column(Eigen::Index i) { return basis_.col(i).head(size_); }

  // Takes basis * coefficients from a column, and returns what the basis before it still finds there.
  // One pass over the basis; sums in the order of chunks.
  Eigen::VectorXd project(Eigen::Index column, const Eigen::VectorXd& coefficients) {
    const auto body = [&](Eigen::Index first, Eigen::Index rows,
                          Eigen::Ref<Eigen::VectorXd> found) {
      const auto before = basis_.block(first, 0, rows, column);
      auto vector = basis_.col(column).segment(first, rows);
      if (coefficients.size() > 0) vector.noalias() -= before * coefficients;
      found.noalias() = before.transpose() * vector;
    };
    return rows_.parts(column, body).rowwise().sum();
  }

  // Takes basis * coefficients from a column, and returns the norm of what is left.
  double remove(Eigen::Index column, const Eigen::VectorXd& coefficients) {
    const auto body = [&](Eigen::Index first, Eigen::Index rows,
                          Eigen::Ref<Eigen::VectorXd> square) {
      auto vector = basis_.col(column).segment(first, rows);
      vector.noalias() -= basis_.block(first, 0, rows, column) * coefficients;
      square[0] = vector.squaredNorm();
    };
    return std::sqrt(rows_.parts(1, body).sum());
  }

  const LinearMap& map_;
  const Rows& rows_;
  Eigen::Index size_;           // of what is here
  Eigen::MatrixXd basis_;       // [size and padding x columns + 1]
  Eigen::MatrixXd projection_;  // B, and below it the row of v
  Eigen::Index columns_ = 0;    // of V so far
  bool invariant_ = false;
};

// The eigenpairs of a projection, the outermost first; none if they were not found.
struct RitzPairs {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;  // unit columns

  RitzPairs(const Eigen::MatrixXd& projection, bool symmetric, Edge edge) {
    if (symmetric)
      sort(symmetric_eigen_pairs((projection + projection.transpose()) / 2), edge);
    else
      sort(eigen_pairs(projection), edge);
  }

 private:
  template <class Pairs>
  void sort(const Pairs& pairs, Edge edge) {
    if (!pairs.converged || !pairs.values.allFinite()) return;
    std::vector<Eigen::Index> order(static_cast<std::size_t>(pairs.values.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
      return edge_key(pairs.values[i], edge) > edge_key(pairs.values[j], edge);
    });
    values = pairs.values(order);
    vectors = pairs.vectors(Eigen::all, order);
  }
};

// An orthonormal basis of the span of the outermost pairs, about `wanted` columns.
Eigen::MatrixXd outer_space(const RitzPairs& pairs, Eigen::Index wanted) {
  Eigen::MatrixXd columns(pairs.values.size(), wanted + 1);
  Eigen::Index count = 0;
  for (Eigen::Index i = 0; i < pairs.values.size() && count < wanted; ++i) {
    // A conjugate pair gives its real and imaginary part once.
    if (pairs.values[i].imag() < 0) continue;
    columns.col(count++) = pairs.vectors.col(i).real();
    if (pairs.values[i].imag() > 0) columns.col(count++) = pairs.vectors.col(i).imag();
  }
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns.leftCols(count));
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), count);
}

// A uniform takes two draws.
Eigen::VectorXd random_start(const Rows& rows) {
  Stream stream(make_key(1, "krylov start"), Purpose::start);
  stream.skip(2 * rows.first());
  Eigen::VectorXd start(rows.own());
  for (double& value : start) value = stream.uniform(-1, 1);
  return start;
}

}  // namespace

EdgeEigenvalue edge_eigenvalue(const LinearMap& map, Edge edge, const KrylovOptions& options) {
  const Eigen::Index columns = std::min(static_cast<Eigen::Index>(map.rows.all()), options.columns);
  KrylovSpace space(map, columns);
  space.start(random_start(map.rows));
  EdgeEigenvalue found;
  found.residual = std::numeric_limits<double>::infinity();
  for (int restarts = 0;; ++restarts) {
    while (!space.is_full() && !space.is_invariant()) space.expand();
    const RitzPairs pairs(space.projection(), map.symmetric, edge);
    if (pairs.values.size() == 0) return found;
    const Eigen::VectorXcd best = pairs.vectors.col(0);
    const bool last = restarts >= options.max_restarts;
    if (space.residual(best) > options.tolerance && !last) {
      space.restart(outer_space(pairs, columns / 2));
      continue;
    }
    found.value = pairs.values[0];
    found.residual = space.measure(found.value, best);
    found.converged = found.residual <= 10 * options.tolerance;
    if (found.converged || last) return found;
    // Near defective pairs the recurrence drifts from what it says: its best vector begins anew.
    space.start(space.combine(best.real() + best.imag()));
  }
}

}  // namespace boltzmark
