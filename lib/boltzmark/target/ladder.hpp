#pragma once

#include <Eigen/Core>
#include <string_view>
#include <vector>

namespace boltzmark {

/// Inverse temperatures 0 = b_1 < b_2 < .. < b_K = 1. Each is a float32 value, so that the kernel
/// that moves a chain and the weight that judges it use the same b.
class Ladder {
 public:
  /// Rounds to float32.  Throws  InvalidArgument unless there are 2 or more, ascending from 0 to 1
  /// after rounding
  explicit Ladder(const std::vector<double>& inverse_temperatures);

  /// Equally spaced.
  static Ladder linear(int rungs);
  /// b_j = (1000^(j/(K-1)) - 1) / 999                                  [carlson2016, Appendix E]
  static Ladder geometric(int rungs);
  /// 500 rungs to 0.5, 4,000 to 0.9 and 10,000 to 1, or the same shares of `rungs` (at least 4).
  ///                                                       [Salakhutdinov and Murray 2008, Sec. 4]
  static Ladder salakhutdinov_murray(int rungs);
  /// Parses `linear`, `geometric` or `salakhutdinov-murray`.
  /// Throws  InvalidArgument if the name is not one of these or rungs is too small
  static Ladder named(std::string_view name, int rungs);

  int rungs() const { return static_cast<int>(values_.size()); }
  double operator[](int rung) const { return static_cast<double>(values_[rung]); }
  float single(int rung) const { return values_[rung]; }
  const std::vector<float>& singles() const { return values_; }
  friend bool operator==(const Ladder&, const Ladder&) = default;

 private:
  std::vector<float> values_;
};

/// Places rungs so that each step is as long as the others in a metric given at other rungs.
/// With density sqrt(Var[D | b]) this equalises the thermodynamic length, and so the overlap of
/// neighbours.                                                      [Gelman and Meng 1998, Sec. 4]
/// Shapes  density [ladder.rungs()], non-negative; rungs >= 2
/// Throws  InvalidArgument if sizes differ, rungs < 2, or the density is negative, not finite or 0
/// everywhere
Ladder equalise(const Ladder& ladder, const Eigen::VectorXd& density, int rungs);

}  // namespace boltzmark
