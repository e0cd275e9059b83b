#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "boltzmark/sample/estimate.hpp"
#include "tools/boltzmark/output.hpp"

namespace boltzmark::cli {

/// How a model is doing on the way. Log-likelihoods are exact but for their log Z, if that is
/// tracked; of a deep model with a tracked one they are mean-field bounds. NaN where a number that is
/// to be there does not exist.
struct Evaluation {
  std::uint64_t update = 0;
  double mean_log_likelihood = 0;                   ///< of the training cases
  std::optional<double> validation = std::nullopt;  ///< of the --validate cases
  double learning_rate = 0;                         ///< of the next update
  double weight_norm = 0;                           ///< Frobenius, of all weights
  double log_z = 0;
  double log_z_std_error = 0;  ///< 0: log Z is enumerated
  Status status = Status::ok;  ///< whether it can be trusted
  std::optional<std::uint64_t> round_trips =
      std::nullopt;  ///< of the tracker's chains, at this one
  std::optional<std::uint64_t> negative_round_trips = std::nullopt;  ///< of --negative, so far
};

/// All evaluations of a run.
struct Curves {
  bool tracked = false;  ///< log Z is
  bool bound = false;    ///< log-likelihoods are bounds
  std::vector<Evaluation> evaluations = {};

  /// Names the log-likelihood as columns and JSON do.
  std::string likelihood_name() const {
    return bound ? "mean_log_likelihood_bound" : "mean_log_likelihood";
  }
};

/// Tells whether training has gone wrong: by now the likelihood is below that of the first evaluation
/// by more than a nat and a tenth of it, which no noise of a working rate takes away. Those that
/// cannot be trusted do not count.
bool fell_far(const Curves& curves);

/// Says so, and what to do.
std::string fall_text(const Curves& curves);
/// Says how many evaluations cannot be trusted; empty if all can.
std::string refused_text(const Curves& curves);

/// Writes evaluations for people, lines with their ends, and for programs.
std::string evaluation_heading(const Curves& curves);
std::string evaluation_line(const Curves& curves, const Evaluation& evaluation);
std::vector<JsonObject> evaluation_objects(const Curves& curves);

/// Makes the folder of curves and refuses to replace those that are there, unless they may be or
/// begin as `own` does, the curves of a run that goes on.
/// Throws  DataError
void check_curves(const std::string& folder, bool replace, const Curves* own = nullptr);

/// Writes curves.csv, a row an evaluation.  Throws  DataError if it cannot be written
void write_curves(const Curves& curves, const std::string& folder);

/// Draws curves.svg, what cannot be trusted as rings off the curves; one that cannot be drawn is
/// named on stderr.
void draw_curves(const Curves& curves, const std::string& folder);

}  // namespace boltzmark::cli
