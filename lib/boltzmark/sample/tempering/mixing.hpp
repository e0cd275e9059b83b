#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"

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

/// Whether chains made 20 round trips between the ends of the ladder, and two each in the mean.
bool enough_round_trips(std::int64_t trips, Eigen::Index chains);
/// Refuses an estimate unless they did.
void judge_round_trips(Estimate& estimate, std::int64_t trips, Eigen::Index chains);
/// Counts the chains as which unequal visits n are as good: (sum n)^2 / sum n^2; 0 of no visit.
/// Shapes  visits [chains]
double effective_visitors(std::span<const std::int64_t> visits);
/// Refuses an estimate if the visits of the ladder's top are those of fewer than a fifth of the chains,
/// by effective_visitors: a few may make all round trips, and the others never meet what holds the mass.
/// Shapes  visits [chains]
void judge_visitors(Estimate& estimate, std::span<const std::int64_t> visits);
/// Refuses an estimate if the visits of the ladder's top are those of a few long tours: if their numbers
/// have a tail of Pareto shape above 1, where there is no mean; of tours that the run cut short a lower
/// limit is known. The mass is then in states that a tour meets the seldomer the more they hold, and the
/// heaviest may be missing, however many tours there were and however little chains differ.
/// Above 1/2, where there is no variance and the samples' own error says too little, sets estimate.missing to
/// what tours up to ten times as long as the longest one would add, by the law of that tail.
void judge_tours(Estimate& estimate, const TourVisits& tours);
/// Judges chains by all three: their round trips, their tours, and that they shared the highest rung.
void judge_exchanges(Estimate& estimate, const LadderTraffic& traffic);
void judge_exchanges(Estimate& estimate, const SampleStore& store);
/// Does so, for all estimators on samples, where a store's chains drew their rungs or exchange them.
void judge_mixing(Estimate& estimate, const SampleStore& store);

/// Refuses an estimate if a rung has no samples.
/// Shapes  counts [rungs]     Returns  whether all rungs were visited
bool judge_visits(Estimate& estimate, const Eigen::VectorXd& counts);

}  // namespace boltzmark
