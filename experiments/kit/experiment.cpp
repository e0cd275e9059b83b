#include "experiments/kit/experiment.hpp"

#include <limits>

#include "experiments/kit/progress.hpp"
#include "experiments/kit/run/interrupt.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"

namespace boltzmark::experiments {

StreamKey TrialContext::shared_key(std::string_view name) const {
  return make_key(seed, experiment, "shared: " + std::string(name));
}

void TrialContext::progress(double fraction) const {
  if (on_progress) on_progress(fraction);
  if (interrupt_requested()) throw Interrupted();
}

std::optional<std::string> TrialContext::kept_state() const {
  return checkpoint ? checkpoint->read() : std::nullopt;
}

void TrialContext::progress(double fraction, const std::function<std::string()>& state) const {
  const bool stop = stopping ? stopping() : interrupt_requested();
  // This throws if nobody waits for the trial any more: then no state is kept.
  if (!stop && on_progress) on_progress(fraction);
  const double now = now_seconds();
  if (kept_at_ == 0) kept_at_ = now;
  if (stop) {
    if (checkpoint) checkpoint->write(state());
    throw Interrupted();
  }
  if (!checkpoint || now - kept_at_ < checkpoint_seconds) return;
  on_the_way_.save([&] { checkpoint->write(state()); },
                   [&](const std::string& why) {
                     if (on_unsaved) on_unsaved(why);
                   });
  kept_at_ = now_seconds();
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
