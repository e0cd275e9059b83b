#pragma once

#include <ctime>

namespace boltzmark::experiments {

/// Tells the processor time so far, in seconds. Unlike the wall's, it does not count what else the
/// machine does.
inline double processor_clock() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Times one of so many runs, all of which work(runs) makes: the mean, in seconds of a clock.
template <class Work, class Clock = double (*)()>
double seconds_of_one(int runs, const Work& work, const Clock& now = processor_clock) {
  const double start = now();
  work(runs);
  return (now() - start) / runs;
}

}  // namespace boltzmark::experiments
