#pragma once

namespace boltzmark::cli {

/// How fast work goes on, and how long the rest of it takes at that.
struct Pace {
  double rate = 0;          ///< a second
  double seconds_left = 0;  ///< no number while nothing is done
};

/// Tells the pace of work that was resumed where some of it was done already.
///   seconds  since it was resumed
inline Pace pace_of(double done, double first_done, double total, double seconds) {
  const double rate = (done - first_done) / seconds;
  return {rate, (total - done) / rate};
}

}  // namespace boltzmark::cli
