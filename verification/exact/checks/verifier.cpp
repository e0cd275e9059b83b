// The registered checks hold, and claims rest on them.
#include "verification/checks/verifier.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/claims.hpp"
#include "verification/checks/check_cases.hpp"

using namespace boltzmark;

namespace {

// Whether a bound is near what is found: in double within 1e8 of it, and within 1e4 where float32
// or central differences round. A check that compares a thing with itself finds 0. Counts of
// violations and bits have a bound of 0; 2 x is x + x to the last bit, and a share may be 0.
bool is_near(const Check& check, const CheckOutcome& outcome) {
  if (check.bound == 0 || check.name == "tied-statistics" || check.name == "variance-correction")
    return true;
  return std::abs(outcome.value) * (check.bound < 5e-8 ? 1e8 : 1e4) >= check.bound;
}

}  // namespace

TEST_CASE("every registered check holds") {
  for (const Check& check : registered_checks()) {
    CAPTURE(check.name, check.subject);
    const CheckOutcome outcome = check.run(12, 1);
    CAPTURE(outcome.value, outcome.bound, outcome.detail);
    REQUIRE(std::isfinite(outcome.value));
    REQUIRE(outcome.holds);
    REQUIRE(outcome.cases >= 1);
    CHECK(outcome.bound == check.bound);
    CHECK(is_near(check, outcome));
  }
}

TEST_CASE("what must exceed its bound does not hold where no case does") {
  const auto holds = [](double first, double others) {
    const Check check = exceeding_check(
        {.name = "n", .subject = "s", .statement = "", .bound = 0.1}, [=](Stream& stream) {
          return CaseOutcome{stream.below(4) == 0 ? first : others, ""};
        });
    return check.run(50, 1).holds;
  };
  CHECK(holds(0.2, 0));  // of 50 cases some draw `first`: all others with probability 6e-7
  CHECK_FALSE(holds(0.1, 0.1));
  CHECK_FALSE(holds(0.1, 0));
  CHECK_FALSE(holds(NAN, 0.2));
}

TEST_CASE("checks have distinct names for a subject, and claims rest on checks that there are") {
  std::set<std::string> names, claims;
  for (const Check& check : registered_checks()) {
    REQUIRE(names.insert(check.name + "/" + check.subject).second);
    REQUIRE_FALSE(check.statement.empty());
  }
  for (const experiments::ClaimFile& file : experiments::read_all_claims())
    for (const experiments::Claim& claim : file.claims) {
      CAPTURE(claim.id);
      for (const std::string& check : claim.checks) REQUIRE(names.contains(check));
      if (!claim.checks.empty()) claims.insert(claim.id);
    }
  for (const char* id :
       {"B01", "B02", "B03", "B04", "B05", "B06", "B07", "B08", "B09", "B10", "B11",
        "B12", "B13", "B14", "B19", "B34", "B37", "C01", "C02", "C03", "C04", "C10",
        "C12", "C17", "C18", "C22", "C23", "C24", "C25", "C26", "C59", "S01", "S02",
        "S03", "S04", "S05", "S08", "S09", "S11", "S12", "S22", "S33", "S34", "Y01",
        "Y02", "Y03", "Y04", "Y05", "Y06", "Y17", "Y18", "Y19"}) {
    CAPTURE(id);
    REQUIRE(claims.contains(id));
  }
}

TEST_CASE("a check finds the same worst case on one thread and on many") {
  for (const Check& check : registered_checks()) {
    if (check.name != "detailed-balance") continue;
    const CheckOutcome many = check.run(20, 3);
    const ThreadLimit limit(1);
    const CheckOutcome one = check.run(20, 3);
    REQUIRE(many.value == one.value);
    REQUIRE(many.detail == one.detail);
  }
}
