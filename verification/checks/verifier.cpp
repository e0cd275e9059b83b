#include "verification/checks/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "boltzmark/core/error.hpp"
#include "verification/checks/check_cases.hpp"

namespace boltzmark {
namespace {

std::vector<Check> gather(std::initializer_list<std::vector<Check>> groups) {
  std::vector<Check> all;
  for (const std::vector<Check>& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

bool matches(const Check& check, const std::string& name) {
  return check.name == name || check.subject == name || (check.claim == name && !name.empty());
}

}  // namespace

const std::vector<Check>& registered_checks() {
  static const std::vector<Check> checks = gather(
      {kernel_checks(), theorem_checks(), convergence_checks(), production_checks(),
       tempering_checks(), estimator_checks(), tempered_chain_checks(), tempered_estimator_checks(),
       integration_checks(), annealing_checks(), unit_checks(), classifier_checks()});
  return checks;
}

std::vector<Check> rule_checks(const Rule& rule) {
  std::vector<Check> checks = gather({kernel_checks(rule), production_checks(rule),
                                      tempering_checks(rule), tempered_chain_checks(rule)});
  for (Check& check : checks) check.claim.clear();  // claims are about the papers' rules
  return checks;
}

std::vector<Check> select_checks(const std::vector<std::string>& names) {
  const std::vector<Check>& all = registered_checks();
  if (names.empty()) return all;
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const Check& c) { return matches(c, name); }))
      throw InvalidArgument(
          fmt::format("check = {} (must be the name, subject or claim of a check)", name));
  std::vector<Check> picked;
  std::copy_if(all.begin(), all.end(), std::back_inserter(picked), [&](const Check& check) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return matches(check, name); });
  });
  return picked;
}

}  // namespace boltzmark
