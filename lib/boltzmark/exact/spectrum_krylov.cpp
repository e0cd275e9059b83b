#include "boltzmark/exact/spectrum_krylov.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

// Vectors of this many numbers no longer fit a cache: orthogonalising costs more than a product,
// and a short basis least.
constexpr Eigen::Index kLarge = Eigen::Index{1} << 16;
constexpr Eigen::Index kChunk = 2048;  // rows of a basis that fit a cache
// Between columns, as a power of 2 would put the same row of each into the same set of a cache.
constexpr Eigen::Index kPadding = kChunk + 8;
constexpr double kInvariant = 1e-14;  // what is left of a product inside the space
constexpr Eigen::Index kEdges = 2;

double edge_key(std::complex<double> value, Eigen::Index edge) {
  return edge == 0 ? std::abs(value) : value.real();
}

// A V = V B + v e', v the vector after V's columns, orthogonal to them; e is 0 but in its last
// entry until a restart, which leaves B's row for v full.
class KrylovSpace {
 public:
  KrylovSpace(const LinearMap& map, Eigen::Index columns)
      : map_(map),
        size_(map.size),
        basis_(map.size + kPadding, columns + 1),
        projection_(Eigen::MatrixXd::Zero(columns + 1, columns)) {
    Stream stream(make_key(1, "krylov start"), Purpose::start);
    for (double& value : column(0)) value = stream.uniform(-1, 1);
    column(0).normalize();
  }

  Eigen::Index columns() const { return columns_; }
  bool is_full() const { return columns_ == projection_.cols(); }
  bool is_invariant() const { return invariant_; }
  int products() const { return products_; }
  Eigen::MatrixXd projection() const { return projection_.topLeftCorner(columns_, columns_); }
  // ||A y - theta y|| of y = V c, from the recurrence.
  double residual(const Eigen::VectorXcd& coefficients) const {
    if (invariant_) return 0;
    return std::abs((projection_.row(columns_).head(columns_) * coefficients).value());
  }

  void expand();
  // Goes on from the space that the orthonormal columns of `kept` span, invariant under B.
  void restart(const Eigen::MatrixXd& kept);
  EdgeEigenvalue measure(std::complex<double> value, const Eigen::VectorXcd& coefficients) const;

 private:
  // Calls body(first row, rows, chunk) for every chunk of rows, in parallel.
  template <class Body>
  void for_chunks(const Body& body) const {
    parallel_for(static_cast<std::size_t>(chunks()), [&](std::size_t i) {
      const Eigen::Index first = static_cast<Eigen::Index>(i) * kChunk;
      body(first, std::min(kChunk, size_ - first), static_cast<Eigen::Index>(i));
    });
  }
  Eigen::Index chunks() const { return (size_ + kChunk - 1) / kChunk; }
  Eigen::Ref<Eigen::VectorXd> column(Eigen::Index i) { return basis_.col(i).head(size_); }
  Eigen::VectorXd orthogonalise(Eigen::Index column, const Eigen::VectorXd& remove);
  Eigen::VectorXd combine(const Eigen::VectorXd& coefficients) const;

  const LinearMap& map_;
  Eigen::Index size_;
  Eigen::MatrixXd basis_;       // [size and padding x columns + 1]
  Eigen::MatrixXd projection_;  // B, and below it the row of v
  Eigen::Index columns_ = 0;    // of V so far
  int products_ = 0;
  bool invariant_ = false;
};

// Takes basis * remove from a column, and returns what the basis before it still finds there, with
// the square of its norm below. One pass over the basis; sums in the order of chunks.
Eigen::VectorXd KrylovSpace::orthogonalise(Eigen::Index column, const Eigen::VectorXd& remove) {
  Eigen::MatrixXd parts(column + 1, chunks());
  for_chunks([&](Eigen::Index first, Eigen::Index rows, Eigen::Index chunk) {
    const auto before = basis_.block(first, 0, rows, column);
    auto vector = basis_.col(column).segment(first, rows);
    if (remove.size() > 0) vector.noalias() -= before * remove;
    parts.col(chunk).head(column).noalias() = before.transpose() * vector;
    parts(column, chunk) = vector.squaredNorm();
  });
  return parts.rowwise().sum();
}

void KrylovSpace::expand() {
  const Eigen::Index at = columns_ + 1;
  column(at) = column(columns_);
  map_.apply(column(at));
  ++products_;
  // Twice is enough [Giraud et al. 2005].
  const Eigen::VectorXd once = orthogonalise(at, {});
  const Eigen::VectorXd again = orthogonalise(at, once.head(at));
  const Eigen::VectorXd rest = orthogonalise(at, again.head(at));
  projection_.col(columns_).head(at) = once.head(at) + again.head(at);
  const double norm = std::sqrt(rest[at]);
  invariant_ = norm <= kInvariant || at == size_;
  projection_(at, columns_) = norm;
  if (!invariant_) column(at) /= norm;
  ++columns_;
}

