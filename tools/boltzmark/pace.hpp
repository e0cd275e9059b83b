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

/// Tells when it is time again for what is done now and then.
class NowAndThen {
 public:
  explicit NowAndThen(double seconds) : between_(seconds) {}
  /// Tells whether so many seconds have passed since it was last done, or since the start.
  ///   now  seconds since the start
  bool is_due(double now) const { return now - last_ >= between_; }
  void was_done(double now) { last_ = now; }

 private:
  double between_, last_ = 0;
};

}  // namespace boltzmark::cli
