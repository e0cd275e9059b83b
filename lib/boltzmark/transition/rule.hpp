#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/model/unit.hpp"

namespace boltzmark {

/// An update rule: a law of a unit's next state given its input x and its state, which leaves
/// p ~ e^{x .} unchanged. transition/rules.hpp holds the laws, each one small function, and ties
/// kinds to laws. For more than two values flip and metropolis are Metropolised Gibbs [Liu 1996];
/// no value of a continuous unit has a positive probability, so there every rule is Gibbs.
struct Rule {
  enum class Kind { gibbs, flip, blend, metropolis };
  Kind kind = Kind::gibbs;
  double blend = 0;  ///< share of flip in blend, in [0, 1]

  static constexpr Rule gibbs() { return {Kind::gibbs, 0}; }
  static constexpr Rule flip() { return {Kind::flip, 1}; }
  static constexpr Rule metropolis() { return {Kind::metropolis, 0}; }
  /// Throws  InvalidArgument if share is outside [0, 1]
  static Rule blended(double share);

  /// Writes the rule as the command line takes it: gibbs, flip, blend:0.5, metropolis.
  std::string name() const;
  friend bool operator==(const Rule&, const Rule&) = default;
};

/// Parses a rule's name.  Throws  InvalidArgument naming the rules there are
Rule parse_rule(std::string_view text);

/// A rule as `list rules` shows it.
struct RuleInfo {
  std::string name;
  std::string description;
  bool ergodic = true;  ///< false for the counter-example without a tie rule
};
const std::vector<RuleInfo>& registered_rules();

/// Computes the law of a discrete unit's next value, the double-precision law.
///   gibbs P(k) ~ e^{x v_k}; flip P(k) min(1/(1 - P(k)), 1/(1 - P(from))) for k != from [Liu 1996]
/// Shapes    out [unit.values()], ascending     Accuracy  about values() ulp of every entry
/// Throws    InvalidArgument if the unit is not discrete or shapes differ
/// Cost      three exponentials a value
void next_law(const Rule& rule, Unit unit, double input, int from, std::span<double> out);

/// Computes the probability that a binary unit is on after its update: the double-precision law.
///   gibbs 1/(1+e^-x); flip min(e^x, 1) when off and max(1 - e^-x, 0) when on, 1/2 at x = 0
///   [bruegge2013, Sec. 3.1]
double on_probability(const Rule& rule, double input, bool on);

/// Computes the probability that a binary unit changes its state: precise where it is tiny.
double flip_probability(const Rule& rule, double input, bool on);

}  // namespace boltzmark
