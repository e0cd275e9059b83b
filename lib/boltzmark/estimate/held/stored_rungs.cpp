#include "boltzmark/estimate/held/stored_rungs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/estimate/estimators/mbar.hpp"

namespace boltzmark {
namespace {

constexpr Eigen::Index kFewestGroups = 8;
constexpr double kChance = 1e-7;  // of a false refusal by one comparison

// log r_k - log Zhat_k by the shares that rungs have of the samples and by MBAR's log Z; none without a number.
std::optional<Eigen::VectorXd> weights_by_mbar(const SampleStore& store) {
  const MbarEstimate solution = mbar(store);
  if (solution.log_z_rungs.size() != store.rungs() || !solution.log_z_rungs.allFinite()) return {};
  Eigen::ArrayXd counts = Eigen::ArrayXd::Zero(store.rungs());
  for (const int rung : store.rung.reshaped()) counts[rung] += 1;
  // A rung without samples is one that q gives none to.
  return (counts / store.samples()).max(1e-300).log().matrix() - solution.log_z_rungs;
}

// How many of its standard errors the sum of groups is from 0 at most, of all rows and of their sum by place. The error
// is that of the groups, and no smaller than that of rungs drawn one by one: a state that is met once in a million
// visits of a rung is in all of them by its law, and in none by a run.
double farthest(const Eigen::MatrixXd& groups, const Eigen::VectorXd& variances, double samples) {
  constexpr double kRoundingOfD = 1e-6;  // nats of D
  const auto of_row = [&](const auto& row, double variance) {
    const auto count = static_cast<double>(row.size());
    const double squares = (row.array() - row.mean()).square().sum() * count / (count - 1);
    return std::abs(row.sum()) /
           std::sqrt(std::max(squares, variance) + std::pow(kRoundingOfD * samples, 2));
  };
  const Eigen::VectorXd places = Eigen::VectorXd::LinSpaced(groups.rows(), 0, 1);
  double worst = of_row((places.transpose() * groups).eval(), places.cwiseAbs2().dot(variances));
  for (Eigen::Index k = 0; k < groups.rows(); ++k)
    worst = std::max(worst, of_row(groups.row(k).eval(), variances[k]));
  return worst;
}

}  // namespace

void hold_to_rungs(const SampleStore& store, StoredLaw law, Estimate& estimate) {
  const auto weights = law == StoredLaw::drawn
                           ? std::optional<Eigen::VectorXd>(store.log_prior - store.log_z_hat)
                           : weights_by_mbar(store);
  if (!weights) return;
  const RungSums hard = sum_by_rung(store, Assignment::hard),
                 soft = sum_by_weights(store, *weights);
  const Eigen::MatrixXd counts = hard.weight - soft.weight, first = hard.first - soft.first;
  if (counts.cols() < kFewestGroups) return;
  const auto total = [](const Eigen::MatrixXd& groups) { return groups.rowwise().sum().eval(); };
  const Eigen::ArrayXd means = total(hard.first).array() / total(hard.weight).array().max(1),
                       visits = total(soft.weight);
  const Eigen::ArrayXd spread =
      total(soft.second).array() - 2 * means * total(soft.first).array() + means.square() * visits;
  const double worst = std::max(
      farthest(counts, visits, store.samples()),
      farthest(first - means.matrix().asDiagonal() * counts, spread.max(0), store.samples()));
  const double most = students_t_quantile(static_cast<double>(counts.cols() - 1), 1 - kChance / 2);
  if (!(worst > most)) return;
  estimate.refuse(
      Status::not_converged,
      fmt::format("the stored rungs are not those of such D: {} tells how often each is met {:.0f} "
                  "standard errors off (or the samples begin long before equilibrium)",
                  law == StoredLaw::drawn ? "the law of beta, log_prior, log_z_hat and D"
                                          : "the law of beta and D",
                  worst));
}

}  // namespace boltzmark
