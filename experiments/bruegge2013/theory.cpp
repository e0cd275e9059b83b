#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/exact/verifier.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {
namespace {

/// The registered check behind a claim, or behind one of its parts.
struct Evidence {
  const char* claim;
  const char* part;
  const char* check;
  const char* subject;
};
constexpr Evidence kEvidence[] = {
    {"B01", "", "detailed-balance", "flip"},
    {"B02", "double law", "invariance", "flip"},
    {"B02", "production sweep", "production-stationarity", "flip"},
    {"B03", "", "lemma-1", "flip"},
    {"B04", "", "irreducible", "flip"},
    {"B05", "", "modes-joined", "flip"},
    {"B06", "period", "aperiodic", "flip"},
    {"B06", "diagonal on M", "modes-stay", "flip"},
    {"B08", "", "independent-units", "gibbs"},
    {"B09", "", "independent-units", "flip"},
    {"B10", "", "changes-as-often", "flip"},
    {"B19", "G", "rate-of-convergence", "gibbs"},
    {"B19", "T", "rate-of-convergence", "flip"},
    {"B34", "G", "autocorrelation-time", "gibbs"},
    {"B34", "T", "autocorrelation-time", "flip"},
    {"B37", "tempered sweep", "tempered-invariance", "flip"},
    {"B37", "parallel tempering", "joint-invariance (flip)", "parallel-tempering"},
};
constexpr PerProfile<int> kCases{.smoke = 10, .quick = 200, .paper = 1000};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const Evidence& evidence : kEvidence)
    all.push_back(
        {{"check", evidence.check}, {"subject", evidence.subject}, {"cases", kCases.at(profile)}});
  return all;
}

const Check& find_check(const std::string& name, const std::string& subject) {
  for (const Check& check : registered_checks())
    if (check.name == name && check.subject == subject) return check;
  throw InvalidArgument("check = " + name + " of " + subject + " (must be registered)");
}

Json run(const Json& inputs, const TrialContext& context) {
  const CheckOutcome outcome =
      find_check(inputs.at("check"), inputs.at("subject")).run(inputs.at("cases"), context.seed);
  return {{"value", outcome.value},
          {"bound", outcome.bound},
          {"holds", outcome.holds},
          {"detail", outcome.detail},
          {"cases", outcome.cases}};
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "checks",
              .caption =
                  "Exact checks: the worst value over random RBMs (up to 4 units a side, zero "
                  "weights, ties and weights of 100 included) and what it must not exceed.",
              .columns = {{"claim", "claim"},
                          {"statement", "statement"},
                          {"models", "models"},
                          {"worst value", "value", 15},
                          {"bound", "bound", 15},
                          {"holds", "holds"}}};
  for (const Evidence& evidence : kEvidence) {
    const auto found = results.where({{"check", evidence.check}, {"subject", evidence.subject}});
    if (found.empty()) continue;
    const Json& outputs = found.front()->outputs;
    const double value = number(outputs.at("value"));
    table.rows.push_back({evidence.claim, find_check(evidence.check, evidence.subject).statement,
                          std::int64_t{outputs.at("cases")}, value, number(outputs.at("bound")),
                          outputs.at("holds").get<bool>() ? "yes" : "no"});
    summary.add(Measure{.claim = evidence.claim,
                        .part = evidence.part,
                        .estimate = value,
                        .n = outputs.at("cases"),
                        .note = outputs.at("detail").get<std::string>()});
  }
  summary.add(std::move(table));
}

}  // namespace

Experiment bruegge2013_theory() {
  return {
      .id = "bruegge2013/theory",
      .item = "Secs. 3.1, 3.3, 4 and 5.1",
      .title = "What the paper proves, checked by enumeration",
      .paper_did =
          "Proves that T leaves p unchanged and is irreducible and aperiodic, and derives how "
          "it behaves on independent units.",
      .settings = {.smoke = "Every check on 10 random RBMs.",
                   .quick =
                       "Every check on 200 random RBMs; the production sweep's law is recovered by "
                       "scripted draws.",
                   .paper = "Every check on 1,000 random RBMs."},
      .seconds = {.smoke = 0.2, .quick = 2, .paper = 8},
      .claims = {"B01", "B02", "B03", "B04", "B05", "B06", "B08", "B09", "B10", "B19", "B34",
                 "B37"},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments
