#include "boltzmark/estimate/continuous_tempering.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/influence.hpp"
#include "boltzmark/estimate/mixing.hpp"
#include "boltzmark/estimate/progress_meter.hpp"
#include "boltzmark/estimate/sample_store.hpp"
#include "boltzmark/estimate/simulated_tempering.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

// log((e^x - 1) / x), the integral of e^(x t) over [0, 1].
double log_mean_exp(double x) {
  if (std::abs(x) < 1e-8) return x / 2;
  return x > 0 ? x + std::log(-std::expm1(-x) / x) : std::log(std::expm1(x) / x);
}

// The u-quantile of the density proportional to e^(x t) on [0, 1].
double tilted_place(double x, double u) {
  if (std::abs(x) < 1e-8) return u;
  if (x > 0) return 1 + std::log(u + (1 - u) * std::exp(-x)) / x;
  return std::log1p(u * std::expm1(x)) / x;
}

// By how much b D - log Zhat(b) rises over interval k.
double tilt(const Ladder& knots, const Eigen::VectorXd& log_z_hat, double log_ratio, int k) {
  return (knots[k + 1] - knots[k]) * log_ratio - (log_z_hat[k + 1] - log_z_hat[k]);
}

Eigen::VectorXd found_log_z(const TemperedRun& run) {
  const Eigen::VectorXd occupancy = run.sums.weight.rowwise().sum();
  Eigen::VectorXd log_z =
      run.store.log_z_hat + (occupancy / occupancy.sum()).array().log().max(-700.0).matrix();
  return log_z.array() - log_z[0];
}

/// What one chain does at every sweep.
struct Chain {
  Stream stream;
  double b = 0;
  int interval = 0;
};

ContinuousSamples empty_samples(const TemperedRun& start, Eigen::Index sweeps) {
  const Eigen::Index chains = start.store.chains();
  return {.knots = start.store.ladder,
          .log_z_hat = found_log_z(start),
          .log_ratio = Eigen::MatrixXd(sweeps, chains),
          .inverse_temperature = Eigen::MatrixXd(sweeps, chains),
          .density = Eigen::MatrixXd(sweeps, chains),
          .interval = Eigen::MatrixXi(sweeps, chains)};
}

// Chains go on from the rungs where the first half left them.
std::vector<Chain> start_chains(const TemperedRun& start, StreamKey key, int first, int count) {
  const SampleStore& store = start.store;
  std::vector<Chain> chains;
  for (int c = first; c < first + count; ++c) {
    const int rung = store.rung(store.sweeps() - 1, c);
    chains.push_back({Stream(key, Purpose::rung, static_cast<std::uint64_t>(store.chains() + c)),
                      store.ladder[rung], std::min(rung, store.rungs() - 2)});
  }
  return chains;
}

// Makes a population's sweeps; a chain writes to its own columns.
void sample(Population& population, std::vector<Chain>& chains, int first,
            ContinuousSamples& samples, Eigen::MatrixXd& mass, ProgressMeter& meter) {
  std::vector<float> betas(chains.size());
  std::vector<double> log_ratios(chains.size());
  Eigen::VectorXd masses;
  for (Eigen::Index s = 0; s < samples.log_ratio.rows(); ++s) {
    for (std::size_t c = 0; c < chains.size(); ++c) betas[c] = static_cast<float>(chains[c].b);
    population.move(betas);
    population.log_ratio(log_ratios);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      Chain& chain = chains[c];
      const Eigen::Index column = first + static_cast<Eigen::Index>(c);
      samples.log_ratio(s, column) = log_ratios[c];
      samples.inverse_temperature(s, column) = static_cast<double>(betas[c]);
      samples.interval(s, column) = chain.interval;
      const double u = chain.stream.uniform();
      chain.b = draw_inverse_temperature(samples.knots, samples.log_z_hat, log_ratios[c], u,
                                         chain.stream.uniform(), masses, chain.interval);
      mass.col(column) += masses;
    }
    meter.add(population.chains());
  }
}

