#include "boltzmark/estimate/mbar.hpp"

#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/influence.hpp"
#include "boltzmark/estimate/mbar_mixture.hpp"
#include "boltzmark/estimate/thermodynamic_integration.hpp"
#include "boltzmark/sample/mixing.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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
  visited.inverse_temperatures.resize(visited.counts.size());
  for (std::size_t i = 0; i < visited.rungs.size(); ++i)
    visited.inverse_temperatures[static_cast<Index>(i)] =
        store.ladder[static_cast<int>(visited.rungs[i])];
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
      log_z[k] = z[static_cast<Index>(next++)];
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
  estimate.independent_std_error = std::sqrt(estimate.covariance(top, top));
  VectorXd c = VectorXd::Zero(z.size());
  c(visited.rungs) = visited.counts.cwiseProduct(solved.col(top));
  c[top] += 1;
  c[0] -= 1;
  const VectorXd values = chunks.weighted_sums(-z, log_mixture, c), means = a * c;
  MatrixXd influences(store.sweeps(), store.chains());
  for (Index i = 0; i < values.size(); ++i)
    influences.data()[i] = store.samples() * (values[i] - means[store.rung.data()[i]]);
  set_error(estimate, influences);
}

}  // namespace

MbarEstimate mbar(const SampleStore& store) {
  const RungSums sums = sum_by_rung(store, Assignment::hard);
  const Visited visited = visited_rungs(store, sums.weight.rowwise().sum());
  const MixtureSolution solution = solve(store, visited, sums);
  MbarEstimate estimate;
  estimate.iterations = solution.iterations;
  if (!solution.converged)
    estimate.refuse(Status::not_converged, "Newton's method did not solve MBAR's equations");
  if (!solution.z.allFinite()) return estimate;
  VectorXd inverse_temperatures(store.rungs());
  for (int k = 0; k < store.rungs(); ++k) inverse_temperatures[k] = store.ladder[k];
  const VectorXd log_mixture = SampleChunks(visited.inverse_temperatures, store.log_ratio)
                                   .log_sums(VectorXd(visited.counts.array().log()) - solution.z);
  const VectorXd z = all_log_z(store, visited, solution.z, log_mixture, inverse_temperatures);
  estimate.log_z_rungs = z.array() - z[0];
  estimate.log_z = estimate.log_z_rungs[store.rungs() - 1];
  set_errors(store, visited, z, log_mixture, inverse_temperatures, estimate);
  if (visited.rungs.front() != 0 || visited.rungs.back() != store.rungs() - 1)
    estimate.refuse(Status::unvisited_rung, "an end of the ladder has no samples");
  judge_mixing(estimate, store);
  return estimate;
}

}  // namespace boltzmark
