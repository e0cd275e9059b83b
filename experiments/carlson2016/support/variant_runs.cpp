#include "experiments/carlson2016/support/variant_runs.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "boltzmark/estimate/estimators/continuous_tempering.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/adaptive_tempering.hpp"
#include "experiments/carlson2016/support/models.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kVariantChains = 100;
constexpr int kVariantRungs = 100;

double truth(const Json& inputs) { return exact_carlson_log_z(inputs.at("model")); }

SimulatedTemperingOptions settings(const Json& inputs, const TrialContext& context) {
  return {.chains = kVariantChains,
          .sweeps = inputs.at("sweeps"),
          .ladder = Ladder::linear(kVariantRungs),
          .key = context.key,
          .progress = [&context](double share) { context.progress(share); }};
}

double rts_log_z(const TemperedRun& run) {
  return rts(run.sums, run.store.log_prior, run.store.log_z_hat).log_z;
}

/// By the first kept sweeps alone.
double rts_log_z(const TemperedRun& run, Eigen::Index sweeps) {
  SampleStore first = run.store;
  first.log_ratio.conservativeResize(sweeps, Eigen::NoChange);
  first.rung.conservativeResize(sweeps, Eigen::NoChange);
  return rts(first, States::joint).log_z;
}

/// The samples of a round, or of the rest of the run, as a stage. Two equal groups: the estimate
/// alone is used, not its standard error.
RtsStage stage(const Eigen::VectorXd& occupancy, const Eigen::VectorXd& log_z_hat, double samples) {
  RtsStage stage{.sums = {.weight = occupancy.replicate(1, 2) * (samples / 2)},
                 .log_z_hat = log_z_hat};
  stage.sums.samples = samples;
  return stage;
}

double mixed_log_z(const TemperedRun& run, int round_sweeps) {
  std::vector<RtsStage> stages;
  for (const InitialRound& round : run.rounds)
    stages.push_back(stage(round.occupancy, round.log_z_hat, round_sweeps * kVariantChains));
  const double kept = run.store.samples();
  stages.push_back(stage(run.sums.weight.rowwise().sum() / kept, run.store.log_z_hat, kept));
  return rts_mixed(stages, run.store.log_prior).log_z;
}

/// Removes what regression on control variates explains of a mean of group values.
///   U_f = f(b_n) - E[f(b) | x_n],  f = b, b^2, 1{b = b_1}, 1{b = b_K}: G - P G of G = f(b) along
///   the chain, of mean 0                         [Dellaportas and Kontoyiannis 2012, Sec. 2]
/// The coefficients minimise the variance between groups.
double controlled(const TemperedRun& run, double log_z) {
  const SampleStore& store = run.store;
  const RungSums hard = sum_by_rung(store, Assignment::hard);
  const Eigen::Index groups = run.sums.groups(), top = store.rungs() - 1;
  const double size = store.samples() / static_cast<double>(groups);
  Eigen::MatrixXd functions = Eigen::MatrixXd::Zero(store.rungs(), 4);
  for (int k = 0; k < store.rungs(); ++k)
    functions.row(k).head(2) << store.ladder[k], store.ladder[k] * store.ladder[k];
  functions(0, 2) = functions(top, 3) = 1;
  const Eigen::MatrixXd controls = (hard.weight - run.sums.weight).transpose() * functions / size;
  const Eigen::VectorXd occupancy = run.sums.weight.rowwise().sum() / store.samples();
  const Eigen::VectorXd influence =
      (run.sums.weight.row(top) / occupancy[top] - run.sums.weight.row(0) / occupancy[0])
          .transpose() /
      size;
  const Eigen::RowVectorXd means = controls.colwise().mean();
  const Eigen::VectorXd slopes =
      (controls.rowwise() - means).colPivHouseholderQr().solve(influence);
  return log_z - means.dot(slopes);
}

/// The variance between groups of the rows' means, summed over rows.
double variance_between_groups(const Eigen::MatrixXd& sums) {
  const Eigen::VectorXd means = sums.rowwise().mean();
  return (sums.colwise() - means).squaredNorm() / static_cast<double>(sums.cols() - 1);
}

}  // namespace

