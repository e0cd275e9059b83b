#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>

#include "boltzmark/exact/modes/modes.hpp"
#include "boltzmark/model/base.hpp"
#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/layered.hpp"

namespace boltzmark {

struct Phases;

/// The base of a run as it is chosen where none is named.
struct ChosenBase {
  Base base;
  bool of_modes = false;                           ///< means near modes or a place; else uniform
  std::optional<Modes> modes = std::nullopt;       ///< where they were searched for
  std::shared_ptr<const Phases> phases = nullptr;  ///< where bases were compared
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
/// says of log Z gives way to the next, unless no other comes nearer. Uniform unless the model is_searchable.
/// Randomness  keys of their own of the seed, whatever the run's
/// Throws      InvalidArgument as find_modes and choose_base
ChosenBase choose_auto_base(const Layered& model, const ModeSearch& search, std::uint64_t seed,
                            int summed_side = 1);

}  // namespace boltzmark
