#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/claims.hpp"
#include "experiments/kit/text.hpp"

namespace boltzmark::experiments {
namespace {

bool holds(Test test, double value, double threshold) {
  switch (test) {
    case Test::less:
      return value < threshold;
    case Test::greater:
      return value > threshold;
    case Test::at_most:
      return value <= threshold;
    case Test::at_least:
      return value >= threshold;
    default:
      return value == threshold;
  }
}

/// Directions: all of the interval, none of it, or some of it satisfies the test. A direction's set
/// is convex, so its two ends decide.
Verdict judge_interval(const ClaimPart& part, double lower, double upper) {
  if (std::isnan(lower) || std::isnan(upper)) return Verdict::undecided;
  const double low = part.threshold - part.tolerance, high = part.threshold + part.tolerance;
  const bool meets = lower <= high && low <= upper;
  if (part.test == Test::contains) return meets ? Verdict::reproduced : Verdict::not_reproduced;
  if (part.test == Test::equivalent)
    return !meets                          ? Verdict::not_reproduced
           : low <= lower && upper <= high ? Verdict::reproduced
                                           : Verdict::undecided;
  if (part.test == Test::not_below)
    return upper >= part.threshold ? Verdict::reproduced : Verdict::not_reproduced;
  const int ends =
      holds(part.test, lower, part.threshold) + holds(part.test, upper, part.threshold);
  return ends == 2 ? Verdict::reproduced : ends == 0 ? Verdict::not_reproduced : Verdict::undecided;
}

/// The worst of several verdicts on what must all hold.
Verdict worst(Verdict a, Verdict b) {
  for (const Verdict verdict : {Verdict::not_reproduced, Verdict::undecided, Verdict::reproduced})
    if (a == verdict || b == verdict) return verdict;
  return Verdict::reported;
}

Verdict judge_part(const JudgedPart& part, char kind) {
  if (part.measures.empty()) return Verdict::undecided;
  Verdict verdict = judge(part.part, kind, part.measures.front());
  for (const Measure& measure : part.measures)
    verdict = worst(verdict, judge(part.part, kind, measure));
  return verdict;
}

JudgedClaim judge_claim(const Claim& claim, const std::vector<SourcedMeasure>& measures) {
  JudgedClaim judged{.claim = claim};
  for (const ClaimPart& part : claim.parts) judged.parts.push_back({.part = part});
  for (const SourcedMeasure& source : measures) {
    if (source.measure.claim != claim.id) continue;
    const auto part =
        std::find_if(judged.parts.begin(), judged.parts.end(),
                     [&](const JudgedPart& p) { return p.part.name == source.measure.part; });
    if (part == judged.parts.end())
      throw InvalidArgument(
          fmt::format("part = \"{}\" of {} in {} (must be one the claims file has)",
                      source.measure.part, claim.id, source.experiment));
    part->measures.push_back(source.measure);
    part->experiments.push_back(source.experiment);
  }
  for (JudgedPart& part : judged.parts) part.verdict = judge_part(part, claim.kind);
  judged.verdict = judged.parts.front().verdict;
  for (const JudgedPart& part : judged.parts) judged.verdict = worst(judged.verdict, part.verdict);
  return judged;
}

bool is_of_a_run(const Measure& measure) { return measure.n > 0 || !std::isnan(measure.estimate); }

}  // namespace

Verdict judge(const ClaimPart& part, char kind, const Measure& measure) {
  if (!measure.decidable || std::isnan(measure.estimate)) return Verdict::undecided;
  if (part.test == Test::reported) return Verdict::reported;
  if (kind == 'E')
    return holds(part.test, measure.estimate, part.threshold) ? Verdict::reproduced
                                                              : Verdict::not_reproduced;
  const bool by_interval =
      part.test == Test::contains || part.test == Test::equivalent || part.test == Test::not_below;
  if (!std::isnan(measure.p_value) && !by_interval) {
    // An estimate on the other side of the threshold speaks against its own p-value.
    const bool on_side = holds(part.test, measure.estimate, part.threshold);
    if (measure.p_value < 0.05 && on_side) return Verdict::reproduced;
    const double against =
        std::isnan(measure.p_opposite) ? 1 - measure.p_value : measure.p_opposite;
    if (against < 0.05 && !on_side) return Verdict::not_reproduced;
    return Verdict::undecided;
  }
  return judge_interval(part, measure.lower, measure.upper);
}

double times_as_many(const ClaimPart& part, char kind, const Measure& measure) {
  constexpr double kMost = 1000, kNone = std::numeric_limits<double>::quiet_NaN();
  const auto decides = [&](double times) {
    Measure more = measure;
    more.p_value = kNone;
    const double width = 1 / std::sqrt(times);
    more.lower = measure.estimate + width * (measure.lower - measure.estimate);
    more.upper = measure.estimate + width * (measure.upper - measure.estimate);
    return judge(part, kind, more) != Verdict::undecided;
  };
  const bool within = measure.lower < measure.estimate && measure.estimate < measure.upper;
  if (!within || decides(1) || !decides(kMost)) return kNone;
  double low = 1, high = kMost;
  while (high > 1.001 * low) {
    const double middle = std::sqrt(low * high);
    (decides(middle) ? high : low) = middle;
  }
  return high;
}

bool JudgedClaim::measured() const {
  return std::any_of(parts.begin(), parts.end(), [](const JudgedPart& part) {
    return std::any_of(part.measures.begin(), part.measures.end(), is_of_a_run);
  });
}

std::vector<JudgedClaim> judge_all(const ClaimFile& file,
                                   const std::vector<SourcedMeasure>& measures) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : file.claims) judged.push_back(judge_claim(claim, measures));
  return judged;
}

std::string told_reason(const JudgedPart& part, const Measure& measure) {
  const bool wrong_side =
      part.verdict == Verdict::undecided && measure.decidable &&
      judge_interval(part.part, measure.estimate, measure.estimate) == Verdict::not_reproduced;
  return part.verdict == Verdict::not_reproduced || wrong_side ? measure.likely_reason : "";
}

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::not_reproduced:
      return "not reproduced";
    case Verdict::undecided:
      return "undecided";
    case Verdict::reported:
      return "reported";
  }
  return "";
}

Verdict parse_verdict(const std::string& name) {
  for (const Verdict verdict :
       {Verdict::reproduced, Verdict::not_reproduced, Verdict::undecided, Verdict::reported})
    if (verdict_name(verdict) == name) return verdict;
  throw DataError(fmt::format("verdict = {} (must be that of a claim)", name));
}

std::string assertion(const ClaimPart& part) {
  std::string target = shortest_text(part.threshold);
  if (part.tolerance > 0) target += " ± " + shortest_text(part.tolerance);
  switch (part.test) {
    case Test::less:
      return "< " + target;
    case Test::greater:
      return "> " + target;
    case Test::at_most:
      return "≤ " + target;
    case Test::at_least:
      return "≥ " + target;
    case Test::equal:
      return "= " + target;
    case Test::contains:
      return (part.tolerance > 0 ? "interval meets " : "interval contains ") + target;
    case Test::equivalent:
      return "interval within " + target;
    case Test::not_below:
      return "interval not below " + target;
    case Test::reported:
      return "no direction promised";
  }
  return "";
}

std::string assertion(const Claim& claim) {
  std::vector<std::string> all;
  for (const ClaimPart& part : claim.parts)
    if (const std::string text = assertion(part);
        std::find(all.begin(), all.end(), text) == all.end())
      all.push_back(text);
  return fmt::format("{}", fmt::join(all, "; "));
}

}  // namespace boltzmark::experiments
