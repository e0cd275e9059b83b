#include "experiments/carlson2016/support/mixture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/target/continuous.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kMixtureRungs = 20;
/// The initial stage that the paper states for its RBMs: ten rounds of 50 samples a rung. It ends
/// sooner when no occupancy is off by more than a factor e.
constexpr int kRounds = 10;
constexpr int kRoundSweeps = 50 * kMixtureRungs;

std::shared_ptr<const ContinuousKernel> make_kernel(const std::string& kernel) {
  if (kernel == "hmc") return std::make_shared<Hmc>();
  if (kernel == "random-walk") return std::make_shared<RandomWalk>();
  throw InvalidArgument(fmt::format("kernel = {} (must be hmc or random-walk)", kernel));
}

SimulatedTemperingOptions one_chain(StreamKey key, const TrialContext& context) {
  SimulatedTemperingOptions options;
  options.chains = 1;
  options.ladder = mixture_ladder();
  options.start = Start::base;
  options.key = key;
  options.progress = [&context](double share) { context.progress(share); };
  return options;
}

}  // namespace

Ladder mixture_ladder() { return Ladder::geometric(kMixtureRungs); }

double mixture_log_z() { return GaussianMixture().log_z(1); }

Eigen::VectorXd mixture_log_z_rungs() {
  const Ladder ladder = mixture_ladder();
  Eigen::VectorXd log_z(kMixtureRungs);
  for (int k = 0; k < kMixtureRungs; ++k) log_z[k] = GaussianMixture().log_z(ladder[k]);
  return log_z;
}

TunedSteps tune_mixture(const std::string& kernel, StreamKey key) {
  return tune_steps(GaussianMixture(), *make_kernel(kernel), mixture_ladder(), {}, key);
}

ContinuousTarget mixture_target(const std::string& kernel, const StepSizes& steps) {
  return {std::make_shared<GaussianMixture>(), make_kernel(kernel), steps};
}

SampleStore sample_mixture(const ContinuousTarget& target, int samples, StreamKey key,
                           const TrialContext& context) {
  SimulatedTemperingOptions options = one_chain(key, context);
  options.sweeps = std::max(samples, kRounds * kRoundSweeps) + kRounds * kRoundSweeps;
  options.round_sweeps = kRoundSweeps;
  options.max_rounds = kRounds;
  const double log_base_peak = target.density().log_base(Eigen::VectorXd::Zero(10));
  options.log_z_hat = Eigen::VectorXd(kMixtureRungs);
  for (int k = 0; k < kMixtureRungs; ++k) options.log_z_hat[k] = -options.ladder[k] * log_base_peak;
  return first_sweeps(simulated_tempering(target, options).store, samples);
}

SampleStore sample_mixture_at_truth(const ContinuousTarget& target, int samples,
                                    const TrialContext& context) {
  SimulatedTemperingOptions options = one_chain(context.key, context);
  options.sweeps = samples;
  options.log_z_hat = mixture_log_z_rungs();
  options.max_rounds = 0;
  return simulated_tempering(target, options).store;
}

SampleStore first_sweeps(const SampleStore& store, Eigen::Index sweeps) {
  return {.ladder = store.ladder,
          .log_prior = store.log_prior,
          .log_z_hat = store.log_z_hat,
          .log_ratio = store.log_ratio.topRows(sweeps),
          .rung = store.rung.topRows(sweeps)};
}

}  // namespace boltzmark::experiments