// The mean mass of each interval over its width.
void set_density(ContinuousSamples& samples, const Eigen::MatrixXd& mass) {
  samples.occupancy = mass.rowwise().sum() / static_cast<double>(samples.interval.size());
  for (Eigen::Index i = 0; i < samples.interval.size(); ++i) {
    const int k = samples.interval.data()[i];
    samples.density.data()[i] = samples.occupancy[k] / (samples.knots[k + 1] - samples.knots[k]);
  }
}

}  // namespace

void interval_probabilities(const Ladder& knots, const Eigen::VectorXd& log_z_hat, double log_ratio,
                            Eigen::VectorXd& out) {
  out.resize(knots.rungs() - 1);
  for (int k = 0; k + 1 < knots.rungs(); ++k)
    out[k] = knots[k] * log_ratio - log_z_hat[k] +
             log_mean_exp(tilt(knots, log_z_hat, log_ratio, k)) + std::log(knots[k + 1] - knots[k]);
  out = (out.array() - out.maxCoeff()).exp();
  out /= out.sum();
}

double draw_inverse_temperature(const Ladder& knots, const Eigen::VectorXd& log_z_hat,
                                double log_ratio, double interval_draw, double place_draw,
                                Eigen::VectorXd& masses, int& interval) {
  interval_probabilities(knots, log_z_hat, log_ratio, masses);
  double below = 0;
  interval = 0;
  while (interval + 2 < knots.rungs() && (below += masses[interval]) <= interval_draw) ++interval;
  return knots[interval] +
         (knots[interval + 1] - knots[interval]) *
             tilted_place(tilt(knots, log_z_hat, log_ratio, interval), place_draw);
}

ContinuousSamples continuous_tempering(const Target& target,
                                       const ContinuousTemperingOptions& options) {
  const auto report = [&](double share) {
    if (options.progress) options.progress(share);
  };
  const int first_half = options.sweeps / 2, kept = options.sweeps - first_half;
  std::optional<Populations> populations;
  const TemperedRun start =
      simulated_tempering(target,
                          {.chains = options.chains,
                           .sweeps = first_half,
                           .ladder = options.knots,
                           .key = options.key,
                           .progress = [&](double share) { report(share / 2); }},
                          &populations);
  ContinuousSamples samples = empty_samples(start, kept);
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(options.knots.rungs() - 1, options.chains);
  ProgressMeter meter([&](double share) { report(0.5 + share / 2); },
                      static_cast<double>(options.chains) * kept);
  populations->for_each([&](Population& population, int first) {
    std::vector<Chain> chains = start_chains(start, options.key, first, population.chains());
    sample(population, chains, first, samples, mass, meter);
  });
  set_density(samples, mass);
  return samples;
}

Estimate ti_continuous(const ContinuousSamples& samples) {
  Eigen::MatrixXd influences = samples.log_ratio.cwiseQuotient(samples.density);
  const auto count = static_cast<double>(influences.size());
  Estimate estimate;
  estimate.log_z = influences.mean();
  Eigen::VectorXd parts = Eigen::VectorXd::Zero(samples.occupancy.size());
  for (Eigen::Index n = 0; n < influences.size(); ++n)
    parts[samples.interval.data()[n]] += influences.data()[n] / count;
  const Eigen::VectorXd per_mass = parts.cwiseQuotient(samples.occupancy);
  parallel_for(static_cast<std::size_t>(influences.cols()), [&](std::size_t chain) {
    const auto c = static_cast<Eigen::Index>(chain);
    Eigen::VectorXd masses;
    for (Eigen::Index s = 0; s < influences.rows(); ++s) {
      interval_probabilities(samples.knots, samples.log_z_hat, samples.log_ratio(s, c), masses);
      influences(s, c) -= per_mass.dot(masses);
    }
  });
  set_error(estimate, influences);
  judge_round_trips(estimate, round_trips(samples.interval, samples.knots.rungs() - 1),
                    samples.interval.cols());
  return estimate;
}

}  // namespace boltzmark
