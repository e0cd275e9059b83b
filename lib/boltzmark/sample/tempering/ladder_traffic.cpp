#include "boltzmark/sample/tempering/ladder_traffic.hpp"

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

}  // namespace boltzmark
