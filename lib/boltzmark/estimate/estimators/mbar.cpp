#include "boltzmark/estimate/estimators/mbar.hpp"

#include <algorithm>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/estimators/mixture_solver.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// The depth of a chunk's product is too small for Eigen to split it by the size of a cache, so that
// the order of its sums is the same on every machine.
constexpr Index kChunk = 128;
constexpr Index kBlocks = 16;

void add_products(const MatrixXd& chunk, MatrixXd& sum) {
  sum.selfadjointView<Eigen::Lower>().rankUpdate(chunk);
}

/// Sums over samples that are known by D alone, in chunks that stay in the cache. Chunks belong to
/// a fixed number of blocks whatever the threads, and blocks are added in their order.
/// With l_k(n) = b_k D_n + offset_k:
class SampleChunks {
 public:
  /// Keeps references.  Shapes  inverse_temperatures [rungs], log_ratio = D [any]
  SampleChunks(const VectorXd& inverse_temperatures, const MatrixXd& log_ratio)
      : inverse_temperatures_(inverse_temperatures),
        log_ratio_(log_ratio.data(), log_ratio.size()) {}

  /// Sums log sum_k e^l_k, p_k and (if wanted) p_j p_k over samples, p = softmax(l).
  MixturePoint sum(const VectorXd& offset, bool with_overlap) const {
    const Index rungs = offset.size();
    std::vector<MixturePoint> blocks(kBlocks);
    for (MixturePoint& block : blocks) {
      block.expected = VectorXd::Zero(rungs);
      if (with_overlap) block.overlap = MatrixXd::Zero(rungs, rungs);
    }
    for_chunks(offset, [&](std::size_t block, Index, MatrixXd& chunk) {
      const Eigen::RowVectorXd highest = chunk.colwise().maxCoeff();
      chunk = (chunk.rowwise() - highest).array().exp();
      const Eigen::RowVectorXd sums = chunk.colwise().sum();
      chunk.array().rowwise() /= sums.array();
      blocks[block].value += highest.sum() + sums.array().log().sum();
      blocks[block].expected += chunk.rowwise().sum();
      if (with_overlap) add_products(chunk, blocks[block].overlap);
    });
    for (Index b = 1; b < kBlocks; ++b) {
      blocks[0].value += blocks[b].value;
      blocks[0].expected += blocks[b].expected;
      if (with_overlap) blocks[0].overlap += blocks[b].overlap;
    }
    return blocks[0];
  }

  /// Computes log sum_k e^l_k of each sample.  Shapes  result [samples]
  VectorXd log_sums(const VectorXd& offset) const {
    VectorXd result(log_ratio_.size());
    for_chunks(offset, [&](std::size_t, Index first, const MatrixXd& chunk) {
      const Eigen::RowVectorXd highest = chunk.colwise().maxCoeff();
      const Eigen::RowVectorXd sums = (chunk.rowwise() - highest).array().exp().colwise().sum();
      result.segment(first, chunk.cols()) = (highest.array() + sums.array().log()).transpose();
    });
    return result;
  }

  /// Sums w_j w_k over samples, w_k = e^(l_k - log_mixture).  Shapes  log_mixture [samples]
  MatrixXd weight_products(const VectorXd& offset, const VectorXd& log_mixture) const {
    std::vector<MatrixXd> blocks(kBlocks, MatrixXd::Zero(offset.size(), offset.size()));
    for_chunks(offset, [&](std::size_t block, Index first, MatrixXd& chunk) {
      chunk.rowwise() -= log_mixture.segment(first, chunk.cols()).transpose();
      chunk = chunk.array().exp();
      add_products(chunk, blocks[block]);
    });
    for (Index b = 1; b < kBlocks; ++b) blocks[0] += blocks[b];
    return blocks[0].selfadjointView<Eigen::Lower>();
  }

  /// Computes sum_k c_k w_k of each sample.  Shapes  c [rungs], result [samples]
  VectorXd weighted_sums(const VectorXd& offset, const VectorXd& log_mixture,
                         const VectorXd& c) const {
    VectorXd result(log_ratio_.size());
    for_chunks(offset, [&](std::size_t, Index first, MatrixXd& chunk) {
      chunk.rowwise() -= log_mixture.segment(first, chunk.cols()).transpose();
      chunk = chunk.array().exp();
      result.segment(first, chunk.cols()) = chunk.transpose() * c;
    });
    return result;
  }

 private:
  // Calls body(block, first sample, l [rungs x samples of the chunk]) for every chunk.
  template <class Body>
  void for_chunks(const VectorXd& offset, const Body& body) const {
    const Index chunks = (log_ratio_.size() + kChunk - 1) / kChunk;
    parallel_for(kBlocks, [&](std::size_t block) {
      const auto b = static_cast<Index>(block);
      MatrixXd chunk;
      for (Index t = b * chunks / kBlocks; t < (b + 1) * chunks / kBlocks; ++t) {
        const Index first = t * kChunk, count = std::min(kChunk, log_ratio_.size() - first);
        chunk = (inverse_temperatures_ * log_ratio_.segment(first, count).transpose()).colwise() +
                offset;
        body(block, first, chunk);
      }
    });
  }

