#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "experiments/calibration/support/outcomes.hpp"
#include "experiments/calibration/support/run_evidence.hpp"

namespace boltzmark::experiments {

/// An estimate and what its run showed.
struct ShownRun {
  ZooOutcome outcome = {};
  std::map<std::string, double> numbers = {};  ///< by predictors' keys
  std::map<std::string, bool> refused = {};    ///< by rules' keys

  bool is_refused_by(const std::string& rule) const;
  /// Tells whether it is refused by any of the rules that are picked.
  bool is_refused_by_any(const std::function<bool(const StatusRule&)>& picked) const;
  /// How much there is of what a predictor suspects.
  double score(const Predictor& predictor) const;
};

inline bool is_wrong(const ShownRun& run) { return run.outcome.wrong(); }
inline bool is_right(const ShownRun& run) { return run.outcome.right(); }

using ShownRuns = std::vector<ShownRun>;

/// Picks those of which something holds.
template <class Holds>
ShownRuns pick(const ShownRuns& runs, const Holds& holds) {
  ShownRuns picked;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(picked), holds);
  return picked;
}

/// Both halves of the zoo, without wells that were declared unfindable.
struct ShownHalves {
  ShownRuns training, held_out;

  ShownHalves of_method(const std::string& method) const;
};

/// Reads the runs of all trials that are finished and have a number and an error, without which nothing
/// is wrong.
ShownHalves read_shown(const Results& results);

/// Runs, model by model: those of one share what is hard about it.
std::vector<ShownRuns> by_model(const ShownRuns& runs);

/// How well a predictor tells wrong estimates of these models from those that are not, as area_under_roc; 1/2 where
/// there are none of a kind.
double area_of(const std::vector<ShownRuns>& models, std::span<const std::size_t> rows,
               const Predictor& predictor);
/// Computes it of all runs.
double area_of(const ShownRuns& runs, const Predictor& predictor);

/// Lists the predictors that runs show, the one of the largest area first.
std::vector<Predictor> ranked_predictors(const ShownRuns& runs);

/// Finds the highest score from which on 95 % of the wrong estimates are refused.
/// Invariant  there is a wrong one
double threshold_of(const ShownRuns& runs, const Predictor& predictor);

}  // namespace boltzmark::experiments
