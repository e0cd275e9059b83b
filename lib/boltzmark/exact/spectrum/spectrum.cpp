#include "boltzmark/exact/spectrum/spectrum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "boltzmark/core/eigenvalues.hpp"
#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/spectrum/connectivity.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/exact/spectrum/spectrum_krylov.hpp"
#include "boltzmark/model/sides.hpp"

namespace boltzmark {
namespace {

constexpr std::size_t kDenseStates = 64;  // below, all eigenvalues cost less than Krylov spaces
// Vectors of this many numbers no longer fit a cache: orthogonalising costs more than a product,
// and a short basis least.
constexpr std::size_t kLargeStates = std::size_t{1} << 16;
constexpr Eigen::Index kDenseMarginal = 256;  // the same for symmetric matrices

enum class Way { dense, marginal, krylov, marginal_krylov };

std::string name_of(Way way) {
  static constexpr const char* kNames[] = {"dense", "marginal", "krylov", "marginal krylov"};
  return kNames[static_cast<int>(way)];
}

// The two numbers wanted, and how they were found.
struct Edges {
  double slem = 0;
  double second = 0;
  double residual = 0;
  bool converged = true;
  Way way = Way::dense;
};
static_assert(std::is_trivially_copyable_v<Edges>);  // ranks tell each other

bool is_gibbs(const Rule& rule) {
  return rule.kind == Rule::Kind::gibbs || (rule.kind == Rule::Kind::blend && rule.blend == 0);
}

// C(a, b) = p(a, b) / sqrt(p(a) p(b)), a on the smaller side, and sqrt(p(a)).
struct Cross {
  Eigen::MatrixXd matrix;
  Eigen::VectorXd root;
};

Cross cross_matrix(const StateSpace& space) {
  const int rows_parity = space.side_states(1) <= space.side_states(0) ? 1 : 0;
  const auto rows = static_cast<Eigen::Index>(space.side_states(rows_parity));
  Eigen::MatrixXd log_p(rows, static_cast<Eigen::Index>(space.side_states(1 - rows_parity)));
  for (Eigen::Index b = 0; b < log_p.cols(); ++b) {
    const std::size_t column = space.side_state(1 - rows_parity, static_cast<std::size_t>(b));
    for (Eigen::Index a = 0; a < rows; ++a)
      log_p(a, b) = space.log_p()[static_cast<Eigen::Index>(
          column + space.side_state(rows_parity, static_cast<std::size_t>(a)))];
  }
  Eigen::VectorXd row_log(rows);
  for (Eigen::Index a = 0; a < rows; ++a) row_log[a] = log_sum_exp(log_p.row(a));
  for (Eigen::Index b = 0; b < log_p.cols(); ++b)
    log_p.col(b) -= (row_log.array() + log_sum_exp(log_p.col(b))).matrix() / 2;
  return {log_p.array().exp(), (row_log / 2).array().exp()};
}

Edges from_symmetric(const Eigen::Ref<const Eigen::MatrixXd>& matrix, Way way) {
  const SymmetricEigenPairs pairs = symmetric_eigen_pairs(matrix, Eigenvectors::none);
  if (!pairs.converged) return {.converged = false, .way = way};
  return {
      .slem = pairs.values.cwiseAbs().maxCoeff(), .second = pairs.values.maxCoeff(), .way = way};
}

// Both edges of A, whose stationary eigenvalue 1 has the unit eigenvector root on both sides: moved
// to 0 it is out of the modulus's way, moved to -1 out of the real part's.
Edges krylov_edges(const std::function<void(Eigen::Ref<Eigen::VectorXd>)>& apply,
                   const Eigen::VectorXd& root, const Rows& rows, bool symmetric,
                   const SpectrumOptions& options) {
  const int columns = rows.all() > kLargeStates ? 20 : 40;
  const KrylovOptions krylov{.columns = options.columns > 0 ? options.columns : columns,
                             .tolerance = options.tolerance,
                             .max_restarts = options.max_restarts};
  const auto edge_without = [&](double by, Edge edge) {
    const auto moved = [&apply, &root, &rows, by](Eigen::Ref<Eigen::VectorXd> x) {
      const double share = rows.dot(root, x);
      apply(x);
      x -= by * share * root;
    };
    return edge_eigenvalue({rows, symmetric, moved}, edge, krylov);
  };
  const EdgeEigenvalue slem = edge_without(1, Edge::modulus);
  Edges result{.slem = std::abs(slem.value),
               .second = slem.value.real(),
               .residual = slem.residual,
               .converged = slem.converged,
               .way = Way::krylov};
  // A positive real eigenvalue of largest modulus is also the rightmost.
  if (slem.value.imag() == 0 && slem.value.real() >= 0) return result;
  const EdgeEigenvalue right = edge_without(2, Edge::real_part);
  result.second = right.value.real();
  result.residual = std::max(result.residual, right.residual);
  result.converged = result.converged && right.converged;
  return result;
}

// The nonzero spectrum of G = G_h G_v, a product of two projections, is that of C C', the chain of
// one side alone: symmetric and positive semidefinite.
Edges marginal_edges(const StateSpace& space, const SpectrumOptions& options) {
  const auto [cross, root] = cross_matrix(space);
  const auto dense = [&cross = cross, &root = root] {
    Eigen::MatrixXd chain = cross * cross.transpose();
    chain -= root * root.transpose();
    Edges edges = from_symmetric(chain, Way::marginal);
    edges.second = edges.slem;  // what is below zero is rounding
    return edges;
  };
  if (cross.rows() <= kDenseMarginal) return dense();
  const auto apply = [&cross = cross](Eigen::Ref<Eigen::VectorXd> x) {
    const Eigen::VectorXd other = cross.transpose() * x;
    x.noalias() = cross * other;
  };
  Edges edges =
      krylov_edges(apply, root, Rows(static_cast<std::size_t>(root.size())), true, options);
  edges.way = Way::marginal_krylov;
  return edges.converged || cross.rows() > Eigen::Index{kMaxDenseStates} ? edges : dense();
}

// All eigenvalues but the stationary one, which stands at -2, where no other is.
Edges unsymmetric_edges(const Eigen::Ref<const Eigen::MatrixXd>& deflated) {
  const EigenPairs pairs = eigen_pairs(deflated, Eigenvectors::none);
  Edges edges{.second = -1, .converged = pairs.converged};
  if (!edges.converged) return edges;
  for (const std::complex<double> value : pairs.values) {
    if (value.real() < -1.5) continue;
    edges.slem = std::max(edges.slem, std::abs(value));
    edges.second = std::max(edges.second, value.real());
  }
  return edges;
}

// The kernel as it is, of a law that has no symmetric form: its rows sum to 1, so that T - 3 1 q'
// has T's other eigenvalues for any q that sums to 1, whatever T leaves unchanged.
Edges plain_edges(const StateSpace& space, const Rule& rule, Scan scan) {
  Eigen::MatrixXd matrix =
      scan == Scan::periodic ? sweep_matrix(space, rule) : random_scan_matrix(space, rule);
  matrix.rowwise() -= 3 * space.p().transpose();
  return unsymmetric_edges(matrix);
}

Edges dense_edges(const StateSpace& space, const Rule& rule, Scan scan,
                  const Eigen::VectorXd& root) {
  if (scan == Scan::random) {
    Eigen::MatrixXd matrix = symmetrised_random_scan_matrix(space, rule);
    matrix -= root * root.transpose();
    Edges edges = from_symmetric(matrix, Way::dense);
    // The stationary direction's zero hides a second eigenvalue that is negative.
    matrix -= root * root.transpose();
    const Edges right = from_symmetric(matrix, Way::dense);
    edges.second = right.second;
    edges.converged = edges.converged && right.converged;
    return edges;
  }
  Eigen::MatrixXd matrix = symmetrised_sweep_matrix(space, rule);
  matrix -= 3 * root * root.transpose();
  return unsymmetric_edges(matrix);
}

bool is_reversible(const StateSpace& space, const Rule& rule) {
  return rule.kind != Rule::Kind::own || SweepOperator(space, rule).reversible();
}

// The chain of one side needs a matrix of as many numbers as states, whose products no ranks share:
// the first rank computes it alone, as one process does.
Edges first_rank_edges(const Layered& model, const SpectrumOptions& options, const Ranks& ranks) {
  Edges edges;
  if (ranks.number() == 0) edges = marginal_edges(StateSpace(model), options);
  ranks.broadcast(&edges, 1, 0);
  return edges;
}

Edges find_edges(const Layered& model, const StateSpace& space, const Rule& rule, Scan scan,
                 const SpectrumOptions& options) {
  if (!is_reversible(space, rule)) {
    if (space.states() > kMaxDenseStates)
      throw InvalidArgument(fmt::format(
          "states = {} (must be at most {} by rule {}, which is not in detailed balance)",
          space.states(), kMaxDenseStates, rule.name()));
    return plain_edges(space, rule, scan);
  }
  using Method = SpectrumOptions::Method;
  const Eigen::VectorXd root = (space.log_p() / 2).array().exp();
  if (options.method == Method::dense) return dense_edges(space, rule, scan, root);
  const bool automatic = options.method == Method::automatic;
  if (automatic && scan == Scan::periodic && is_gibbs(rule) && space.states() <= kMaxStates)
    return space.rows().ranks().count() == 1
               ? marginal_edges(space, options)
               : first_rank_edges(model, options, space.rows().ranks());
  if (automatic && space.states() <= kDenseStates) return dense_edges(space, rule, scan, root);
  const SweepOperator kernel(space, rule);
  const auto apply = [&kernel, scan](Eigen::Ref<Eigen::VectorXd> x) {
    Eigen::Map<StateBlock> block(x.data(), x.size(), 1);
    scan == Scan::periodic ? kernel.apply_symmetrised(block) : kernel.apply_random_scan(block);
  };
  SpectrumOptions asked = options;
  // Large spaces: an eigenvalue moves by no more than its residual times its condition, and the
  // 1e-8 that is promised leaves room.
  if (space.states() > kLargeStates) asked.tolerance = std::max(asked.tolerance, 1e-10);
  const Edges edges = krylov_edges(apply, root, space.rows(), scan == Scan::random, asked);
  const bool fallback = automatic && !edges.converged && space.states() <= kMaxDenseStates;
  return fallback ? dense_edges(space, rule, scan, root) : edges;
}

// Sums |a - b| over the states of all ranks.
double l1_distance(const Rows& all, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return all.sum<SumOneByOne>([&](SumOneByOne& sum, Eigen::Index first, Eigen::Index rows) {
    sum.add((a.segment(first, rows) - b.segment(first, rows)).array().abs());
  });
}

double l1_stationarity_error(const StateSpace& space, const Rule& rule, Scan scan) {
  const SweepOperator kernel(space, rule);
  const Eigen::VectorXd p = space.p();
  if (scan == Scan::random && !kernel.reversible())
    return (random_scan_matrix(space, rule).transpose() * p - p).lpNorm<1>();
  Eigen::VectorXd pushed = scan == Scan::periodic ? p : p.cwiseSqrt();
  Eigen::Map<StateBlock> block(pushed.data(), pushed.size(), 1);
  if (scan == Scan::periodic) {
    kernel.push(block);
  } else {
    kernel.apply_random_scan(block);  // p R = sqrt(p) o (S sqrt(p)), S symmetric
    pushed.array() *= p.array().sqrt();
  }
  return l1_distance(space.rows(), pushed, p);
}

}  // namespace

Spectrum spectrum(const Layered& model, const Rule& rule, Scan scan, const SpectrumOptions& options,
                  const Ranks& ranks) {
  const StateSpace space(model, ranks);
  check_magnitude(list_side(model, smaller_side(model)));
  // What a dense matrix holds no ranks need to share.
  if (ranks.count() > 1 && space.states() <= kMaxDenseStates)
    return spectrum(model, rule, scan, options);
  const Connectivity support = connectivity(space, rule, scan);
  Spectrum result;
  result.states = space.states();
  result.stationarity_error = l1_stationarity_error(space, rule, scan);
  result.irreducible = support.irreducible;
  result.aperiodic = support.aperiodic;
  if (!support.irreducible) {
    // 1 is a multiple eigenvalue.
    result.slem = result.second_eigenvalue = 1;
    result.converged = true;
    result.method = "reducible";
    return result;
  }
  const Edges edges = find_edges(model, space, rule, scan, options);
  // A period above 1 puts further eigenvalues on the unit circle, exactly.
  result.slem = support.aperiodic ? std::min(edges.slem, 1.0) : 1.0;
  result.second_eigenvalue = std::min(edges.second, 1.0);
  result.converged = edges.converged;
  result.residual = edges.residual;
  result.method = name_of(edges.way);
  if (1 - result.slem >= kResolvedGap) result.relaxation_time = 1 / (1 - result.slem);
  return result;
}

}  // namespace boltzmark
