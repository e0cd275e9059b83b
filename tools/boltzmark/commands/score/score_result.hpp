#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "boltzmark/sample/estimate.hpp"
#include "tools/boltzmark/command.hpp"
#include "tools/boltzmark/commands/score/score_deep.hpp"

namespace boltzmark::cli {

/// The score of a data set, and what it consists of; in nats.
struct Score {
  double mean_log_f = Estimate::kNone;  ///< none if the hidden layers are too large to enumerate
  double std_error_cases = 0;           ///< of the mean over cases
  std::optional<DeepBound> bound = {};
  std::optional<TrueCases> true_cases = {};
  Estimate log_z = {};
  std::optional<std::string> summed = {};  ///< the layers that its weights summed out
  double lowest = Estimate::kNone;  ///< what log Z is certainly not below, rounding allowed for
  double seconds = 0;
};

/// Prints it for people or as JSON.
void print_score(const Score& score, const std::string& method, std::size_t cases,
                 const Session& session);

}  // namespace boltzmark::cli
