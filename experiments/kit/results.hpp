#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "experiments/kit/experiment.hpp"

namespace boltzmark::experiments {

/// The finished trials of one experiment at one profile, in the order in which `trials` lists them.
class Results {
 public:
  Results(Profile profile, std::vector<Json> planned, std::vector<Trial> finished);

  Profile profile() const { return profile_; }
  const std::vector<Trial>& trials() const { return trials_; }
  std::size_t planned() const { return planned_.size(); }
  /// The inputs of all planned trials, in their order.
  const std::vector<Json>& plan() const { return planned_; }
  bool empty() const { return trials_.empty(); }

  /// Picks the trials whose inputs hold all of the filter's keys and values:
  /// `where({{"size", 3}, {"c", 10}})`; `where({})` picks all.
  std::vector<const Trial*> where(const Json& filter) const;
  /// Picks one output of these trials.  Shapes  one value per trial; NaN where it was not finite
  std::vector<double> values(const Json& filter, std::string_view output) const;
  /// Counts the planned trials that match.
  std::size_t planned(const Json& filter) const;
  /// Lists the different values of an input among the planned trials, in order of appearance.
  std::vector<Json> inputs(std::string_view key) const;

 private:
  Profile profile_;
  std::vector<Json> planned_;
  std::vector<Trial> trials_;
};

/// Tells whether inputs hold all of the filter's keys with equal values.
bool matches(const Json& inputs, const Json& filter);

}  // namespace boltzmark::experiments
