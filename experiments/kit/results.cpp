#include "experiments/kit/results.hpp"

#include <algorithm>
#include <utility>

namespace boltzmark::experiments {

bool matches(const Json& inputs, const Json& filter) {
  for (const auto& [key, value] : filter.items()) {
    const auto found = inputs.find(key);
    if (found == inputs.end() || *found != value) return false;
  }
  return true;
}

Results::Results(Profile profile, std::vector<Json> planned, std::vector<Trial> finished)
    : profile_(profile), planned_(std::move(planned)), trials_(std::move(finished)) {}

std::vector<const Trial*> Results::where(const Json& filter) const {
  std::vector<const Trial*> found;
  for (const Trial& trial : trials_)
    if (matches(trial.inputs, filter)) found.push_back(&trial);
  return found;
}

std::vector<double> Results::values(const Json& filter, std::string_view output) const {
  std::vector<double> found;
  for (const Trial* trial : where(filter))
    found.push_back(number(trial->outputs.at(std::string(output))));
  return found;
}

std::size_t Results::planned(const Json& filter) const {
  return static_cast<std::size_t>(
      std::count_if(planned_.begin(), planned_.end(),
                    [&](const Json& inputs) { return matches(inputs, filter); }));
}

std::vector<Json> Results::inputs(std::string_view key) const {
  std::vector<Json> found;
  for (const Json& inputs : planned_) {
    const auto value = inputs.find(std::string(key));
    if (value != inputs.end() && std::find(found.begin(), found.end(), *value) == found.end())
      found.push_back(*value);
  }
  return found;
}

}  // namespace boltzmark::experiments