Json run_shared(const Json& inputs, const TrialContext& context) {
  SimulatedTemperingOptions options = settings(inputs, context);
  options.round_sweeps = std::max(1, options.sweeps / 25);
  const TemperedRun run = simulated_tempering(carlson_target(inputs.at("model"), "rates"), options);
  const RungSums hard = sum_by_rung(run.store, Assignment::hard);
  const double log_z = truth(inputs), found = rts_log_z(run);
  const Eigen::Index top = run.store.rungs() - 1;
  const auto top_mean = [top](const RungSums& sums) {
    return sums.first.row(top).sum() / sums.weight.row(top).sum();
  };
  const Eigen::Index half = options.sweeps - options.sweeps / 2;  // what run_continuous keeps
  return {{"error", found - log_z},
          {"half", rts_log_z(run, half) - log_z},
          {"mixed", mixed_log_z(run, options.round_sweeps) - log_z},
          {"bias_subtracted", found - rts_bias(occupancy_moments(run.sums, top)) - log_z},
          {"control_variates", controlled(run, found) - log_z},
          {"top_soft", top_mean(run.sums)},
          {"top_hard", top_mean(hard)},
          {"variance_soft", variance_between_groups(run.sums.weight)},
          {"variance_hard", variance_between_groups(hard.weight)},
          {"round_trips", run.trips}};
}

Json run_wang_landau(const Json& inputs, const TrialContext& context) {
  const LayeredTarget& target = carlson_target(inputs.at("model"), "rates");
  AdaptiveTemperingOptions options{.adaptation = Adaptation::wang_landau,
                                   .chains = kVariantChains,
                                   .sweeps = inputs.at("sweeps"),
                                   .ladder = Ladder::linear(kVariantRungs),
                                   .key = context.key,
                                   .progress = [&](double share) { context.progress(share); }};
  if (inputs.at("start") == "smc") {
    const int sweeps = std::min(3 * (kVariantRungs - 1), options.sweeps * 3 / 10);  // as RTS starts
    options.log_z_hat =
        annealed_smc(target, {.annealing = {.ladder = options.ladder,
                                            .chains = kVariantChains,
                                            .sweeps = sweeps,
                                            .key = context.shared_key("start " + inputs.dump())},
                              .islands = 2})
            .estimate.log_z_rungs;
    options.sweeps -= sweeps;
  }
  return {{"error", adaptive_tempering(target, options).estimate.log_z - truth(inputs)}};
}

Json run_continuous(const Json& inputs, const TrialContext& context) {
  const ContinuousSamples samples =
      continuous_tempering(carlson_target(inputs.at("model"), "rates"),
                           {.chains = kVariantChains,
                            .sweeps = inputs.at("sweeps"),
                            .knots = Ladder::linear(kVariantRungs),
                            .key = context.key,
                            .progress = [&](double share) { context.progress(share); }});
  const Eigen::Index top = samples.log_z_hat.size() - 1;
  const double rts = samples.log_z_hat[top] - samples.log_z_hat[0] +
                     std::log(samples.knot_density[top] / samples.knot_density[0]);
  return {{"rts", rts - truth(inputs)},
          {"ti", ti_continuous(samples.log_ratio, samples.density).log_z - truth(inputs)}};
}

Json run_prior(const Json& inputs, const TrialContext& context) {
  SimulatedTemperingOptions options = settings(inputs, context);
  options.log_prior.resize(kVariantRungs);
  for (int k = 0; k < kVariantRungs; ++k)
    options.log_prior[k] = number(inputs.at("slope")) * options.ladder[k];
  const TemperedRun run = simulated_tempering(carlson_target(inputs.at("model"), "rates"), options);
  return {{"error", rts_log_z(run) - truth(inputs)}, {"samples", run.store.samples()}};
}

Json run_late_changes(const Json& inputs, const TrialContext& context) {
  SimulatedTemperingOptions options = settings(inputs, context);
  options.round_sweeps = std::max(1, options.sweeps / 25);
  options.max_rounds = options.sweeps;  // as many as half of the sweeps hold
  options.stop_early = false;
  const TemperedRun run = simulated_tempering(carlson_target(inputs.at("model"), "rates"), options);
  return {{"error", mixed_log_z(run, options.round_sweeps) - truth(inputs)},
          {"fixed_half", rts_log_z(run) - truth(inputs)}};
}

}  // namespace boltzmark::experiments
