#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/tempering/tracked_tempering.hpp"
#include "boltzmark/sample/top_states.hpp"

namespace boltzmark {

/// How log Z is followed.
struct TrackerOptions {
  int chains = 32;
  int sweeps = 5000;  ///< of every chain at a look, and at most as many again where it starts anew
  Ladder ladder = Ladder::linear(100);
  StreamKey key = {};
};

/// What a look found.
struct TrackedLogZ {
  Estimate estimate;
  std::int64_t round_trips = 0;  ///< of the chains, in the sweeps that the estimate is made of
  VisitedStates visited;         ///< that the chains met at b = 1 in these sweeps
};

/// Follows log Z of a model that is trained, by RTS on tempered chains that nobody else reads: at a
/// look they and Zhat go on from where the last one left them, on the parameters of now.
///   A look holds the chains on their rungs for 1/25 of its sweeps; Zhat is renewed from the
///   occupancies of at most five rounds of as many, until none is off by more than a nat; over the
///   rest it stays, for an estimate with its error.   [carlson2016, Secs. 2.4, 4.4, Eqs. 12 and 16]
///   Where no round is so even, the model has changed too much: chains and Zhat start anew, as they do
///   at the first look, from the initial stage of simulated tempering, one annealed pass before it.
/// Randomness  of its own key and the number of the look
/// Invariant   the same bytes for any number of threads, and after save and restore
class LogZTracker {
 public:
  /// Throws  InvalidArgument if chains < 2 or sweeps < 2
  LogZTracker(Base base, TrackerOptions options);

  /// Moves the chains under a model of the base's shape and estimates its log Z.
  /// Status  as rts, and as judge_exchanges of this look's chains
  /// Throws  InvalidArgument as TemperedModel
  TrackedLogZ look(const Layered& model);
  std::uint64_t looks() const { return looks_; }

  /// Writes and reads back all that the next look depends on, beside base, options and model.
  /// Throws  DataError as CheckpointReader, or if what is read is no place on the ladder
  void save(CheckpointWriter& out) const;
  void restore(const Layered& model, CheckpointReader& in);

 private:
  using Target = std::shared_ptr<const TemperedModel>;
  /// Where rounds left Zhat.
  struct Settled {
    int sweeps = 0;  ///< made
    bool even = false;
  };
  StreamKey key_of(const char* part) const;
  std::unique_ptr<TrackedTempering> begin(const Target& target, const char* part,
                                          const TrackedPlace& place) const;
  TrackedPlace initial_place(const Target& target) const;
  int round_sweeps() const;
  Settled settle(TrackedTempering& chains) const;

  Base base_;
  TrackerOptions options_;
  std::uint64_t looks_ = 0;
  std::optional<TrackedPlace> place_;  ///< of the last look
};

}  // namespace boltzmark
