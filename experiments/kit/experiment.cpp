#include "experiments/kit/experiment.hpp"

#include <limits>

#include "experiments/kit/interrupt.hpp"

namespace boltzmark::experiments {

StreamKey TrialContext::shared_key(std::string_view name) const {
  return make_key(seed, experiment, "shared: " + std::string(name));
}

void TrialContext::progress(double fraction) const {
  if (on_progress) on_progress(fraction);
  if (interrupt_requested()) throw Interrupted();
}

double number(const Json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

std::vector<double> numbers(const Json& value) {
  std::vector<double> all;
  all.reserve(value.size());
  for (const Json& item : value) all.push_back(number(item));
  return all;
}

}  // namespace boltzmark::experiments