  const VectorXd& inverse_temperatures_;
  Eigen::Map<const VectorXd> log_ratio_;
};

// The rungs with samples, which the likelihood is about.
struct Visited {
  std::vector<Index> rungs;
  VectorXd inverse_temperatures, counts;
};

Visited visited_rungs(const SampleStore& store, const VectorXd& counts) {
  Visited visited;
  for (Index k = 0; k < counts.size(); ++k)
    if (counts[k] > 0) visited.rungs.push_back(k);
  visited.counts = counts(visited.rungs);
  visited.inverse_temperatures = inverse_temperatures_of(store.ladder)(visited.rungs);
  return visited;
}

MixtureSolution solve(const SampleStore& store, const Visited& visited, const RungSums& sums) {
  const Estimate start = thermodynamic_integration(sums, store.ladder, {.interpolate_empty = true});
  const SampleChunks chunks(visited.inverse_temperatures, store.log_ratio);
  const VectorXd log_counts = visited.counts.array().log();
  const auto mixture = [&](const VectorXd& z, bool with_overlap) {
    return chunks.sum(log_counts - z, with_overlap);
  };
  VectorXd z = start.log_z_rungs(visited.rungs);
  z.array() -= z[0];
  return solve_mixture(mixture, visited.counts, z);
}

// log Z of all rungs, in the gauge of the visited ones; others are sums over all samples, weighted
// by the mixture that these come from.
VectorXd all_log_z(const SampleStore& store, const Visited& visited, const VectorXd& z,
                   const VectorXd& log_mixture, const VectorXd& inverse_temperatures) {
  VectorXd log_z(store.rungs());
  std::size_t next = 0;
  for (Index k = 0; k < log_z.size(); ++k) {
    if (next < visited.rungs.size() && visited.rungs[next] == k) {
      log_z[k] = z[next++];
      continue;
    }
    LogSum sum;
    for (Index n = 0; n < log_mixture.size(); ++n)
      sum.add(inverse_temperatures[k] * store.log_ratio.data()[n] - log_mixture[n]);
    log_z[k] = sum.log();
  }
  return log_z;
}

// Errors from the weights of samples at all rungs; a rung's z is relative to the first one's.
void set_errors(const SampleStore& store, const Visited& visited, const VectorXd& z,
                const VectorXd& log_mixture, const VectorXd& inverse_temperatures,
                MbarEstimate& estimate) {
  const SampleChunks chunks(inverse_temperatures, store.log_ratio);
  const MatrixXd a = chunks.weight_products(-z, log_mixture);
  const MatrixXd n = visited.counts.asDiagonal();
  const MatrixXd overlap = n * a(visited.rungs, visited.rungs) * n;
  MatrixXd gradients = n * a(visited.rungs, Eigen::all);
  gradients.colwise() -= VectorXd(gradients.col(0));
  const MatrixXd solved = solve_hessian(mixture_hessian(overlap), gradients);
  MatrixXd contrast = a.colwise() - a.col(0);
  contrast.rowwise() -= Eigen::RowVectorXd(contrast.row(0));
  estimate.covariance = contrast + gradients.transpose() * solved;
  const Index top = z.size() - 1;
  VectorXd c = VectorXd::Zero(z.size());
  c(visited.rungs) = visited.counts.cwiseProduct(solved.col(top));
  c[top] += 1;
  c[0] -= 1;
  const VectorXd values = chunks.weighted_sums(-z, log_mixture, c), means = a * c;
  MatrixXd influences(store.sweeps(), store.chains());
  for (Index i = 0; i < values.size(); ++i)
    influences.data()[i] = store.samples() * (values[i] - means[store.rung.data()[i]]);
  set_error(estimate, influences, store.bundle());
}

}  // namespace

MbarEstimate mbar(const SampleStore& store) {
  const RungSums sums = sum_by_rung(store, Assignment::hard);
  const Visited visited = visited_rungs(store, sums.weight.rowwise().sum());
  const MixtureSolution solution = solve(store, visited, sums);
  MbarEstimate estimate;
  estimate.iterations = solution.iterations;
  if (!solution.converged)
    estimate.refuse(Status::not_converged,
                    "Newton's method did not solve MBAR's equations: run more sweeps");
  if (!solution.z.allFinite()) return estimate;
  const VectorXd inverse_temperatures = inverse_temperatures_of(store.ladder);
  const VectorXd log_mixture = SampleChunks(visited.inverse_temperatures, store.log_ratio)
                                   .log_sums(VectorXd(visited.counts.array().log()) - solution.z);
  const VectorXd z = all_log_z(store, visited, solution.z, log_mixture, inverse_temperatures);
  estimate.log_z_rungs = z.array() - z[0];
  estimate.log_z = estimate.log_z_rungs[store.rungs() - 1];
  set_errors(store, visited, z, log_mixture, inverse_temperatures, estimate);
  if (visited.rungs.front() != 0 || visited.rungs.back() != store.rungs() - 1)
    estimate.refuse(Status::unvisited_rung, "an end of the ladder has no samples: run more sweeps");
  judge_mixing(estimate, store);
  return estimate;
}

}  // namespace boltzmark
