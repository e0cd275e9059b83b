#include "boltzmark/estimate/estimators/continuous_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/exponentials.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/closing.hpp"
#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {
namespace {

constexpr double kWidestStep = 1.0 / 99;  // of the ladder that is the default elsewhere
constexpr double kLeastDensity = 0.05;    // of the uniform one
constexpr double kEnd = 0.05;             // b below it is so small that a chain forgets its past

// No step wider than that of the default ladder; float32 ends make one a little wider.
Ladder refined(const Ladder& knots) {
  std::vector<double> values = {0};
  for (int k = 0; k + 1 < knots.rungs(); ++k) {
    const double width = knots[k + 1] - knots[k];
    const int parts = std::max(1, static_cast<int>(std::ceil(width / kWidestStep - 1e-3)));
    for (int i = 1; i <= parts; ++i) values.push_back(knots[k] + width * i / parts);
  }
  values.back() = 1;
  return Ladder(values);
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

/// The density of b given D, exponential between knots.
class ContinuousLaw {
 public:
  ContinuousLaw(const Ladder& knots, const Eigen::VectorXd& log_z_hat)
      : knots_(inverse_temperatures_of(knots)),
        log_z_hat_(log_z_hat),
        widths_(knots_.tail(knots_.size() - 1) - knots_.head(knots_.size() - 1)) {}

  /// Writes e^(b D - log Zhat(b)) at the knots over its integral, and the intervals' shares of it.
  void operator()(double log_ratio, Eigen::VectorXd& at_knots, Eigen::VectorXd& masses) const {
    const Eigen::Index n = widths_.size();
    at_knots = log_ratio * knots_ - log_z_hat_;
    masses = at_knots.tail(n) - at_knots.head(n);
    exponentiate({at_knots.data(), static_cast<std::size_t>(n) + 1}, at_knots.maxCoeff());
    const auto low = at_knots.head(n).array(), high = at_knots.tail(n).array();
    // The integral of an exponential from one value to another is their difference over its log.
    const auto tilt = masses.array();
    masses = widths_.array() *
             (tilt.abs() < 1e-3)
                 .select((low + high) / 2 * (1 - tilt.square() / 12), (high - low) / tilt);
    const double sum = masses.sum();
    masses /= sum;
    at_knots /= sum;
  }

 private:
  Eigen::VectorXd knots_, log_z_hat_, widths_;
};

// The cubic with given values and slopes at both ends of [0, 1].
double hermite(double t, double from, double to, double slope_from, double slope_to) {
  const double rise = to - from;
  return from + t * (slope_from + t * (3 * rise - 2 * slope_from - slope_to +
                                       t * (slope_from + slope_to - 2 * rise)));
}

// The density of b between knots; a stride of 2 reads every other one.
double density_at(const ContinuousSamples& samples, double b, int interval, int stride) {
  const Ladder& knots = samples.knots;
  const Eigen::VectorXd& log_z_hat = samples.log_z_hat;
  const int from = interval / stride * stride, to = std::min(from + stride, knots.rungs() - 1);
  const double width = knots[to] - knots[from];
  const auto height = [&](int k) { return std::log(samples.knot_density[k]) + log_z_hat[k]; };
  const double g = hermite((b - knots[from]) / width, height(from), height(to),
                           width * samples.knot_ratio[from], width * samples.knot_ratio[to]);
  const double share = (b - knots[interval]) / (knots[interval + 1] - knots[interval]);
  return std::exp(g - (1 - share) * log_z_hat[interval] - share * log_z_hat[interval + 1]);
}

Eigen::MatrixXd densities(const ContinuousSamples& samples, int stride) {
  Eigen::MatrixXd density(samples.log_ratio.rows(), samples.log_ratio.cols());
  parallel_for(static_cast<std::size_t>(density.cols()), [&](std::size_t chain) {
    const auto c = static_cast<Eigen::Index>(chain);
    for (Eigen::Index s = 0; s < density.rows(); ++s)
      density(s, c) =
          density_at(samples, samples.inverse_temperature(s, c), samples.interval(s, c), stride);
  });
  return density;
}

// Draws b from the intervals' probabilities, then inside one by inversion.
double draw_given(const Ladder& knots, const Eigen::VectorXd& log_z_hat, double log_ratio,
                  double interval_draw, double place_draw, const Eigen::VectorXd& masses,
                  int& interval) {
  double below = 0;
  interval = 0;
  while (interval + 2 < knots.rungs() && (below += masses[interval]) <= interval_draw) ++interval;
  return knots[interval] +
         (knots[interval + 1] - knots[interval]) *
             tilted_place(tilt(knots, log_z_hat, log_ratio, interval), place_draw);
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
  Stream choices;  ///< which state at b = 1 is taken
  double b = 0;
  int interval = 0;
};

ContinuousSamples empty_samples(const TemperedRun& start, Eigen::Index sweeps) {
  const Eigen::Index chains = start.store.chains();
  return {.knots = start.store.ladder,
          .log_z_hat = found_log_z(start),
          .log_ratio = Eigen::MatrixXd(sweeps, chains),
          .inverse_temperature = Eigen::MatrixXd(sweeps, chains),
          .interval = Eigen::MatrixXi(sweeps, chains)};
}

// Chains go on from the rungs where the first half left them.
std::vector<Chain> start_chains(const TemperedRun& start, StreamKey key, int first, int count) {
  const SampleStore& store = start.store;
  std::vector<Chain> chains;
  for (int c = first; c < first + count; ++c) {
    const int rung = store.rung(store.sweeps() - 1, c);
    const auto number = static_cast<std::uint64_t>(store.chains() + c);
    chains.push_back({Stream(key, Purpose::rung, number), Stream(key, Purpose::data, number),
                      store.ladder[rung], std::min(rung, store.rungs() - 2)});
  }
  return chains;
}

// Makes a population's sweeps; a chain writes to its own columns.
void sample(Population& population, std::vector<Chain>& chains, int first,
            ContinuousSamples& samples, TopStates* top_states, ProgressMeter& meter) {
  std::vector<float> betas(chains.size());
  std::vector<double> log_ratios(chains.size());
  const ContinuousLaw law(samples.knots, samples.log_z_hat);
  Eigen::VectorXd at_knots, masses;
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
      law(log_ratios[c], at_knots, masses);
      if (top_states != nullptr)
        top_states->offer(population, first, static_cast<int>(c), at_knots[at_knots.size() - 1],
                          chain.choices);
      chain.b = draw_given(samples.knots, samples.log_z_hat, log_ratios[c], u,
                           chain.stream.uniform(), masses, chain.interval);
    }
    meter.add(population.chains());
  }
}

