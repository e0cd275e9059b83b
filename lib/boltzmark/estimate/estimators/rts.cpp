#include "boltzmark/estimate/estimators/rts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/estimators/mixture_solver.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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
            const Eigen::VectorXd& log_z_hat, double added_count) {
  if (!(added_count >= 0))
    throw InvalidArgument(fmt::format("added_count = {} (must be at least 0)", added_count));
  return from_weights(hard_sums, added_count, log_prior, log_z_hat);
}

Estimate ts(const SampleStore& store, double added_count) {
  need_random_rungs(store);
  Estimate estimate =
      ts(sum_by_rung(store, Assignment::hard), store.log_prior, store.log_z_hat, added_count);
  judge_mixing(estimate, store);
  return estimate;
}

namespace {

void check(const std::vector<RtsStage>& stages, const VectorXd& log_prior) {
  if (stages.empty()) throw InvalidArgument("stages = 0 (must be at least 1)");
  for (const RtsStage& stage : stages)
    if (log_prior.size() < 2 || stage.sums.rungs() != log_prior.size() ||
        stage.log_z_hat.size() != log_prior.size() ||
        stage.sums.groups() != stages[0].sums.groups())
      throw InvalidArgument(fmt::format("stage = {} rungs, {} groups (must be {}, {})",
                                        stage.sums.rungs(), stage.sums.groups(), log_prior.size(),
                                        stages[0].sums.groups()));
}

VectorXd counts(const std::vector<RtsStage>& stages) {
  VectorXd sum = VectorXd::Zero(stages[0].sums.rungs());
  for (const RtsStage& stage : stages) sum += stage.sums.weight.rowwise().sum();
  return sum;
}

// r_k Z_k / Zhat_k of one stage, normalised; returns the log of its sum.
double occupancies(const RtsStage& stage, const VectorXd& log_prior, const VectorXd& log_z,
                   VectorXd& out) {
  out = log_prior - stage.log_z_hat + log_z;
  const double highest = out.maxCoeff();
  out = (out.array() - highest).exp();
  const double sum = out.sum();
  out /= sum;
  return highest + std::log(sum);
}

// The solver's variable is z = -log Z.
MixturePoint mixture(const std::vector<RtsStage>& stages, const VectorXd& log_prior,
                     const VectorXd& z) {
  MixturePoint point{.expected = VectorXd::Zero(z.size()),
                     .overlap = MatrixXd::Zero(z.size(), z.size())};
  VectorXd p;
  for (const RtsStage& stage : stages) {
    point.value += stage.sums.samples * occupancies(stage, log_prior, -z, p);
    point.expected += stage.sums.samples * p;
    point.overlap += stage.sums.samples * (p * p.transpose());
  }
  return point;
}

void set_error(const std::vector<RtsStage>& stages, const VectorXd& log_prior,
               const VectorXd& log_z, Estimate& estimate) {
  const Index top = log_z.size() - 1;
  const MixturePoint at = mixture(stages, log_prior, -log_z);
  const double samples = at.expected.sum();
  const VectorXd contrast = VectorXd::Unit(top + 1, top) - VectorXd::Unit(top + 1, 0);
  VectorXd s = solve_hessian(mixture_hessian(at.overlap), contrast);
  s.array() -= s.dot(at.expected) / samples;  // for one stage only the ends are left
  VectorXd groups = VectorXd::Zero(stages[0].sums.groups());
  double square = 0;
  VectorXd p;
  for (const RtsStage& stage : stages) {
    occupancies(stage, log_prior, log_z, p);
    const VectorXd sizes = stage.sums.weight.colwise().sum();
    groups += samples * (stage.sums.weight.transpose() * s - s.dot(p) * sizes);
    const VectorXd& ends = stage.sums.end_squares;
    const double sum =
        s[top] * stage.sums.weight.row(top).sum() + s[0] * stage.sums.weight.row(0).sum();
    square += s[top] * s[top] * ends[1] + s[0] * s[0] * ends[0] + 2 * s[0] * s[top] * ends[2] -
              sum * sum / stage.sums.samples;
  }
  set_error(estimate, {.groups = groups,
                       .batches = stages[0].sums.batches,
                       .samples = samples,
                       .mean_square = samples * square});
}

// What chains saw in a round belongs to their first batches, just before which it was.
RungSums before_first_batch(const RungSums& round, int batches) {
  const Index chains = round.groups() / round.batches;
  RungSums sums{.weight = MatrixXd::Zero(round.rungs(), chains * batches),
                .end_squares = round.end_squares,
                .samples = round.samples,
                .batches = batches};
  for (Index c = 0; c < chains; ++c)
    sums.weight.col(c * batches) =
        round.weight.middleCols(c * round.batches, round.batches).rowwise().sum();
  return sums;
}

}  // namespace

Estimate rts_mixed(const std::vector<RtsStage>& stages, const VectorXd& log_prior) {
  check(stages, log_prior);
  Estimate estimate;
  const VectorXd weight = counts(stages);
  if (!judge_visits(estimate, weight)) return estimate;
  const auto& last = stages.back();
  const VectorXd start = -log_z_from_occupancies(weight / weight.sum(), log_prior, last.log_z_hat);
  const MixtureSolution solution = solve_mixture(
      [&](const VectorXd& z, bool) { return mixture(stages, log_prior, z); }, weight, start);
  if (!solution.converged)
    estimate.refuse(Status::not_converged,
                    "Newton's method did not maximise the likelihood: run more sweeps");
  if (!solution.z.allFinite()) return estimate;
  estimate.log_z_rungs = -solution.z;
  estimate.log_z = estimate.log_z_rungs[log_prior.size() - 1];
  set_error(stages, log_prior, estimate.log_z_rungs, estimate);
  return estimate;
}

Estimate rts_mixed(const TemperedRun& run) {
  std::vector<RtsStage> stages;
  for (const InitialRound& round : run.rounds)
    if (enough_round_trips(round.trips, run.store.chains()))
      stages.push_back({before_first_batch(round.sums, run.sums.batches), round.log_z_hat});
  stages.push_back({run.sums, run.store.log_z_hat});
  Estimate estimate = rts_mixed(stages, run.store.log_prior);
  judge_mixing(estimate, run.store);
  return estimate;
}

}  // namespace boltzmark
