#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/claims.hpp"
#include "experiments/kit/files.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

Verdict decide(Test test, double threshold, Measure measure, char kind = 'D') {
  return judge({.name = "", .test = test, .threshold = threshold}, kind, measure);
}

Measure interval(double lower, double upper) {
  return {.claim = "B01", .estimate = 0.5 * (lower + upper), .lower = lower, .upper = upper};
}

TEST_CASE("a direction is reproduced, not reproduced or undecided as its interval lies") {
  CHECK(decide(Test::greater, 0, interval(0.1, 0.3)) == Verdict::reproduced);
  CHECK(decide(Test::greater, 0, interval(-0.3, -0.1)) == Verdict::not_reproduced);
  CHECK(decide(Test::greater, 0, interval(-0.1, 0.3)) == Verdict::undecided);
  CHECK(decide(Test::less, 0, interval(-0.3, -0.1)) == Verdict::reproduced);
  CHECK(decide(Test::less, 0, interval(0.1, 0.3)) == Verdict::not_reproduced);
  CHECK(decide(Test::less, 0, interval(-0.1, 0.3)) == Verdict::undecided);
}

TEST_CASE(
    "repeats that decide are as many times as many as the square of what the interval shrinks by") {
  const auto times = [](Test test, double threshold, double tolerance, Measure measure) {
    return times_as_many({.test = test, .threshold = threshold, .tolerance = tolerance}, 'D',
                         measure);
  };
  const Measure wide = interval(-0.2, 0.6);  // 0.2, to either side 0.4
  CHECK(times(Test::greater, 0, 0, wide) == Approx(4).epsilon(2e-3));
  CHECK(times(Test::greater, 0.3, 0, wide) == Approx(16).epsilon(2e-3));  // not reproduced then
  CHECK(times(Test::equivalent, 0.2, 0.2, wide) == Approx(4).epsilon(2e-3));
  Measure by_ranks = wide;
  by_ranks.p_value = 0.2;
  CHECK(times(Test::greater, 0, 0, by_ranks) == Approx(4).epsilon(2e-3));
  // Never, decided already, at an end of its interval, and not to be decided.
  CHECK(std::isnan(times(Test::greater, 0.2, 0, wide)));
  CHECK(std::isnan(times(Test::greater, -1, 0, wide)));
  Measure none = wide;
  none.estimate = none.lower;
  CHECK(std::isnan(times(Test::greater, 0, 0, none)));
  Measure refused = wide;
  refused.decidable = false;
  CHECK(std::isnan(times(Test::greater, 0, 0, refused)));
}

TEST_CASE("an interval that touches the threshold decides only where equality is allowed") {
  CHECK(decide(Test::greater, 0, interval(0, 0.3)) == Verdict::undecided);
  CHECK(decide(Test::at_least, 0, interval(0, 0.3)) == Verdict::reproduced);
  CHECK(decide(Test::at_most, 1.02, interval(0.9, 1.02)) == Verdict::reproduced);
  CHECK(decide(Test::at_most, 1.02, interval(1.03, 1.1)) == Verdict::not_reproduced);
}

TEST_CASE("a value is reproduced exactly when the interval contains it") {
  CHECK(decide(Test::contains, 0.1728, interval(0.1, 0.2), 'V') == Verdict::reproduced);
  CHECK(decide(Test::contains, 0.1728, interval(0.18, 0.2), 'V') == Verdict::not_reproduced);
  CHECK(decide(Test::contains, 0.1728, {.claim = "B29", .estimate = 0.17}, 'V') ==
        Verdict::undecided);
}

TEST_CASE("a ratio that should not fall is refuted only by an interval below") {
  CHECK(decide(Test::not_below, 1, interval(0.8, 1.2), 'D') == Verdict::reproduced);
  CHECK(decide(Test::not_below, 1, interval(1.1, 1.2), 'D') == Verdict::reproduced);
  CHECK(decide(Test::not_below, 1, interval(0.8, 0.9), 'D') == Verdict::not_reproduced);
}

