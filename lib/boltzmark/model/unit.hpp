#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace boltzmark {

/// The kind of all units of a layer: a set of values and a reference measure on it.
///   code 0        Bernoulli {0, 1}, counting measure
///   code s >= 1   multivalued X(s) = {(2k - s)/s : k = 0..s}, weight 2/(s+1) each
///   code -1       continuous on [-1, 1], Lebesgue measure             [both yokoyama2019, Sec. 2]
///   code -2       Gaussian, (x - a)^2 / (2 sigma^2) in place of -a x
/// The codes are those of the model file's `units`. Who does not write files asks for what a unit
/// is like (how many values, from where, how far apart, stored how), not which kind it is.
/// Values of a discrete unit are equally spaced and weigh the same; none is beyond [-1, 1].
class Unit {
 public:
  static constexpr Unit bernoulli() { return Unit(0); }
  static constexpr Unit continuous() { return Unit(-1); }
  static constexpr Unit gaussian() { return Unit(-2); }
  /// The greatest s of X(s).
  static constexpr std::int32_t max_steps = 65535;
  /// Throws  InvalidArgument if steps is outside 1..max_steps
  static Unit multivalued(std::int32_t steps);
  /// Throws  InvalidArgument if code < -2 or code > max_steps
  static Unit from_code(std::int32_t code);
  /// Parses a kind as the command line takes it: bernoulli, continuous, gaussian or the s of X(s).
  /// Throws  InvalidArgument naming the forms there are
  static Unit parse(std::string_view text);

  constexpr std::int32_t code() const { return code_; }
  constexpr bool is_bernoulli() const { return code_ == 0; }
  constexpr bool is_discrete() const { return code_ >= 0; }
  constexpr bool is_two_valued() const { return code_ == 0 || code_ == 1; }
  /// Tells whether a unit's law has a scale sigma of its own, Layer::sigma0: Gaussian units.
  constexpr bool has_scale() const { return code_ == -2; }

  /// Counts the values of a discrete unit, and the steps from the least of them to the greatest.
  constexpr int values() const { return steps() + 1; }
  constexpr int steps() const { return code_ == 0 ? 1 : code_; }
  /// Returns the distance of neighbouring values of a discrete unit.
  constexpr double spacing() const { return (highest() - lowest()) / steps(); }
  /// Returns the least and the greatest value; those of Gaussian units are infinite.
  constexpr double lowest() const { return has_scale() ? -kInfinite : code_ == 0 ? 0 : -1; }
  constexpr double highest() const { return has_scale() ? kInfinite : 1; }
  /// Returns the k-th smallest value of a discrete unit, k = 0..values()-1.
  double value(int k) const { return code_ == 0 ? k : (2.0 * k - code_) / code_; }
  /// Tells whether x is a value, of X(s) within a tolerance.
  bool holds(double x, double tolerance) const;

  /// Returns the factor by which chains store values: s for X(s), whose states are then the
  /// integers 2k - s and whose products with weights / s are as exact as a binary unit's; 1 for
  /// others.
  constexpr float state_scale() const { return code_ > 0 ? static_cast<float>(code_) : 1.0F; }
  /// Returns the k-th smallest value of a discrete unit as chains store it.
  constexpr float state(int k) const { return static_cast<float>(code_ == 0 ? k : 2 * k - code_); }
  /// Returns the k of a stored state.
  int index(float state) const;
  /// Returns a value as chains store it; one within float32's rounding of X(s) becomes its integer.
  float stored(float value) const;

  /// Returns the log of the reference measure of each value of a discrete unit: 0, or log(2/(s+1)).
  /// Throws  InvalidArgument if the unit is not discrete
  double log_weight() const;
  /// Names the kind for people: "Bernoulli", "X(4)", "continuous", "Gaussian".
  std::string name() const;

  friend constexpr bool operator==(const Unit&, const Unit&) = default;

 private:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();

  explicit constexpr Unit(std::int32_t code) : code_(code) {}
  std::int32_t code_;
};

/// Computes log of the integral of e^{input x} over a unit's reference measure, without base terms.
///   Bernoulli log(1 + e^x);
///   X(s) log phi_s(x), continuous log phi_inf(x)                      [yokoyama2019, Eqs. 6, 7]
/// Accuracy  4 ulp
/// Throws    InvalidArgument for Gaussian units, whose integral needs a scale
double log_partition(Unit unit, double input);

/// Computes the mean of a unit under a density ~ e^{input x}: the derivative of log_partition.
///                                                                        [yokoyama2019, Eq. 14]
/// Accuracy  4 ulp     Throws  InvalidArgument for Gaussian units
double mean_value(Unit unit, double input);

/// Computes the value of a unit that a uniform number in (0, 1) stands for, its law being proportional to
/// e^{input x}.
/// Invariant  the unit is not Gaussian
double value_at(Unit unit, double input, double uniform);

/// Values between two ends, or one where both are the same.
struct ValueRange {
  double low = 0, high = 0;

  double width() const { return high - low; }
  /// Of a range of some width: log int e^{input x} dx, and the value that a uniform number in (0, 1) stands for, the
  /// density being ~ e^{input x}.
  double log_integral(double input) const;
  double value_at(double input, double uniform) const;
};

}  // namespace boltzmark
