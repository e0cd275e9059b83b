#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/model/unit.hpp"

namespace boltzmark {

/// A law of one's own: writes the probability of each value that a discrete unit may take next,
/// given its input x and the index of its value now.
/// Shapes     next [unit.values()], ascending; zeros on entry
/// Invariant  a pure function, which threads call at once; leaves p(k) ~ e^{x v_k} unchanged
using Law = std::function<void(Unit unit, double input, int now, std::span<double> next)>;

/// A law and the name that tables, errors and checkpoints know it by.
struct NamedLaw {
  std::string name;
  Law law;
};

/// An update rule: a law of a unit's next state given its input x and its state, which leaves
/// p ~ e^{x .} unchanged. Four have kernels of their own: transition/rules.hpp holds their laws,
/// each one small function, and ties kinds to laws. For more than two values flip and metropolis
/// are Metropolised Gibbs [Liu 1996]; no value of a continuous unit has a positive probability, so
/// there each of the four is Gibbs. Any other law makes a rule as well, of discrete units.
struct Rule {
  enum class Kind { gibbs, flip, blend, metropolis, own };
  Kind kind = Kind::gibbs;
  double blend = 0;                               ///< share of flip in blend, in [0, 1]
  std::shared_ptr<const NamedLaw> own = nullptr;  ///< of Kind::own

  static Rule gibbs() { return {Kind::gibbs, 0}; }
  static Rule flip() { return {Kind::flip, 1}; }
  static Rule metropolis() { return {Kind::metropolis, 0}; }
  /// Throws  InvalidArgument if share is outside [0, 1]
  static Rule blended(double share);
  /// Makes a rule of a law of one's own. `rule_checks` tells whether it leaves p unchanged, `spectrum`
  /// whether it comes everywhere.
  /// Throws  InvalidArgument if there is no law, or the name is empty or that of another rule
  static Rule of(std::string name, Law law);

  /// Writes the rule as the command line takes it: gibbs, flip, blend:0.5, metropolis; or its name.
  std::string name() const;
  /// Compares what names tell: laws cannot be compared.
  friend bool operator==(const Rule& a, const Rule& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == Kind::own) return a.own && b.own && a.own->name == b.own->name;
    return a.kind != Kind::blend || a.blend == b.blend;
  }
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
/// Throws    InvalidArgument if the unit is not discrete, shapes differ, the input is NaN, or a law of one's own does
///   not write probabilities that sum to 1 within 1e-10
/// Cost      three exponentials a value
void next_law(const Rule& rule, Unit unit, double input, int from, std::span<double> out);

/// Finds the value that a draw chooses by the double-precision law: how sweeps follow a law of
/// one's own.
///   the number of t_k > draw, t_k = round(2^32 P(next >= k-th value)), k = 1..values - 1
/// Shapes  law [unit.values()], scratch     Throws  as next_law
int next_value(const Rule& rule, Unit unit, double input, int from, std::uint32_t draw,
               std::span<double> law);

/// Refuses a rule that has no law for a kind of units: one's own of continuous ones, or none at all, by members
/// that no factory gives.
/// Throws  InvalidArgument
void require_law(const Rule& rule, Unit unit);

/// Computes the probability that a binary unit is on after its update: the double-precision law.
///   gibbs 1/(1+e^-x); flip min(e^x, 1) when off and max(1 - e^-x, 0) when on, 1/2 at x = 0
///   [bruegge2013, Sec. 3.1]
double on_probability(const Rule& rule, double input, bool on);

/// Computes the probability that a binary unit changes its state: precise where it is tiny.
double flip_probability(const Rule& rule, double input, bool on);

}  // namespace boltzmark
