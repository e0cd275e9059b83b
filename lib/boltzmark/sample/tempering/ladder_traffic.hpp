#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace boltzmark {

/// How many tours made how many visits of the top rung. A tour is what a chain does from one visit of
/// b = 0, where it forgets all that was before, to the next: tours are independent of each other. What a
/// chain does before its first such visit is none; the end of the run cuts its last one short.
struct TourVisits {
  std::map<std::int64_t, std::int64_t> numbers;  ///< visits -> tours
  std::map<std::int64_t, std::int64_t> cut;      ///< visits so far -> tours that were cut short
};

/// What chains did between the ends of a ladder: by it their mixing is judged (mixing.hpp).
struct LadderTraffic {
  std::int64_t trips = 0;  ///< from the top rung to the bottom one and back, of all chains
  TourVisits tours = {};   ///< of all chains
  std::vector<std::int64_t> top_visits = {};  ///< of the top rung [chains]
};

/// Follows one chain over the rungs.
class TripCounter {
 public:
  explicit TripCounter(int top_rung) : top_(top_rung) {}
  void visit(int rung) {
    if (rung == 0) {
      reached_bottom_ = from_top_;
      if (on_tour_) ++tours_[visits_];
      on_tour_ = true;
      visits_ = 0;
    }
    if (rung != top_) return;
    ++visits_;
    ++top_visits_;
    trips_ += reached_bottom_ ? 1 : 0;
    from_top_ = true;
    reached_bottom_ = false;
  }
  std::int64_t trips() const { return trips_; }
  /// Adds what this chain did to what others did.
  void add_to(LadderTraffic& traffic) const;

 private:
  int top_;
  bool from_top_ = false, reached_bottom_ = false;
  std::int64_t trips_ = 0, top_visits_ = 0;
  bool on_tour_ = false;
  std::int64_t visits_ = 0;  ///< of the top rung, in this tour
  std::map<std::int64_t, std::int64_t> tours_;
};

/// Adds up what the chains that were followed did.
LadderTraffic traffic_of(std::span<const TripCounter> chains);
/// Follows all chains.  Shapes  rung [sweeps x chains], 0..rungs-1
LadderTraffic traffic_of(const Eigen::MatrixXi& rung, int rungs);

}  // namespace boltzmark
