#include "experiments/salakhutdinov2010/support/rung_walk.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"

namespace boltzmark::experiments {
namespace {

/// Parts of a round trip from the top rung to the bottom and back.
enum Part { kBefore, kDown, kUp, kParts };

}  // namespace

RungSteps::RungSteps(int rungs)
    : visits_(static_cast<std::size_t>(rungs)), moves_(static_cast<std::size_t>(rungs)) {}

void RungSteps::see(int from, int to) {
  if (std::abs(from - to) > 1)
    throw InvalidArgument(fmt::format("to = {} (must be at most one rung from {})", to, from));
  ++visits_.at(static_cast<std::size_t>(from));
  if (from != to) ++moves_.at(static_cast<std::size_t>(std::min(from, to)));
}

std::vector<double> RungSteps::acceptance() const {
  const int rungs = static_cast<int>(visits_.size());
  std::vector<double> all;
  for (int k = 0; k + 1 < rungs; ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double proposals = visits_[at] * proposal_probability(rungs, k, k + 1) +
                             visits_[at + 1] * proposal_probability(rungs, k + 1, k);
    all.push_back(proposals > 0 ? std::min(moves_[at] / proposals, 1.0) : 0.0);
  }
  return all;
}

double expected_round_trips(std::span<const double> acceptance, int start, int steps) {
  const int rungs = static_cast<int>(acceptance.size()) + 1, top = rungs - 1;
  if (start < 0 || start > top)
    throw InvalidArgument(fmt::format("start = {} (must be 0 to {})", start, top));
  Eigen::ArrayXXd law = Eigen::ArrayXXd::Zero(rungs, kParts);
  law(start, start == top ? kDown : kBefore) = 1;
  double trips = 0;
  for (int step = 0; step < steps; ++step) {
    Eigen::ArrayXXd next = law;
    for (int k = 0; k + 1 < rungs; ++k) {
      const double up = proposal_probability(rungs, k, k + 1) * acceptance[k],
                   down = proposal_probability(rungs, k + 1, k) * acceptance[k];
      const Eigen::ArrayXXd flow = up * law.row(k) - down * law.row(k + 1);
      next.row(k) -= flow;
      next.row(k + 1) += flow;
    }
    next(0, kUp) += std::exchange(next(0, kDown), 0);
    trips += next(top, kUp);
    next(top, kDown) += std::exchange(next(top, kUp), 0) + std::exchange(next(top, kBefore), 0);
    law = next;
  }
  return trips;
}

}  // namespace boltzmark::experiments
