#include <algorithm>
#include <cmath>

#include "experiments/kit/document.hpp"

namespace boltzmark::experiments {
namespace {

/// A number that is not finite has no JSON form.
Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json part_json(const JudgedPart& part, const Measure& measure, const std::string& experiment) {
  return {{"part", part.part.name},
          {"verdict", verdict_name(part.verdict)},
          {"test", assertion(part.part)},
          {"threshold", finite(part.part.threshold)},
          {"tolerance", part.part.tolerance},
          {"estimate", finite(measure.estimate)},
          {"lower", finite(measure.lower)},
          {"upper", finite(measure.upper)},
          {"interval", measure.interval},
          {"p_value", finite(measure.p_value)},
          {"p_opposite", finite(measure.p_opposite)},
          {"n", measure.n},
          {"power", finite(measure.power)},
          {"power_against", measure.power_against},
          {"power_of_n", measure.power_of_n},
          {"post_hoc", measure.post_hoc},
          {"experiment", experiment},
          {"note", measure.note},
          {"likely_reason", told_reason(part, measure)}};
}

Json parts_json(const JudgedClaim& claim) {
  Json parts = Json::array();
  for (const JudgedPart& part : claim.parts) {
    for (std::size_t m = 0; m < part.measures.size(); ++m)
      parts.push_back(part_json(part, part.measures[m], part.experiments[m]));
    if (part.measures.empty()) {
      parts.push_back(part_json(part, Measure{.claim = claim.claim.id}, ""));
      parts.back()["note"] = "not measured in this profile";
    }
  }
  return parts;
}

/// A claim's own numbers are those of the part that decides it: the first with its verdict.
Json claim_json(const JudgedClaim& judged, const std::string& paper) {
  const Json parts = parts_json(judged);
  const auto deciding = std::find_if(parts.begin(), parts.end(), [&](const Json& part) {
    return part["verdict"] == verdict_name(judged.verdict);
  });
  Json json = deciding == parts.end() ? parts.front() : *deciding;
  if (json["experiment"] == "") json["experiment"] = judged.claim.experiments.front();
  json["id"] = judged.claim.id;
  json["paper"] = paper;
  json["kind"] = std::string(1, judged.claim.kind);
  json["statement"] = judged.claim.statement;
  json["statistic"] = judged.claim.statistic;
  json["where"] = judged.claim.where;
  json["published"] = judged.claim.published;
  json["aside"] = judged.claim.aside;
  json["verdict"] = verdict_name(judged.verdict);
  json["registered"] = judged.claim.registered;
  json["changes"] = Json::array();
  for (const ClaimChange& change : judged.claim.changes)
    json["changes"].push_back({{"revision", change.revision},
                               {"reason", change.reason},
                               {"before", change.before},
                               {"after", change.after}});
  json["parts"] = parts;
  return json;
}

}  // namespace

Json claims_json(const Document& document) {
  Json all = Json::array();
  for (const PaperVerdicts& paper : document.papers)
    for (const JudgedClaim& claim : paper.claims)
      all.push_back(claim_json(claim, paper.file.paper));
  return all;
}

}  // namespace boltzmark::experiments
