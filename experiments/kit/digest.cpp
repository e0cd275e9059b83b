#include "experiments/kit/digest.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/io/sha256.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {
namespace {

std::string digest_of(const std::string& text) {
  return sha256(text.data(), text.size()).substr(0, 8);
}

/// What other orders of a sum may change is left out.
std::string rounded(double value) {
  if (std::isnan(value)) return "nan";
  if (std::abs(value) < 1e-9) return "0";
  return fmt::format("{:.5e}", value);
}

std::string measure_line(const Measure& measure) {
  return fmt::format("{}: {} [{}, {}] p {} {} n {} {}\n", measure.part, rounded(measure.estimate),
                     rounded(measure.lower), rounded(measure.upper), rounded(measure.p_value),
                     rounded(measure.p_opposite), measure.n,
                     measure.decidable ? "" : "undecidable");
}

}  // namespace

std::string text_digest(const Claim& claim) {
  std::string text = fmt::format("{}\n{}\n{}\n", claim.kind, claim.statement, claim.statistic);
  for (const ClaimPart& part : claim.parts)
    text += fmt::format("{}: {}\n", part.name, assertion(part));
  return digest_of(text);
}

std::vector<Measure> measures_of_trials(const Experiment& experiment,
                                        const std::map<std::string, Trial>& trials) {
  std::vector<Json> planned;
  std::vector<Trial> finished;
  for (const auto& [inputs, trial] : trials) {
    planned.push_back(trial.inputs);
    finished.push_back(trial);
  }
  Summary summary;
  experiment.summarise(Results(Profile::paper, planned, finished), summary);
  return summary.measures();
}

std::map<std::string, std::string> measure_digests(const std::vector<Measure>& measures) {
  std::map<std::string, std::string> lines;
  for (const Measure& measure : measures) lines[measure.claim] += measure_line(measure);
  for (auto& [claim, text] : lines) text = digest_of(text);
  return lines;
}

std::map<std::string, std::string> check_digests(const std::vector<Measure>& measures) {
  std::map<std::string, std::string> lines;
  for (const Measure& measure : measures)
    if (!measure.check.empty())
      lines[measure.claim] +=
          fmt::format("{}: {} {}\n", measure.part, measure.check, measure.bound);
  for (auto& [claim, text] : lines) text = digest_of(text);
  return lines;
}

}  // namespace boltzmark::experiments
