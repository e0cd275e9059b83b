#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace boltzmark {

/// An update rule of a binary unit: a law of its next state given its input x = log p(1)/p(0) and
/// its state. transition/rules.hpp holds the laws, each one small function, and ties kinds to laws.
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

/// Computes the probability that a binary unit is on after its update: the double-precision law.
///   gibbs 1/(1+e^-x); flip min(e^x, 1) when off and max(1 - e^-x, 0) when on, 1/2 at x = 0
///   [bruegge2013, Sec. 3.1]
double on_probability(const Rule& rule, double input, bool on);

/// Computes the probability that a binary unit changes its state: precise where it is tiny.
double flip_probability(const Rule& rule, double input, bool on);

}  // namespace boltzmark
