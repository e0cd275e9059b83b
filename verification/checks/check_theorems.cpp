// Checks of bruegge2013, Sec. 3.3: Lemma 1, Theorem 1 and Theorem 2, state by state.

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/exact/spectrum/connectivity.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/theorems.hpp"
#include "verification/checks/subjects.hpp"

namespace boltzmark {
namespace {

// A statement about one model's report: whether it holds, and its smallest log probability.
using Statement = std::pair<bool, double> (*)(const TheoremReport&);

CaseOutcome theorem_case(Stream& stream, const Rule& rule, Statement statement) {
  const Layered model = draw_check_model(stream, 3);
  const TheoremReport report = check_theorems(StateSpace(model), rule);
  const auto [holds, log_least] = statement(report);
  return {holds ? 0.0 : 1.0, fmt::format("{}: |M| = {}, smallest log probability {:.4g}",
                                         describe_case(model), report.modes, log_least)};
}

CaseOutcome components_case(Stream& stream, const Rule& rule) {
  const Layered model = draw_check_model(stream);
  const Connectivity found = connectivity(StateSpace(model), rule);
  return {static_cast<double>(found.components), describe_case(model)};
}

CaseOutcome period_case(Stream& stream, const Rule& rule) {
  const Layered model = draw_check_model(stream);
  const Connectivity found = connectivity(StateSpace(model), rule);
  // A reducible chain has no one period; it fails here too, by its components.
  return {found.irreducible ? found.period : 1.0 + static_cast<double>(found.components),
          describe_case(model)};
}

}  // namespace

std::vector<Check> theorem_checks(const Rule& rule) {
  std::vector<Check> checks;
  const auto add = [&](const char* name, const char* text, Statement statement) {
    checks.push_back(bounded_check(name, rule.name(), text, 0, [rule, statement](Stream& s) {
      return theorem_case(s, rule, statement);
    }));
  };
  add("lemma-1",
      "the likeliest state of a side is reached from every state and reaches every state in one "
      "half-sweep: models where not",
      [](const TheoremReport& r) { return std::pair(r.lemma1_holds(), r.lemma1); });
  add("theorem-1-climb",
      "steps (i) and (ii): every state reaches a mode and is reached from one: models where not",
      [](const TheoremReport& r) {
        return std::pair(r.modes > 0 && r.unreached == 0 && r.unreaching == 0, r.lemma1);
      });
  checks.push_back(
      bounded_check("irreducible", rule.name(),
                    "T is irreducible, ties included: strongly connected components of its support",
                    1, [rule](Stream& s) { return components_case(s, rule); }));
  add("modes-joined", "step (iii): one step of T joins any two elements of M: models where not",
      [](const TheoremReport& r) {
        return std::pair(r.modes > 0 && std::isfinite(r.modes_joined), r.modes_joined);
      });
  add("modes-stay", "T(x,x) > 0 on M: models where not",
      [](const TheoremReport& r) { return std::pair(r.theorem2_holds(), r.modes_stay); });
  checks.push_back(bounded_check("aperiodic", rule.name(), "T is aperiodic, ties included: period",
                                 1, [rule](Stream& s) { return period_case(s, rule); }));
  return checks;
}

std::vector<Check> theorem_checks() {
  std::vector<Check> all;
  for (const Rule& rule : ergodic_rules())
    for (Check& check : theorem_checks(rule)) all.push_back(std::move(check));
  return all;
}

}  // namespace boltzmark
