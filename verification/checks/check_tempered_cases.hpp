#pragma once

#include <string>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/random/stream.hpp"
#include "verification/checks/laws/tempered_chain.hpp"

namespace boltzmark {

/// A random model between a random base and itself, with all that a tempered chain needs.
struct TemperedCase {
  Layered model;
  Base base;
  Ladder ladder;
  Eigen::VectorXd log_prior;  ///< normalised
  Eigen::VectorXd log_z_hat;  ///< log Z_k, or these with errors of a few nats; first 0
  std::string detail;

  TemperedSpace space(States states) const { return {model, base, ladder, states}; }
  TemperedChain chain(States states, TemperedOptions options = {}) const;
};

/// Draws a case around a model: a linear, geometric or random ladder of 2..max_rungs rungs, a prior
/// that is uniform or not, and Zhat.
TemperedCase draw_tempered_case(Stream& stream, Layered model, int max_rungs);
/// Draws a case with a given ladder.
TemperedCase draw_tempered_case(Stream& stream, Layered model, const Ladder& ladder);

/// Draws a ladder of 2..max_rungs rungs: linear, geometric or random.
Ladder draw_ladder(Stream& stream, int max_rungs);
/// Draws joint or collapsed states.
States draw_states(Stream& stream);

}  // namespace boltzmark
