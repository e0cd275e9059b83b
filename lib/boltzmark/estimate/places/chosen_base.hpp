#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

struct Phases;

/// What a short tempered run found.
struct TemperedSearch {
  std::vector<Chains> states = {};  ///< at b = 1, of discrete units
  Estimate estimate = {};  ///< of log Z by RTS; so few sweeps have a status that tells nothing
};

/// Searches for states by a short tempered run of the model, from the uniform base whatever a run's base: it finds
/// wells that no climb leads to, which annealed chains pass by, and which a base of other modes hides. Rungs are
/// drawn by collapsed states: by joint ones a well of one in 2^22 states was never met.
/// Randomness  a key of its own of the seed, whatever the run's
/// Cost        300 sweeps of 100 chains
TemperedSearch tempered_search(const Layered& model, std::uint64_t seed);

/// Tells whether the uniform base serves as well as another by what a tempered_search from each finds: its standard
/// error is below half a nat, about 0.1 in a run of 10,000 sweeps, and what it finds not less by two errors of either.
/// What another base leaves out shows in no error of a run from it. Of an estimate that is no number: false.
/// Units  nats     Source  ours
bool uniform_serves(const Estimate& uniform, const Estimate& other);

/// The base of a run as it is chosen where none is named.
struct ChosenBase {
  Base base;
  bool of_modes = false;                           ///< means near modes or a place; else uniform
  std::optional<Modes> modes = std::nullopt;       ///< where they were searched for
  std::shared_ptr<const Phases> phases = nullptr;  ///< where bases were compared
  std::optional<TemperedSearch> search =
      std::nullopt;  ///< where the uniform base was tried against another
};

/// Returns so many cases of a data set, evenly spread, or all if they are fewer.
/// Shapes  [visible x cases]     Throws  InvalidArgument if count is negative
Eigen::MatrixXf spread_cases(const CaseValues& cases, int count);

/// How modes are searched for, for a base and for a lower bound: from the states nearest to some of
/// the cases too, at most 100 of them, evenly spread.
/// Shapes  cases [visible x cases]; none: empty
/// Randomness  a key of its own, whatever the run's
ModeSearch mode_search(const Layered& model, std::uint64_t seed, const CaseValues& cases = {});

/// Tells whether a model's modes are searched for at all: a double resolves a nat.
bool is_searchable(const Layered& model);

/// Chooses by choose_base among the uniform base, those of anneal_phases of a part that is_almost_all (of the side
/// that is not listed alone, where that does as well), and, of Bernoulli visible units, the rates near all modes and
/// near the likeliest, if by its own pilot their base loses_nothing. One whose pilot is below what bound_by_orthants
/// says of log Z gives way to the next, unless no other comes nearer. Where there are no fewer places than are looked
/// near (near_places) the best gives way to the uniform one if that serves as well (uniform_serves). Uniform unless
/// the model is_searchable.
/// Randomness  keys of their own of the seed, whatever the run's
/// Throws      InvalidArgument as find_modes and choose_base
/// Cost        besides the search and the annealing of find_phases, 60,000 sweeps of a chain where bases are tried
ChosenBase choose_auto_base(const Layered& model, const ModeSearch& search, std::uint64_t seed,
                            int summed_side = 1);

}  // namespace boltzmark
