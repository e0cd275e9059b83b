#pragma once

#include <string>
#include <utility>
#include <vector>

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// A `key=value,...` filter on a trial's inputs: the CELL of `reproduce --only`.
class CellFilter {
 public:
  /// Parses a filter; an empty text lets every trial pass.
  /// Throws  InvalidArgument if the text is not `key=value,...` or names a key twice
  explicit CellFilter(const std::string& text);

  /// Tells whether inputs have every key of the filter with its value. Numbers compare as numbers,
  /// so that 0.10 finds 0.1.
  bool matches(const Json& inputs) const;

 private:
  std::vector<std::pair<std::string, std::string>> wanted_;
};

/// Returns the experiment that makes another's trials: itself, or that of `trials_of`.
/// Throws  InvalidArgument if there is none of that id that makes its own
const Experiment& maker_of_trials(const std::vector<Experiment>& all, const Experiment& experiment);

/// Picks the makers of the trials of experiments that are named by id or paper key, each once, in the order
/// of the registry; none named means all.
/// Throws  InvalidArgument if a name is neither
std::vector<const Experiment*> select_makers(const std::vector<Experiment>& all,
                                             const std::vector<std::string>& names);

}  // namespace boltzmark::experiments
