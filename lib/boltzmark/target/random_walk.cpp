#include "boltzmark/target/random_walk.hpp"

#include <fmt/format.h>

#include "boltzmark/core/error.hpp"

namespace boltzmark {

double RandomWalk::move(const ContinuousDensity& density, double b, double step, Stream& stream,
                        PointOut x) const {
  if (!(step > 0)) throw InvalidArgument(fmt::format("step = {} (must be positive)", step));
  Eigen::VectorXd proposal = x;
  for (double& value : proposal) value += step * stream.normal();
  const double log_ratio = density.log_density(proposal, b) - density.log_density(x, b);
  return accept(log_ratio, proposal, stream, x);
}

}  // namespace boltzmark
