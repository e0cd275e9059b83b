#include "boltzmark/target/continuous.hpp"

#include <cmath>

namespace boltzmark {

double accept(double log_ratio, const PointRef& proposal, Stream& stream, PointOut x) {
  if (std::isnan(log_ratio)) return 0;
  const double probability = log_ratio < 0 ? std::exp(log_ratio) : 1;
  if (stream.uniform() < probability) x = proposal;
  return probability;
}

}  // namespace boltzmark
