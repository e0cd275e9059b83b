#include "boltzmark/estimate/estimators/rts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/rts_update.hpp"

namespace boltzmark {
namespace {

// log Z and its error from occupancies (sum_n w_kn + added) / (N + K added).
Estimate from_weights(const RungSums& sums, double added, const Eigen::VectorXd& log_prior,
                      const Eigen::VectorXd& log_z_hat) {
  Estimate estimate;
  const Eigen::VectorXd raw = sums.weight.rowwise().sum();
  const Eigen::VectorXd total = raw.array() + added;
  judge_visits(estimate, raw);
  if ((total.array() <= 0).any()) return estimate;
  const Eigen::Index top = sums.rungs() - 1;
  estimate.log_z_rungs = log_z_from_occupancies(total / total.sum(), log_prior, log_z_hat);
  estimate.log_z = estimate.log_z_rungs[top];
  const double up = sums.samples / total[top], down = sums.samples / total[0];
  const Eigen::VectorXd sizes = sums.weight.colwise().sum();
  const double mean = (up * raw[top] - down * raw[0]) / sums.samples;
  const Eigen::VectorXd groups =
      up * sums.weight.row(top).transpose() - down * sums.weight.row(0).transpose() - mean * sizes;
  const double square = up * up * sums.end_squares[1] + down * down * sums.end_squares[0] -
                        2 * up * down * sums.end_squares[2];
  set_error(estimate, {.groups = groups,
                       .batches = sums.batches,
                       .samples = sums.samples,
                       .mean_square = square / sums.samples - mean * mean});
  return estimate;
}

}  // namespace

OccupancyMoments occupancy_moments(const RungSums& sums, Eigen::Index rung) {
  if (sums.groups() < 2) throw InvalidArgument("groups = 1 (must be at least 2)");
  const auto groups = static_cast<double>(sums.groups());
  const Eigen::VectorXd sizes = sums.weight.colwise().sum();
  const double first = sums.weight.row(0).sum() / sums.samples;
  const double other = sums.weight.row(rung).sum() / sums.samples;
  const Eigen::VectorXd a = sums.weight.row(0).transpose() - first * sizes;
  const Eigen::VectorXd b = sums.weight.row(rung).transpose() - other * sizes;
  const double scale = groups / (groups - 1) / (sums.samples * sums.samples);
  return {.first = first,
          .other = other,
          .var_first = scale * a.squaredNorm(),
          .var_other = scale * b.squaredNorm(),
          .covariance = scale * a.dot(b)};
}

double rts_bias(const OccupancyMoments& m) {
  return 0.5 * (m.var_first / (m.first * m.first) - m.var_other / (m.other * m.other));
}

double rts_variance(const OccupancyMoments& m) {
  return m.var_first / (m.first * m.first) + m.var_other / (m.other * m.other) -
         2 * m.covariance / (m.first * m.other);
}

Estimate rts(const RungSums& soft_sums, const Eigen::VectorXd& log_prior,
             const Eigen::VectorXd& log_z_hat) {
  return from_weights(soft_sums, 0, log_prior, log_z_hat);
}

Estimate rts(const SampleStore& store, States states) {
  const RungSums sums =
      states == States::joint ? sum_by_rung(store, Assignment::soft) : sum_collapsed(store);
  Estimate estimate = rts(sums, store.log_prior, store.log_z_hat);
  judge_mixing(estimate, store);
  return estimate;
}

Estimate ts(const RungSums& hard_sums, const Eigen::VectorXd& log_prior,
            const Eigen::VectorXd& log_z_hat, const TsOptions& options) {
  if (!(options.added_count >= 0))
    throw InvalidArgument(
        fmt::format("added_count = {} (must be at least 0)", options.added_count));
  return from_weights(hard_sums, options.added_count, log_prior, log_z_hat);
}

Estimate ts(const SampleStore& store, const TsOptions& options) {
  need_random_rungs(store);
  Estimate estimate =
      ts(sum_by_rung(store, Assignment::hard), store.log_prior, store.log_z_hat, options);
  judge_mixing(estimate, store);
  return estimate;
}

}  // namespace boltzmark
