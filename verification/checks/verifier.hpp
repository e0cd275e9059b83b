#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "boltzmark/transition/rule.hpp"

namespace boltzmark {

/// What a check found over its cases.
struct CheckOutcome {
  double value = 0;  ///< the worst value of the check's statistic
  double bound = 0;  ///< what it was compared with
  bool holds = false;
  std::string detail;  ///< the worst case in words
  int cases = 0;
};

/// One exact check of a rule, sampler or estimator: `boltzmark verify` and the claims of kind E.
struct Check {
  std::string name;       ///< e.g. "detailed-balance"
  std::string subject;    ///< what is checked: a rule's name, "parallel-tempering", "log_z", ...
  std::string statement;  ///< what holds, in words
  double bound = 0;
  /// Runs the check on that many random models.  Randomness  Stream of make_key(seed, name)
  std::function<CheckOutcome(int cases, std::uint64_t seed)> run = {};
};

/// Lists every check there is, in a fixed order.
const std::vector<Check>& registered_checks();

/// Lists the checks that any rule must pass, one's own too: its sweep leaves p and every tempered
/// law unchanged, alone and within simulated and parallel tempering, for Bernoulli and multivalued
/// units, and the sweep that is shipped follows its double-precision law threshold by threshold.
/// `spectrum` tells the rest: whether the chain is ergodic, and how fast.
std::vector<Check> rule_checks(const Rule& rule);

}  // namespace boltzmark