TEST_CASE("a value may be met within a tolerance, which the interval itself does not take in") {
  const ClaimPart near{.test = Test::contains, .threshold = 451.255, .tolerance = 0.1};
  CHECK(judge(near, 'V', interval(451.3, 451.4)) == Verdict::reproduced);
  CHECK(judge(near, 'V', interval(451.36, 451.4)) == Verdict::not_reproduced);
  CHECK(assertion(near) == "interval meets 451.255 ± 0.1");
}

TEST_CASE("a part whose test reads no tolerance has not that of its claim") {
  const ClaimFile calibration = read_claims(source_path("reports/claims/calibration.toml"));
  const auto claim = std::find_if(calibration.claims.begin(), calibration.claims.end(),
                                  [](const Claim& of) { return of.id == "K03"; });
  REQUIRE(claim != calibration.claims.end());
  CHECK(assertion(*claim) == "interval within 0.95 ± 0.01; ≥ 0.95");
}

TEST_CASE("a claim asserts what each of its parts does, the same once") {
  Claim claim = toy_claims().claims[1];
  CHECK(assertion(claim) == "> 0");
  claim.parts[1].test = Test::less;
  claim.parts[1].threshold = 0.5;
  CHECK(assertion(claim) == "> 0; < 0.5");
}

TEST_CASE(
    "equivalence asks for all of the interval within the margin, and is undecided across it") {
  const ClaimPart same{.test = Test::equivalent, .threshold = 1, .tolerance = 0.1};
  CHECK(judge(same, 'D', interval(0.95, 1.05)) == Verdict::reproduced);
  CHECK(judge(same, 'D', interval(1.01, 1.02)) == Verdict::reproduced);
  CHECK(judge(same, 'D', interval(0.85, 1.05)) == Verdict::undecided);
  CHECK(judge(same, 'D', interval(0.85, 1.15)) == Verdict::undecided);
  CHECK(judge(same, 'D', interval(1.11, 1.15)) == Verdict::not_reproduced);
}

TEST_CASE("a one-sided p-value takes the place of the interval") {
  const auto with_p = [](double p) {
    const double estimate = p < 0.5 ? 0.1 : -0.1;
    return Measure{.claim = "B15", .estimate = estimate, .lower = -1, .upper = 1, .p_value = p};
  };
  CHECK(decide(Test::greater, 0, with_p(0.049)) == Verdict::reproduced);
  CHECK(decide(Test::greater, 0, with_p(0.05)) == Verdict::undecided);
  CHECK(decide(Test::greater, 0, with_p(0.95)) == Verdict::undecided);
  CHECK(decide(Test::greater, 0, with_p(0.951)) == Verdict::not_reproduced);
}

// Of a signed-rank test: all differences zero; one, four and five differences, all negative.
TEST_CASE("a discrete test refutes a claim only if its other side's p-value is below 0.05") {
  const auto with = [](double p_opposite) {
    return Measure{.claim = "B15", .estimate = -0.1, .p_value = 1, .p_opposite = p_opposite};
  };
  for (const double p_opposite : {1.0, 0.5, 0.0625, 0.05})
    CHECK(decide(Test::greater, 0, with(p_opposite)) == Verdict::undecided);
  CHECK(decide(Test::greater, 0, with(0.03125)) == Verdict::not_reproduced);
  CHECK(decide(Test::less, -1, with(0.03125)) == Verdict::not_reproduced);
  CHECK(decide(Test::less, 0, with(0.03125)) == Verdict::undecided);  // the estimate disagrees
}

TEST_CASE("an exact claim compares its number and needs no interval") {
  CHECK(decide(Test::at_most, 1e-12, {.claim = "B01", .estimate = 1e-12}, 'E') ==
        Verdict::reproduced);
  CHECK(decide(Test::at_most, 1e-12, {.claim = "B01", .estimate = 2e-12}, 'E') ==
        Verdict::not_reproduced);
  CHECK(decide(Test::equal, 1, {.claim = "B04", .estimate = 2}, 'E') == Verdict::not_reproduced);
}

TEST_CASE("a measure without a number or marked undecidable leaves the claim undecided") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(decide(Test::at_most, 1e-12, {.claim = "B01", .estimate = nan}, 'E') == Verdict::undecided);
  Measure disagreeing = interval(0.1, 0.3);
  disagreeing.decidable = false;
  CHECK(decide(Test::greater, 0, disagreeing) == Verdict::undecided);
  CHECK(decide(Test::greater, 0, {.claim = "B15", .estimate = 1}) == Verdict::undecided);
}

