#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/kit/experiment.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// What a claim asserts about its statistic s.
///   less s < t, greater s > t, at_most s <= t, at_least s >= t, equal s = t; contains: the 95 %
///   interval of s comes within the tolerance of t; equivalent: all of it lies there; not_below: it
///   holds t or lies above; reported: nothing, the numbers are given without a verdict
enum class Test {
  less,
  greater,
  at_most,
  at_least,
  equal,
  contains,
  equivalent,
  not_below,
  reported
};

enum class Verdict { reproduced, not_reproduced, undecided, reported };

/// What the committed report (reports/reference) says of a claim: the run at the largest settings
/// so far, the paper's own where they were run.
struct CommittedVerdict {
  Verdict verdict = Verdict::undecided;
  int parts = 0;  ///< of the claim
  int run = 0;    ///< of which were measured
};

/// One part of a claim: all parts must hold. A claim without parts has one, with an empty name.
struct ClaimPart {
  std::string name = {};
  Test test = Test::reported;
  double threshold = std::numeric_limits<double>::quiet_NaN();
  double tolerance = 0;  ///< of contains and equivalent, about the threshold
};

/// What a claim was judged by: "text" -> text_digest, for each experiment that measures it,
/// item -> what its statistic makes of a fixture, and, where exact checks decide it, "checks" ->
/// which and at what bounds (digest.hpp).
using Digests = std::map<std::string, std::string>;

/// A change of a claim's statistic, window or test after a trial that it judges had been kept, or a
/// result been seen.
struct ClaimChange {
  std::string revision;  ///< the last at which the earlier form stood
  std::string reason;
  std::string before;     ///< the verdict and numbers that the earlier form gave
  std::string after;      ///< those of the new form, then
  Digests replaced = {};  ///< the digests that stood before, as far as there were any
};

/// A statement of a paper that a table or figure supports (reports/claims/<paper>.toml).
/// Kinds: E exact, no randomness; D direction with an interval; V value; C cost ratio.
struct Claim {
  std::string id;
  char kind = 'D';
  std::string statement;
  std::string statistic;
  std::vector<ClaimPart> parts = {};
  std::string where;
  std::string published = {};
  std::string note = {};
  /// Whose it is or what it contradicts, where it is none of the paper's own; empty: the paper's.
  std::string aside = {};
  /// What it waits for beside the trials that are planned; empty: they are to decide it.
  std::string to_decide = {};
  /// Inputs of the trials that judge it, each as Results::where takes them; none: all of its experiments' may.
  std::vector<Json> cells = {};
  std::vector<std::string> experiments;  ///< ids of those that measure it
  /// "name/subject" of the exact checks that speak of it, those that decide it among them.
  std::vector<std::string> checks = {};
  std::string registered = {};            ///< parent of the commit that fixed it first
  Digests digest = {};                    ///< of what it is judged by now
  std::vector<ClaimChange> changes = {};  ///< in order; none: it is judged as it was registered
  std::optional<CommittedVerdict> committed = {};
};

/// The claims of one paper.
struct ClaimFile {
  std::string paper;
  std::string title;
  std::string reference;
  std::vector<Claim> claims = {};
};

/// Tells whether a trial of these inputs is among those that judge a claim, as far as its cells say.
bool judges(const Claim& claim, const Json& inputs);

/// Reads a claims file. A cell's value that is an array stands for each of its values.
/// Throws  DataError on bad TOML, an unknown key, kind or test, a missing field or a repeated id
ClaimFile read_claims(const std::string& path);

/// Reads every claims file of the source tree, by name, with what the committed report says.
std::vector<ClaimFile> read_all_claims();

/// Throws  DataError naming the claim and the id unless every claim is judged by experiments that there are
void check_experiments(const ClaimFile& file, const std::vector<Experiment>& all);

/// Decides one part from one measure.
///   Exact claims compare the estimate with the threshold. Others: reproduced if the one-sided
///   p-value is below 0.05 (without one: if the whole 95 % interval satisfies the test), not
///   reproduced if that of the opposite direction is (if none of the interval does), otherwise
///   undecided; undecided too if the estimate lies on the other side of the threshold than its
///   p-value says.
Verdict judge(const ClaimPart& part, char kind, const Measure& measure);

/// Estimates how many times as many repeats would decide a part, were its estimate to stay and its interval to shrink
/// as one over the root of their number; a p-value is not asked, for it would change too.
/// Returns  NaN where no number of up to a thousand times as many would, or the interval does not hold the estimate
/// within it, and so is none that shrinks in that way
double times_as_many(const ClaimPart& part, char kind, const Measure& measure);

/// A part with its measures, judged.
struct JudgedPart {
  ClaimPart part;
  std::vector<Measure> measures = {};         ///< one per experiment that supplied it
  std::vector<std::string> experiments = {};  ///< their ids
  Verdict verdict = Verdict::undecided;       ///< undecided without a measure
};

/// A claim, judged: not reproduced if a part is not, else undecided if a part is, else reproduced.
struct JudgedClaim {
  Claim claim;
  std::vector<JudgedPart> parts = {};
  Verdict verdict = Verdict::undecided;
  /// Tells whether something was run for it: a measure without repeats and estimate says that nothing was.
  bool measured() const;
};

/// A measure and the experiment that it comes from.
struct SourcedMeasure {
  std::string experiment;
  Measure measure;
};

/// Judges every claim of a file.
/// Throws  InvalidArgument if a measure names a part that its claim does not have
std::vector<JudgedClaim> judge_all(const ClaimFile& file,
                                   const std::vector<SourcedMeasure>& measures);

/// Returns the likely reason of a measure where there is something to explain: its part is not
/// reproduced, or is undecided with the estimate on the wrong side; empty elsewhere.
std::string told_reason(const JudgedPart& part, const Measure& measure);

/// Writes a verdict as the report shows it: "not reproduced".
std::string verdict_name(Verdict verdict);
/// Reads a verdict as verdict_name writes it.
/// Throws  DataError if no verdict has that name
Verdict parse_verdict(const std::string& name);
/// Writes what a part asserts: "< 0.05", "interval contains 0.1728".
std::string assertion(const ClaimPart& part);
/// Writes what a claim does: what each part asserts, the same once: "> 40; < 60".
std::string assertion(const Claim& claim);

}  // namespace boltzmark::experiments
