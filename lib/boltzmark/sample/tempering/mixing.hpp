#pragma once

#include <cstdint>
#include <span>

#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/sample_store.hpp"
#include "boltzmark/sample/tempering/ladder_traffic.hpp"

namespace boltzmark {

/// Whether chains made 20 round trips between the ends of the ladder, and two each in the mean.
bool enough_round_trips(std::int64_t trips, Eigen::Index chains);
/// Refuses an estimate if the chains made fewer than 20 round trips between the ends of the ladder,
/// or fewer than two each in the mean.
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

/// Refuses an estimate if a rung has no samples, and says how many have none.
/// Returns whether all rungs were visited.
/// Shapes  counts [rungs]
bool judge_visits(Estimate& estimate, const Eigen::VectorXd& counts);

}  // namespace boltzmark