TEST_CASE("an estimate on the wrong side of its threshold is no verdict, whatever its p-value") {
  Measure measure = interval(-0.3851, 0.2714);
  measure.estimate = -0.05686;
  measure.p_value = 0.00084;
  CHECK(decide(Test::greater, 0, measure) == Verdict::undecided);
  measure.estimate = 0.05686;
  CHECK(decide(Test::greater, 0, measure) == Verdict::reproduced);
  measure.p_value = 0.99916;
  CHECK(decide(Test::greater, 0, measure) == Verdict::undecided);
}

TEST_CASE("a claim holds only if all of its parts do, from whichever experiments they come") {
  const ClaimFile file = toy_claims();  // T02 has the parts small and large, both greater than 0
  const auto verdict = [&](std::vector<SourcedMeasure> measures) {
    return judge_all(file, measures).at(1).verdict;
  };
  const auto part = [](const char* name, double low, double high) {
    Measure measure = interval(low, high);
    measure.claim = "T02";
    measure.part = name;
    return SourcedMeasure{"toy/one", measure};
  };
  CHECK(verdict({}) == Verdict::undecided);
  CHECK(verdict({part("small", 1, 2)}) == Verdict::undecided);
  CHECK(verdict({part("small", 1, 2), part("large", 1, 2)}) == Verdict::reproduced);
  CHECK(verdict({part("small", 1, 2), part("large", -1, 2)}) == Verdict::undecided);
  CHECK(verdict({part("small", -2, -1), part("large", -1, 2)}) == Verdict::not_reproduced);
  CHECK(verdict({part("small", 1, 2), part("large", 1, 2), part("large", -2, -1)}) ==
        Verdict::not_reproduced);
  CHECK_THROWS_AS(verdict({part("huge", 1, 2)}), InvalidArgument);
}

