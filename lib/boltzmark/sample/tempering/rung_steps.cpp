#include "boltzmark/sample/tempering/rung_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace boltzmark {
namespace {

bool is_end(int rungs, int rung) { return rung == 0 || rung + 1 == rungs; }

}  // namespace

double proposal_probability(int rungs, int from, int to) {
  if (std::abs(to - from) != 1) return 0;
  return is_end(rungs, from) ? 1 : 0.5;
}

int proposed_rung(int rungs, int from, std::uint32_t draw) {
  if (from == 0) return 1;
  if (from + 1 == rungs) return from - 1;
  return from + ((draw >> 31) != 0 ? 1 : -1);
}

double rung_step_probability(std::span<const float> inverse_temperatures,
                             std::span<const double> log_g, double log_f, int from, int to) {
  const auto rungs = static_cast<int>(log_g.size());
  const double b_from = inverse_temperatures[from], b_to = inverse_temperatures[to];
  const double proposals =
      proposal_probability(rungs, to, from) / proposal_probability(rungs, from, to);
  return std::min(1.0, proposals * std::exp((b_to - b_from) * log_f + log_g[from] - log_g[to]));
}

}  // namespace boltzmark