// Discretisation: a cubic through every other knot is some 16 times as far off.
void add_discretisation(const ContinuousSamples& samples, Estimate& estimate) {
  const double coarse = samples.log_ratio.cwiseQuotient(densities(samples, 2)).mean();
  const double sampling = estimate.std_error;
  estimate.std_error = std::hypot(sampling, estimate.log_z - coarse);
  const double more = estimate.std_error - sampling;
  estimate.lower -= 2 * more;
  estimate.upper += 2 * more;
}

// 0 and 2 near the ends, 1 between them.
Eigen::MatrixXi thirds(const Eigen::MatrixXd& b) {
  return (b.array() >= kEnd).cast<int>() + (b.array() > 1 - kEnd).cast<int>();
}

void judge_density(const ContinuousSamples& samples, Estimate& estimate) {
  const double least = samples.knot_density.minCoeff();
  if (!(least >= kLeastDensity))  // or it is no number
    estimate.refuse(Status::not_converged,
                    fmt::format("b is {:.2g} times as dense somewhere as it should be (less than "
                                "{}): run more sweeps",
                                least, kLeastDensity));
}

}  // namespace

double draw_inverse_temperature(const Ladder& knots, const Eigen::VectorXd& log_z_hat,
                                double log_ratio, double interval_draw, double place_draw,
                                Eigen::VectorXd& masses, int& interval) {
  Eigen::VectorXd at_knots;
  ContinuousLaw(knots, log_z_hat)(log_ratio, at_knots, masses);
  return draw_given(knots, log_z_hat, log_ratio, interval_draw, place_draw, masses, interval);
}

