#include "boltzmark/estimate/thermodynamic_integration.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/estimate/influence.hpp"
#include "boltzmark/estimate/integrand.hpp"
#include "boltzmark/sample/mixing.hpp"
#include "boltzmark/sample/rung_law.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
using MeanSquare = std::function<double(const Integrand&, const Integral&)>;

// The integral by one rule with its sampling error.
Estimate sampled(const Integrand& integrand, Quadrature quadrature, const RungSums& sums,
                 const MeanSquare& mean_square) {
  Estimate estimate;
  const Integral integral = integrand.integrate(quadrature);
  estimate.log_z_rungs = integral.log_z_rungs;
  estimate.log_z = integral.log_z_rungs[integral.log_z_rungs.size() - 1];
  set_error(estimate, {.groups = integrand.group_influences(integral),
                       .batches = sums.batches,
                       .samples = sums.samples,
                       .mean_square = mean_square(integrand, integral)});
  return estimate;
}

double hard_mean_square(const Integrand& integrand, const Integral& integral) {
  return integrand.hard_mean_square(integral);
}

Estimate integrate(const RungSums& sums, const Ladder& ladder, const TiOptions& options,
                   const MeanSquare& mean_square) {
  const Integrand integrand(sums, ladder);
  Estimate refusal;
  const bool visited = judge_visits(refusal, integrand.counts());
  if (!visited && !options.interpolate_empty) return refusal;
  Estimate estimate = sampled(integrand, options.quadrature, sums, mean_square);
  const auto other = [&](Quadrature quadrature) {
    return sampled(integrand, quadrature, sums, hard_mean_square);
  };
  const Quadrature finer =
      options.quadrature == Quadrature::corrected ? Quadrature::simpson : Quadrature::corrected;
  estimate.std_error = std::hypot(estimate.std_error, estimate.log_z - other(finer).log_z);
  estimate.lower = std::min(estimate.lower, other(Quadrature::left).lower);
  estimate.upper = std::max(estimate.upper, other(Quadrature::right).upper);
  if (!visited) estimate.refuse(refusal.status, refusal.warnings.front());
  return estimate;
}

// The mean square of influences over the samples of a store.
double stored_mean_square(const SampleStore& store, Assignment assignment,
                          const Integrand& integrand, const Integral& integral) {
  std::optional<RungLaw> law;
  if (assignment == Assignment::soft) law.emplace(store, States::joint);
  VectorXd squares = VectorXd::Zero(store.chains());
  parallel_for(static_cast<std::size_t>(store.chains()), [&](std::size_t chain) {
    const auto c = static_cast<Index>(chain);
    VectorXd weights(store.rungs());
    double sum = 0;
    for (Index n = c * store.sweeps(); n < (c + 1) * store.sweeps(); ++n) {
      if (law)
        (*law)(n, weights);
      else
        weights = VectorXd::Unit(store.rungs(), store.rung.data()[n]);
      const double x = integrand.influence(integral, weights, store.log_ratio.data()[n]);
      sum += x * x;
    }
    squares[c] = sum;
  });
  return squares.sum() / store.samples();
}

}  // namespace

Estimate thermodynamic_integration(const RungSums& sums, const Ladder& ladder,
                                   const TiOptions& options) {
  return closed(integrate(sums, ladder, options, hard_mean_square));
}

Estimate thermodynamic_integration(const SampleStore& store, Assignment assignment,
                                   const TiOptions& options) {
  Estimate estimate = integrate(sum_by_rung(store, assignment), store.ladder, options,
                                [&](const Integrand& integrand, const Integral& integral) {
                                  return stored_mean_square(store, assignment, integrand, integral);
                                });
  judge_mixing(estimate, store);
  return closed(std::move(estimate), range_of(store.log_ratio));
}

Estimate ti_continuous(const Eigen::MatrixXd& log_ratio, const Eigen::MatrixXd& density) {
  if (log_ratio.size() == 0 || log_ratio.rows() != density.rows() ||
      log_ratio.cols() != density.cols())
    throw InvalidArgument("density (must be the shape of D, not empty)");
  if (!log_ratio.allFinite() || !density.allFinite() || density.minCoeff() <= 0)
    throw InvalidArgument("D, density (must be finite, densities positive)");
  const Eigen::MatrixXd terms = log_ratio.cwiseQuotient(density);
  Estimate estimate;
  estimate.log_z = terms.mean();
  set_error(estimate, terms.array() - estimate.log_z);
  return closed(std::move(estimate), range_of(log_ratio));
}

}  // namespace boltzmark