TEST_CASE("the claims of bruegge2013 are exactly B01 to B37, those of yokoyama2019 Y01 to Y24") {
  for (const auto& [paper, letter, count] :
       {std::tuple("bruegge2013", "B", 37), {"yokoyama2019", "Y", 24}}) {
    const ClaimFile file = read_claims(source_path(fmt::format("reports/claims/{}.toml", paper)));
    REQUIRE(file.claims.size() == static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      CHECK(file.claims[i].id == fmt::format("{}{:02}", letter, i + 1));
  }
}

TEST_CASE("the claims file of salakhutdinov2010 has claims of S01 to S36, in order") {
  const ClaimFile file = read_claims(source_path("reports/claims/salakhutdinov2010.toml"));
  std::string last = "S00";
  for (const Claim& claim : file.claims) {
    CHECK(last < claim.id);
    CHECK(claim.id.size() == 3);
    last = claim.id;
  }
  CHECK(last <= "S36");
}

TEST_CASE("every experiment measures claims that exist and that name it") {
  const auto files = read_all_claims();
  for (const Experiment& experiment : experiments())
    for (const std::string& id : experiment.claims) {
      INFO(experiment.id << " " << id);
      const Claim* found = nullptr;
      for (const ClaimFile& file : files)
        for (const Claim& claim : file.claims)
          if (claim.id == id && file.paper == experiment.paper()) found = &claim;
      REQUIRE(found != nullptr);
      CHECK(std::count(found->experiments.begin(), found->experiments.end(), experiment.id) == 1);
    }
}

TEST_CASE("every experiment's source is where its id says") {
  std::set<std::string> ids;
  for (const Experiment& experiment : experiments()) {
    INFO(experiment.id);
    CHECK(ids.insert(experiment.id).second);
    CHECK_NOTHROW(read_text(source_path("experiments/" + experiment.id + ".cpp")));
  }
}

TEST_CASE(
    "a likely reason is told of what lies on the wrong side, and of nothing that cannot be decided") {
  const auto told = [](Test test, double estimate, bool decidable) {
    const JudgedPart part{.part = {.name = "", .test = test, .threshold = 0, .tolerance = 0.1},
                          .verdict = Verdict::undecided};
    return told_reason(
        part,
        Measure{.claim = "A1", .estimate = estimate, .decidable = decidable, .likely_reason = "r"});
  };
  CHECK(told(Test::greater, -1, true) == "r");
  CHECK(told(Test::greater, -1, false).empty());
  CHECK(told(Test::greater, 1, true).empty());
  // Within the margin is the right side, though it is not the threshold.
  CHECK(told(Test::equivalent, 0.02, true).empty());
  CHECK(told(Test::contains, -0.02, true).empty());
  CHECK(told(Test::equivalent, 0.2, true) == "r");
}

TEST_CASE(
    "a claim is judged by experiments that there are, whose measures a file of claims judges") {
  std::vector<Experiment> all(2);
  all[0].id = "p/e", all[1].id = "p/f";
  ClaimFile file{.paper = "p", .title = "", .reference = ""};
  file.claims.resize(1);
  file.claims[0].id = "A1", file.claims[0].experiments = {"p/f", "p/e"};
  CHECK_NOTHROW(check_experiments(file, all));
  file.claims.resize(2);
  file.claims[1].id = "A2", file.claims[1].experiments = {"p/e", "p/g"};
  CHECK_THROWS_WITH(check_experiments(file, all), Catch::Contains("A2") && Catch::Contains("p/g") &&
                                                      Catch::Contains("claims of p"));
}

TEST_CASE("a faulty claims file is refused with its name and the reason") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/claims.toml";
  const std::string head = "paper='p'\ntitle='t'\nreference='r'\n";
  const std::string claim =
      "[[claim]]\nid='A1'\nkind='D'\nstatement='s'\nstatistic='t'\ntest='less'\nthreshold=0\n"
      "where='w'\nexperiments=['p/e']\n";
  const auto refusal = [&](const std::string& text) -> std::string {
    write_text(path, text);
    try {
      read_claims(path);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(refusal(head + claim) == "accepted");
  CHECK_THAT(refusal(head + claim + claim), Catch::Contains("A1 is repeated"));
  std::string other = claim;
  other.replace(other.find("A1"), 2, "A2");
  CHECK(refusal(head + claim + other) == "accepted");
  CHECK_THAT(refusal(head + claim + other + claim), Catch::Contains("A1 is repeated"));
  CHECK_THAT(refusal(head + claim + "colour='red'\n"), Catch::Contains("unknown key colour"));
  CHECK_THAT(refusal(head + claim + "parts=[{nam='x'}]\n"), Catch::Contains("unknown key nam"));
  CHECK_THAT(refusal(head + "[[claim]]\nid='A1'\n"), Catch::Contains("is missing"));
  CHECK_THAT(refusal(head + "[[claim"), Catch::Contains("must be TOML"));
  other = claim;
  other.replace(other.find("'p/e'"), 5, "'p/e', 3");
  CHECK_THAT(refusal(head + other), Catch::Contains("must be an array of strings"));
  CHECK_THAT(refusal(head), Catch::Contains("no claim"));
  std::string bad = claim;
  CHECK_THAT(refusal(head + bad.replace(bad.find("'less'"), 6, "'lots'")),
             Catch::StartsWith(path) && Catch::Contains("test = lots"));
  bad = claim;
  CHECK_THAT(refusal(head + bad.replace(bad.find("'D'"), 3, "'X'")), Catch::Contains("kind = X"));
  bad = claim;
  CHECK_THAT(refusal(head + bad.replace(bad.find("threshold=0"), 11, "note='n'")),
             Catch::Contains("threshold is missing"));
  bad = claim;
  bad.replace(bad.find("'less'"), 6, "'equivalent'");
  CHECK_THAT(refusal(head + bad), Catch::Contains("tolerance is missing"));
  CHECK(refusal(head + bad + "tolerance=0.1\n") == "accepted");
  CHECK_THAT(refusal(head + bad + "tolerance=-0.1\n"), Catch::Contains("tolerance is negative"));
  CHECK_THAT(refusal(head + claim + "tolerance=0.1\n"), Catch::Contains("not read by this test"));
}

}  // namespace
}  // namespace boltzmark::experiments