ContinuousSamples continuous_tempering(const Target& target,
                                       const ContinuousTemperingOptions& options) {
  if (options.sweeps < 2)
    throw InvalidArgument(fmt::format(
        "sweeps = {} (must be at least 2: half of them find the density)", options.sweeps));
  require_chains(options.top_states, options.chains);
  const auto report = [&](double share) {
    if (options.progress) options.progress(share);
  };
  const int first_half = options.sweeps / 2, kept = options.sweeps - first_half;
  std::optional<Populations> populations;
  const TemperedRun start =
      simulated_tempering(target,
                          {.chains = options.chains,
                           .sweeps = first_half,
                           .ladder = refined(options.knots),
                           .key = options.key,
                           .progress = [&](double share) { report(share / 2); }},
                          &populations);
  ContinuousSamples samples = empty_samples(start, kept);
  ProgressMeter meter([&](double share) { report(0.5 + share / 2); },
                      static_cast<double>(options.chains) * kept);
  populations->for_each([&](Population& population, int first) {
    std::vector<Chain> chains = start_chains(start, options.key, first, population.chains());
    sample(population, chains, first, samples, options.top_states, meter);
  });
  set_density(samples);
  return samples;
}

void set_density(ContinuousSamples& samples) {
  const Eigen::Index knots = samples.knots.rungs(), chains = samples.log_ratio.cols();
  Eigen::MatrixXd at_knots = Eigen::MatrixXd::Zero(knots, chains), ratio = at_knots;
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(knots - 1, chains);
  const ContinuousLaw law(samples.knots, samples.log_z_hat);
  parallel_for(static_cast<std::size_t>(chains), [&](std::size_t chain) {
    const auto c = static_cast<Eigen::Index>(chain);
    Eigen::VectorXd q, masses;
    for (const double d : samples.log_ratio.col(c)) {
      law(d, q, masses);
      at_knots.col(c) += q;
      ratio.col(c) += d * q;
      mass.col(c) += masses;
    }
  });
  const auto count = static_cast<double>(samples.log_ratio.size());
  const Eigen::VectorXd sum = at_knots.rowwise().sum().cwiseMax(1e-300);  // their logs must exist
  samples.knot_density = sum / count;
  samples.knot_ratio = ratio.rowwise().sum().cwiseQuotient(sum);
  samples.occupancy = mass.rowwise().sum() / count;
  samples.density = densities(samples, 1);
}

Estimate ti_continuous(const ContinuousSamples& samples) {
  Eigen::MatrixXd influences = samples.log_ratio.cwiseQuotient(samples.density);
  const auto count = static_cast<double>(influences.size());
  Estimate estimate;
  estimate.log_z = influences.mean();
  Eigen::VectorXd parts = Eigen::VectorXd::Zero(samples.occupancy.size());
  for (Eigen::Index n = 0; n < influences.size(); ++n)
    parts[samples.interval.data()[n]] += influences.data()[n] / count;
  const Eigen::VectorXd per_mass = parts.cwiseQuotient(samples.occupancy.cwiseMax(1e-300));
  const ContinuousLaw law(samples.knots, samples.log_z_hat);
  parallel_for(static_cast<std::size_t>(influences.cols()), [&](std::size_t chain) {
    const auto c = static_cast<Eigen::Index>(chain);
    Eigen::VectorXd at_knots, masses;
    for (Eigen::Index s = 0; s < influences.rows(); ++s) {
      law(samples.log_ratio(s, c), at_knots, masses);
      influences(s, c) -= per_mass.dot(masses);
    }
  });
  set_error(estimate, influences);
  add_discretisation(samples, estimate);
  judge_density(samples, estimate);
  judge_exchanges(estimate, traffic_of(thirds(samples.inverse_temperature), 3));
  return closed(std::move(estimate), range_of(samples.log_ratio));
}

}  // namespace boltzmark
