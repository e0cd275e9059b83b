#include "boltzmark/sample/tempering/mixing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace boltzmark {
namespace {

// A chain forgets its start at b = 0 alone.
constexpr double kTripsPerChain = 2;
constexpr double kLeastTrips = 20;  // of all chains

double needed_trips(Eigen::Index chains) {
  return std::max(kLeastTrips, kTripsPerChain * static_cast<double>(chains));
}

}  // namespace

bool enough_round_trips(std::int64_t trips, Eigen::Index chains) {
  return static_cast<double>(trips) >= needed_trips(chains);
}

void judge_mixing(Estimate& estimate, const SampleStore& store) {
  const auto stay = [&] { return (store.rung.rowwise() - store.rung.row(0)).isZero(); };
  if (store.random_rungs || !stay())
    judge_round_trips(estimate, round_trips(store), store.chains());
}

void judge_round_trips(Estimate& estimate, std::int64_t trips, Eigen::Index chains) {
  if (enough_round_trips(trips, chains)) return;
  estimate.refuse(
      Status::not_converged,
      fmt::format("{} round trips between the ends of the ladder (fewer than "
                  "{:.0f}): the chains may still remember their start; run more "
                  "sweeps, or use a base that is closer to the model, such as data rates",
                  trips, needed_trips(chains)));
}

bool judge_visits(Estimate& estimate, const Eigen::VectorXd& counts) {
  const auto empty = (counts.array() <= 0).count();
  if (empty == 0) return true;
  estimate.refuse(Status::unvisited_rung,
                  fmt::format("{} of {} rungs have no samples: run more sweeps or use fewer rungs",
                              empty, counts.size()));
  return false;
}

}  // namespace boltzmark
