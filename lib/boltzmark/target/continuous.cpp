#include "boltzmark/target/continuous.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

double accept(double log_ratio, const PointRef& proposal, Stream& stream, PointOut x) {
  if (std::isnan(log_ratio)) return 0;
  const double probability = log_ratio < 0 ? std::exp(log_ratio) : 1;
  if (stream.uniform() < probability) x = proposal;
  return probability;
}

double RandomWalk::move(const ContinuousDensity& density, double b, double step, Stream& stream,
                        PointOut x) const {
  if (!(step > 0)) throw InvalidArgument(fmt::format("step = {} (must be positive)", step));
  Eigen::VectorXd proposal = x;
  for (double& value : proposal) value += step * stream.normal();
  const double log_ratio = density.log_density(proposal, b) - density.log_density(x, b);
  return accept(log_ratio, proposal, stream, x);
}

void leapfrog(const ContinuousDensity& density, double b, double step, int steps, Phase& phase) {
  Eigen::VectorXd slope(phase.position.size());
  density.gradient(phase.position, b, slope);
  // Every proposal would be refused, and the chain stay where it is without a word.
  if (!slope.allFinite())
    throw InvalidArgument("gradient (must be finite where the log density is)");
  phase.momentum += 0.5 * step * slope;
  for (int i = 1; i <= steps; ++i) {
    phase.position += step * phase.momentum;
    density.gradient(phase.position, b, slope);
    // Neighbouring half steps of the momentum are taken as one.
    phase.momentum += (i < steps ? step : 0.5 * step) * slope;
  }
}

Hmc::Hmc(int longest) : longest_(longest) {
  if (longest < 1)
    throw InvalidArgument(fmt::format("longest = {} leapfrog steps (must be at least 1)", longest));
}

double Hmc::move(const ContinuousDensity& density, double b, double step, Stream& stream,
                 PointOut x) const {
  if (!(step > 0)) throw InvalidArgument(fmt::format("step = {} (must be positive)", step));
  const int steps = 1 + static_cast<int>(stream.below(static_cast<std::uint64_t>(longest_)));
  Phase phase{x, Eigen::VectorXd(x.size())};
  for (double& p : phase.momentum) p = stream.normal();
  const auto energy = [&] {
    return 0.5 * phase.momentum.squaredNorm() - density.log_density(phase.position, b);
  };
  const double start = energy();
  leapfrog(density, b, step, steps, phase);
  return accept(start - energy(), phase.position, stream, x);
}

}  // namespace boltzmark
