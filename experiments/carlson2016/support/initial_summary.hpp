#pragma once

#include <string>

#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A way of making the iterations.
struct Way {
  const char* occupancies;  ///< "soft" (Rao-Blackwellised) or "hard"
  const char* x;            ///< where an iteration starts: "last" or "fresh"
  const char* b;
};
inline constexpr Way kSoftWay = {"soft", "last", "fresh"}, kHardWay = {"hard", "last", "fresh"};
inline constexpr Way kOtherWays[] = {
    {"soft", "last", "last"}, {"soft", "fresh", "fresh"}, {"soft", "fresh", "last"}};
/// The paper's way to start an iteration, first, and the others.
inline constexpr Way kRestarts[] = {kSoftWay, kOtherWays[0], kOtherWays[1], kOtherWays[2]};

/// The inputs that name a way.
Json inputs_of(const Way& way);

/// Draws log Zhat and log c after some iterations of one run, soft and hard.
void add_initial_figure(const Results& results, Summary& summary);
/// Tabulates errors and iterations of all ways.
Table initial_table(const Results& results);
/// Measures C06 and C07.
void add_initial_occupancies(const Results& results, Summary& summary);
/// Tabulates how the ways to start an iteration do on the published RBM.
Table restart_table(const Results& results);
/// Measures a part of C08: the mean over iterations of log error, errors below 0.1 nats being taken as that, less that
/// of another way, of pairs of one number of repeat: of three such intervals the largest estimate and limits, so that
/// ours is best only where it is surely better than each. Nothing is added where a way has fewer than two pairs.
void add_initial_restarts(const Results& results, const std::string& part, Summary& summary);

}  // namespace boltzmark::experiments
