#include "boltzmark/sample/tempering/mixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "boltzmark/diagnose/pareto.hpp"

namespace boltzmark {

void TripCounter::add_to(LadderTraffic& traffic) const {
  traffic.trips += trips_;
  for (const auto& [visits, number] : tours_) traffic.tours.numbers[visits] += number;
  if (on_tour_) ++traffic.tours.cut[visits_];
  traffic.top_visits.push_back(top_visits_);
}

LadderTraffic traffic_of(std::span<const TripCounter> chains) {
  LadderTraffic traffic;
  for (const TripCounter& chain : chains) chain.add_to(traffic);
  return traffic;
}

LadderTraffic traffic_of(const Eigen::MatrixXi& rung, int rungs) {
  LadderTraffic traffic;
  for (Eigen::Index c = 0; c < rung.cols(); ++c) {
    TripCounter chain(rungs - 1);
    for (Eigen::Index s = 0; s < rung.rows(); ++s) chain.visit(rung(s, c));
    chain.add_to(traffic);
  }
  return traffic;
}

namespace {

// A chain forgets its start at b = 0 alone.
constexpr double kTripsPerChain = 2;
constexpr double kLeastTrips = 20;      // of all chains
constexpr double kLeastVisitors = 0.2;  // of the highest rung, of all chains
constexpr double kNoVariance = 0.5;     // of a Pareto law's shape, above which there is none
constexpr double kMostShape = 1;        // above it there is no mean

// Tells whether chains exchange rungs: where the samples do not say so, whether they are bundles that have
// one on every rung at every sweep, and not always the same.
bool exchange_rungs(const SampleStore& store) {
  if (store.exchanged_rungs) return true;
  if (store.bundle() == 1) return false;
  bool moved = false;
  for (Eigen::Index first = 0; first < store.chains(); first += store.bundle())
    for (Eigen::Index s = 0; s < store.sweeps(); ++s) {
      const auto rungs = store.rung.row(s).segment(first, store.bundle());
      std::vector<bool> taken(static_cast<std::size_t>(store.bundle()), false);
      for (const int rung : rungs) taken[rung] = true;
      if (!std::all_of(taken.begin(), taken.end(), [](bool t) { return t; })) return false;
      moved = moved || rungs != store.rung.row(0).segment(first, store.bundle());
    }
  return moved;
}

double needed_trips(Eigen::Index chains) {
  return std::max(kLeastTrips, kTripsPerChain * static_cast<double>(chains));
}

}  // namespace

bool enough_round_trips(std::int64_t trips, Eigen::Index chains) {
  return static_cast<double>(trips) >= needed_trips(chains);
}

void judge_mixing(Estimate& estimate, const SampleStore& store) {
  if (store.random_rungs || exchange_rungs(store)) judge_exchanges(estimate, store);
}

void judge_tours(Estimate& estimate, const TourVisits& tours) {
  const double shape = pareto_shape_of_numbers(tours.numbers, tours.cut);
  if (shape > kNoVariance) estimate.missing = sum_above_largest(tours.numbers, tours.cut);
  if (!(shape > kMostShape)) return;
  estimate.refuse(
      Status::not_converged,
      fmt::format("a few long tours made most visits of the ladder's top (Pareto shape {:.2f} of "
                  "their tail, above {}): what holds more is met seldomer, and some never; run "
                  "more sweeps, or use a base that is closer to the model",
                  shape, kMostShape));
}

void judge_exchanges(Estimate& estimate, const LadderTraffic& traffic) {
  judge_round_trips(estimate, traffic.trips, std::ssize(traffic.top_visits));
  judge_tours(estimate, traffic.tours);
  judge_visitors(estimate, traffic.top_visits);
}

void judge_exchanges(Estimate& estimate, const SampleStore& store) {
  judge_exchanges(estimate, traffic_of(store.rung, store.rungs()));
}

double effective_visitors(std::span<const std::int64_t> visits) {
  double sum = 0, squares = 0;
  for (const std::int64_t n : visits) {
    const auto number = static_cast<double>(n);
    sum += number;
    squares += number * number;
  }
  return sum * sum / std::max(squares, 1.0);
}

void judge_visitors(Estimate& estimate, std::span<const std::int64_t> visits) {
  const double visitors = effective_visitors(visits);
  const auto chains = static_cast<double>(visits.size());
  if (visitors < kLeastVisitors * chains)
    estimate.refuse(
        Status::not_converged,
        fmt::format("{:.1f} of {:.0f} chains made the visits of the ladder's top (fewer "
                    "than {:.1f}): run more sweeps, or use a base that is closer to the "
                    "model, such as data rates",
                    visitors, chains, kLeastVisitors * chains));
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
