#include "experiments/kit/evidence.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "verification/checks/verifier.hpp"

namespace boltzmark::experiments {
namespace {

const Check& find_check(const std::string& name, const std::string& subject) {
  for (const Check& check : registered_checks())
    if (check.name == name && check.subject == subject) return check;
  throw InvalidArgument("check = " + name + " of " + subject + " (must be registered)");
}

/// Shares of a third of the bound less, say 0.33 where 0.5 is claimed, are what a test should see;
/// set when the shares were known, and only powers depend on it.
constexpr double kSeenShare = 2.0 / 3;

void add_share_interval(Measure& measure, double bound) {
  const auto cases = static_cast<std::uint64_t>(measure.n);
  const auto count =
      static_cast<std::uint64_t>(std::llround(measure.estimate * static_cast<double>(cases)));
  const Interval interval = proportion_interval(count, cases);
  measure.lower = interval.lower;
  measure.upper = interval.upper;
  measure.p_value = binomial_test({count, cases}, bound, Alternative::less);
  measure.p_opposite = binomial_test({count, cases}, bound, Alternative::greater);
  measure.power = binomial_power(cases, bound, kSeenShare * bound, 0.05, Alternative::less);
  measure.power_against = fmt::format("a share of {:.2f}", kSeenShare * bound);
}

// Nothing is drawn that could hide a difference on the models tried.
void add_point(Measure& measure) {
  measure.lower = measure.upper = measure.estimate;
  measure.power = 1;
  measure.power_against = "any of these models, each computed exactly";
}

Measure measure(const Evidence& evidence, const Json& outputs) {
  const Check& check = find_check(evidence.check, evidence.subject);
  Measure result{.claim = evidence.claim,
                 .part = evidence.part,
                 .estimate = number(outputs.at("value")),
                 .n = outputs.at("cases"),
                 .note = outputs.at("detail").get<std::string>(),
                 .check = check.name + "/" + check.subject,
                 .bound = check.bound};
  if (evidence.spread == Spread::point) add_point(result);
  if (evidence.spread == Spread::share) add_share_interval(result, number(outputs.at("bound")));
  return result;
}

/// One trial a check.
std::vector<Json> trials(std::span<const Evidence> all, int models) {
  std::vector<Json> trials;
  for (const Evidence& evidence : all)
    trials.push_back({{"check", evidence.check}, {"subject", evidence.subject}, {"cases", models}});
  return trials;
}

Json run_check(const Json& inputs, const TrialContext& context) {
  const CheckOutcome outcome =
      find_check(inputs.at("check"), inputs.at("subject")).run(inputs.at("cases"), context.seed);
  return {{"value", outcome.value},
          {"bound", outcome.bound},
          {"holds", outcome.holds},
          {"detail", outcome.detail},
          {"cases", outcome.cases}};
}

void summarise(std::span<const Evidence> all, const std::string& caption, const Results& results,
               Summary& summary) {
  Table table{.name = "checks",
              .caption = caption,
              .columns = {{"claim", "claim"},
                          {"statement", "statement"},
                          {"models", "models"},
                          {"worst value", "value", 15},
                          {"bound", "bound", 15},
                          {"holds", "holds"}}};
  for (const Evidence& evidence : all) {
    const auto found = results.where({{"check", evidence.check}, {"subject", evidence.subject}});
    if (found.empty()) continue;
    const Json& outputs = found.front()->outputs;
    table.rows.push_back({evidence.claim, find_check(evidence.check, evidence.subject).statement,
                          std::int64_t{outputs.at("cases")}, number(outputs.at("value")),
                          number(outputs.at("bound")),
                          outputs.at("holds").get<bool>() ? "yes" : "no"});
    summary.add(measure(evidence, outputs));
  }
  summary.add(std::move(table));
}

}  // namespace

Experiment evidence_experiment(Experiment description, const EvidenceRun& run) {
  for (const Evidence& evidence : run.all)
    if (description.claims.empty() || description.claims.back() != evidence.claim)
      description.claims.emplace_back(evidence.claim);
  description.trials = [run](Profile profile) { return trials(run.all, run.models.at(profile)); };
  description.run = run_check;
  description.checks = true;
  description.summarise = [run](const Results& results, Summary& summary) {
    summarise(run.all, run.caption, results, summary);
  };
  return description;
}

}  // namespace boltzmark::experiments
