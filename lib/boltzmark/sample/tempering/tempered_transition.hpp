#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/random/draws.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Computes the log of the ratio by which a tempered transition is accepted.
///   sum_k (b_{k+1} - b_k) (D(down_k) - D(up_k)),  D = log f - log p1               [Neal 1996]
/// Shapes  inverse_temperatures [T], ascending; up [T - 1], D of the state that the sweep at b_k
/// went up from; down [T - 1], of that which its reversal came down to
/// Units   nats
double transition_log_ratio(std::span<const float> inverse_temperatures, std::span<const double> up,
                            std::span<const double> down);

/// How a tempered transition goes.
struct TransitionOptions {
  std::vector<float> inverse_temperatures = {};  ///< ascending to 1, two or more
  Rule rule = Rule::gibbs();
  std::uint64_t first_sweep = 0;  ///< counter of the first sweep's draws

  /// Counts the sweeps of a transition: one up and one down for each b below 1.
  int sweeps() const { return 2 * (static_cast<int>(inverse_temperatures.size()) - 1); }
  /// Throws  InvalidArgument if the ladder does not ascend from [0, 1) to 1, or the rule is of
  /// one's own, whose law need not be in detailed balance
  void check() const;
};

/// What became of a chain's tempered transition.
struct TransitionOutcome {
  double log_ratio = 0;  ///< it was accepted with probability min(1, e^log_ratio)
  bool accepted = false;
};

/// Moves every chain at b = 1 by a tempered transition: up a ladder to its highest temperature and
/// down again, and back to where it was unless the whole is accepted.
///   x_0 the state; up: x_i by a sweep at the i-th b below 1; down: y_n = x_n, y_{i-1} by the
///   reversed sweep (even layers first) at the i-th b; y_0 is taken with probability
///   min(1, e^transition_log_ratio)                         [Neal 1996; Salakhutdinov 2009]
/// Up is towards high temperatures, the tempered laws between the model and its base as they are
/// packed; the transition is in detailed balance with the model's law.
/// Randomness  unit draws of sweeps first_sweep .. first_sweep + sweeps() - 1; of each chain one
/// draw (Purpose::transition) at first_sweep, accepted if it is below round(2^32 probability)
/// Throws      InvalidArgument as TransitionOptions::check and sweep
/// Cost        that of its sweeps, and a pass over the states beside each
std::vector<TransitionOutcome> tempered_transition(const PackedModel& packed, Chains& chains,
                                                   const Draws& draws,
                                                   const TransitionOptions& options);

}  // namespace boltzmark
