#include "tools/boltzmark/commands/score/score_result.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tools/boltzmark/bounds.hpp"
#include "tools/boltzmark/commands/estimate/estimate_options.hpp"
#include "tools/boltzmark/output.hpp"

namespace boltzmark::cli {
namespace {

std::string log_z_error(const Score& score, const std::string& method) {
  if (is_exact(method)) return "log Z is exact";
  if (!std::isfinite(score.log_z.std_error)) return "that of log Z is unknown";
  return short_number(score.log_z.std_error) + " nats of log Z";
}

// The keys that the score of a deep model has besides.
void add_deep_keys(const Score& score, JsonObject& object) {
  if (score.bound) object.set("mean_field_updates", score.bound->updates);
  if (!score.true_cases) return;
  const TrueCases& cases = *score.true_cases;
  object.set("true_cases", cases.cases)
      .set("true_mean_log_likelihood", finite(cases.mean_log_f - score.log_z.log_z))
      .set("true_std_error", finite(std::hypot(cases.std_error, score.log_z.std_error)))
      .set("true_status", std::string(name(cases.status)))
      .set("true_std_error_cases", finite(cases.spread))
      .set("true_bound", finite(cases.mean_bound - score.log_z.log_z));
}

void add_deep_facts(const Score& score, std::size_t cases, FactList& facts) {
  const double log_z = score.log_z.log_z;
  if (score.bound && std::isfinite(score.bound->mean_log_f - log_z))
    facts.add("bound", fmt::format("{:.10g} nats per case, by mean field ({})",
                                   score.bound->mean_log_f - log_z,
                                   score.bound->not_converged > 0
                                       ? "not converged"
                                       : fmt::format("at most {} updates", score.bound->updates)));
  if (!score.true_cases || !std::isfinite(score.true_cases->mean_log_f - log_z)) return;
  const TrueCases& truth = *score.true_cases;
  facts.add("true cases",
            fmt::format("{:.10g} nats per case over {} of {} cases by AIS, error {}; "
                        "their bound {:.10g}",
                        truth.mean_log_f - log_z, truth.cases, grouped(cases),
                        short_number(std::hypot(truth.std_error, score.log_z.std_error)),
                        truth.mean_bound - log_z));
}

}  // namespace

void print_score(const Score& score, const std::string& method, std::size_t cases,
                 const Session& session) {
  const double mean = score.mean_log_f - score.log_z.log_z;
  const std::string status(name(score.log_z.status));
  if (session.json) {
    JsonObject object;
    object.set("method", method).set("mean_log_likelihood", finite(mean));
    object.set("bound",
               score.bound ? finite(score.bound->mean_log_f - score.log_z.log_z) : std::nullopt);
    add_deep_keys(score, object);
    print(object.set("std_error", finite(score.log_z.std_error))
              .set("std_error_cases", finite(score.std_error_cases))
              .set("log_z", finite(score.log_z.log_z))
              .set("summed", score.summed)
              .set("lower_bound", finite(score.lowest))
              .set("seconds", score.seconds)
              .set("status", status)
              .set("warnings", score.log_z.warnings));
    return;
  }
  FactList facts;
  if (std::isfinite(mean))
    facts.add("mean log-likelihood", fmt::format("{:.10g} nats per case", mean));
  else if (std::isfinite(score.mean_log_f) || !score.bound)
    facts.add("mean log-likelihood", "no estimate: " + score.log_z.warnings.front());
  else
    facts.add("mean log-likelihood", "not enumerated: see the bound");
  add_deep_facts(score, cases, facts);
  facts.add("standard error",
            fmt::format("{}; {}",
                        std::isnan(score.std_error_cases)
                            ? "unknown over one case"
                            : fmt::format("{} nats over {} cases",
                                          short_number(score.std_error_cases), grouped(cases)),
                        log_z_error(score, method)));
  facts.add("log Z", std::isfinite(score.log_z.log_z)
                         ? fmt::format("{:.12g} nats", score.log_z.log_z)
                         : "no estimate");
  if (score.summed) facts.add("summed out", *score.summed + " layers");
  if (std::isfinite(score.lowest)) facts.add("log Z at least", certain_text(score.lowest));
  facts.add("status", status);
  facts.add("time", human_seconds(score.seconds));
  for (const std::string& warning : score.log_z.warnings) facts.add("warning", warning);
  print(facts.text());
}

}  // namespace boltzmark::cli