void KrylovSpace::restart(const Eigen::MatrixXd& kept) {
  const Eigen::Index count = kept.cols();
  for_chunks([&](Eigen::Index first, Eigen::Index rows, Eigen::Index) {
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

Eigen::VectorXd KrylovSpace::combine(const Eigen::VectorXd& coefficients) const {
  Eigen::VectorXd vector(size_);
  for_chunks([&](Eigen::Index first, Eigen::Index rows, Eigen::Index) {
    vector.segment(first, rows).noalias() = basis_.block(first, 0, rows, columns_) * coefficients;
  });
  return vector;
}

// With A (x + iy) = (a + ib)(x + iy), from at most four vectors beside the basis.
EdgeEigenvalue KrylovSpace::measure(std::complex<double> value,
                                    const Eigen::VectorXcd& coefficients) const {
  const double a = value.real(), b = value.imag();
  const Eigen::VectorXd real = combine(coefficients.real());
  const Eigen::VectorXd imaginary = b == 0 ? Eigen::VectorXd() : combine(coefficients.imag());
  Eigen::VectorXd image = real;
  map_.apply(image);
  image -= a * real;
  if (b == 0) return {value, image.norm() / real.norm()};
  image += b * imaginary;
  double squares = image.squaredNorm();
  image = imaginary;
  map_.apply(image);
  image -= a * imaginary + b * real;
  squares += image.squaredNorm();
  return {value, std::sqrt(squares / (real.squaredNorm() + imaginary.squaredNorm()))};
}

// The eigenpairs of the projection.
struct RitzPairs {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;  // unit columns

  explicit RitzPairs(const KrylovSpace& space, bool symmetric) {
    const Eigen::MatrixXd projection = space.projection();
    if (symmetric) {
      const SymmetricEigenPairs pairs =
          symmetric_eigen_pairs((projection + projection.transpose()) / 2);
      values = pairs.values, vectors = pairs.vectors;
    } else {
      const EigenPairs pairs = eigen_pairs(projection);
      values = pairs.values, vectors = pairs.vectors;
    }
  }
  // Numbers of the pairs, the outermost first.
  std::vector<Eigen::Index> order(Eigen::Index edge) const {
    std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](Eigen::Index i, Eigen::Index j) {
      return edge_key(values[i], edge) > edge_key(values[j], edge);
    });
    return order;
  }
};

// An orthonormal basis of the span of the outermost pairs of both edges, about `wanted` columns.
Eigen::MatrixXd outer_space(const RitzPairs& pairs, Eigen::Index wanted) {
  const std::vector<Eigen::Index> orders[] = {pairs.order(0), pairs.order(1)};
  std::vector<bool> taken(static_cast<std::size_t>(pairs.values.size()));
  Eigen::MatrixXd columns(pairs.values.size(), wanted + 1);
  Eigen::Index count = 0;
  for (std::size_t rank = 0; rank < taken.size() && count < wanted; ++rank)
    for (const std::vector<Eigen::Index>& order : orders) {
      const Eigen::Index i = order[rank];
      // A conjugate pair gives its real and imaginary part once.
      if (taken[i] || pairs.values[i].imag() < 0 || count >= wanted) continue;
      taken[i] = true;
      columns.col(count++) = pairs.vectors.col(i).real();
      if (pairs.values[i].imag() > 0) columns.col(count++) = pairs.vectors.col(i).imag();
    }
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(columns.leftCols(count));
  return qr.householderQ() * Eigen::MatrixXd::Identity(columns.rows(), count);
}

}  // namespace

SpectrumEdges spectrum_edges(const LinearMap& map, double tolerance, int max_restarts) {
  const Eigen::Index columns = std::min<Eigen::Index>(map.size, map.size > kLarge ? 16 : 40);
  KrylovSpace space(map, columns);
  for (int restarts = 0;; ++restarts) {
    while (!space.is_full() && !space.is_invariant()) space.expand();
    const RitzPairs pairs(space, map.symmetric);
    const Eigen::Index best[kEdges] = {pairs.order(0)[0], pairs.order(1)[0]};
    const double left = std::max(space.residual(pairs.vectors.col(best[0])),
                                 space.residual(pairs.vectors.col(best[1])));
    if (left > tolerance && restarts < max_restarts) {
      space.restart(outer_space(pairs, columns / 2));
      continue;
    }
    SpectrumEdges edges;
    edges.products = space.products();
    edges.largest = space.measure(pairs.values[best[0]], pairs.vectors.col(best[0]));
    edges.rightmost = best[1] == best[0]
                          ? edges.largest
                          : space.measure(pairs.values[best[1]], pairs.vectors.col(best[1]));
    // The recurrence drifts from the residual by the rounding of the basis.
    edges.converged = std::max(edges.largest.residual, edges.rightmost.residual) <= 10 * tolerance;
    return edges;
  }
}

}  // namespace boltzmark
