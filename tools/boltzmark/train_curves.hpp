#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace boltzmark::cli {

/// How a model is doing on the way, log-likelihoods exact.
struct Evaluation {
  std::uint64_t update = 0;
  double mean_log_likelihood = 0;                   ///< of the training cases
  std::optional<double> validation = std::nullopt;  ///< of the --validate cases
  double learning_rate = 0;                         ///< of the next update
  double weight_norm = 0;                           ///< Frobenius, of all weights
};

/// Tells whether training has gone wrong: by now the likelihood is below that of the first evaluation
/// by more than a nat and a tenth of it, which no noise of a working rate takes away.
bool fell_far(const std::vector<Evaluation>& evaluations);

/// Says so, and what to do.
std::string fall_text(const std::vector<Evaluation>& evaluations);

/// Makes the folder of curves and refuses to replace those that are there, unless they may be.
/// Throws  DataError
void check_curves(const std::string& folder, bool replace);

/// Writes curves.csv, a row an evaluation.  Throws  DataError if it cannot be written
void write_curves(const std::vector<Evaluation>& evaluations, const std::string& folder);

/// Draws curves.svg; one that cannot be drawn is named on stderr.
void draw_curves(const std::vector<Evaluation>& evaluations, const std::string& folder);

}  // namespace boltzmark::cli
