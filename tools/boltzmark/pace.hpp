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

/// Does now and then what takes time of its own.
class NowAndThen {
 public:
  explicit NowAndThen(double seconds) : between_(seconds) {}
  /// Does the work if so many seconds have passed since it was last done, or since the start.
  ///   seconds  () -> those since the start
  template <class Clock, class Work>
  void do_if_due(const Clock& seconds, const Work& work) {
    if (seconds() - last_ < between_) return;
    work();
    last_ = seconds();
  }

 private:
  double between_, last_ = 0;
};

}  // namespace boltzmark::cli
