#pragma once

#include <cstdint>
#include <string_view>

namespace boltzmark {

/// The key of a family of counter-based streams: (seed, experiment, trial).
struct StreamKey {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  friend bool operator==(const StreamKey&, const StreamKey&) = default;
};

/// Derives a key from a seed, an experiment's id and a trial's number or name.
/// Invariant  the same arguments give the same key on every machine
StreamKey make_key(std::uint64_t seed, std::string_view experiment = {},
                   std::string_view trial = {});

/// Derives a key of its own, by name, from the key of a run: for a part that draws by itself.
/// Invariant  as make_key
StreamKey derive_key(StreamKey parent, std::string_view part, std::string_view trial = {});

/// What a draw is for; no two uses of one key may share a purpose.
enum class Purpose : std::uint32_t {
  unit_update = 0,  ///< + layer (Layered has at most 64)
  swap = 64,
  initial_state = 65,
  initial_weights = 66,
  data = 67,
  minibatch = 68,
  start = 69,
  bootstrap = 70,
  scan = 71,
  ladder = 72,
  test = 73,
  rung = 74,
  resample = 75,
  drawn_case = 76,
  transition = 80,  ///< accepting tempered transitions
  metropolis = 84,  ///< moves of continuous states
  step_size = 85,
  rung_step = 90,  ///< to a neighbour: proposal and acceptance
};

}  // namespace boltzmark
