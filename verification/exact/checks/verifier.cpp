// The registered checks hold, and claims rest on them.
#include "verification/checks/verifier.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>

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

TEST_CASE("each check is held to the bound that is written here") {
  // Double precision sums of up to 2^10 terms to 1e-12, of logarithms to 1e-10; single precision to 1e-6; counts of
  // violations to none.
  const std::map<double, std::set<std::string>> bounds = {
      {0,
       {"counter-example", "changes-as-often", "activation-difference", "whole-matrix-transform",
        "lemma-1", "theorem-1-climb", "modes-joined", "modes-stay", "periodic-scan", "bias-sign",
        "still-at-the-data", "positive-phase", "negative-phase"}},
      {1e-14, {"two-spins/multivalued"}},
      {1e-12,
       {"detailed-balance",
        "invariance",
        "detailed-balance (discrete units)",
        "invariance (discrete units)",
        "independent-units",
        "tempered-invariance",
        "tempered-invariance (discrete units)",
        "joint-invariance (gibbs)",
        "joint-invariance (flip)",
        "joint-invariance (blend:0.5)",
        "enumeration",
        "enumeration (discrete units)",
        "pair-invariance (joint states, gibbs rungs, gibbs)",
        "pair-invariance (joint states, gibbs rungs, flip)",
        "pair-invariance (joint states, gibbs rungs, blend:0.5)",
        "pair-invariance (collapsed states, gibbs rungs, gibbs)",
        "pair-invariance (joint states, metropolis rungs, gibbs)",
        "pair-invariance (joint states, metropolis rungs, flip)",
        "pair-invariance (joint states, metropolis rungs, blend:0.5)",
        "pair-invariance (collapsed states, metropolis rungs, gibbs)",
        "pair-invariance",
        "rung-law",
        "rung-chain",
        "bridge-identity",
        "expected-counts",
        "discretisation",
        "mean-log-weight",
        "inverse-transform",
        "blocked-gibbs",
        "kept-states",
        "joint-invariance",
        "handed-over-law",
        "handed-over-kernel",
        "reweighted-law",
        "equal-weights",
        "every-path",
        "fast-weights",
        "growing-acceptance",
        "tied-statistics",
        "composed-law",
        "below-log-z",
        "below-log-z (discrete units)"}},
      {1e-11, {"bound-never-falls"}},
      {1e-10,
       {"dbm-likelihood", "dbm-likelihood (discrete units)", "exact-occupancies",
        "likelihood-gradient", "concave-likelihood", "mean-weight", "mean-weight (base of modes)",
        "annealed-law", "spins-are-bits", "bound-below", "log-z-quadrature"}},
      {1e-09,
       {"random-scan", "continuous-temperatures", "riemann-sum", "psi-slope",
        "standardised-density"}},
      {1e-08, {"autocorrelation-time"}},
      {1e-07, {"gradient-slope"}},
      {1e-06,
       {"production-stationarity", "bound-slope", "production-pair-invariance",
        "production-joint-invariance", "production-exchange",
        "production-law/tempered-transitions"}},
      {0x1p-18, {"updates-follow-law"}},
      {1e-05, {"mean-weight (production sweep)", "mean-weight (discrete units)"}},
      {0.0001, {"two-spins/partition"}},
      {10.0 / 65535, {"phi-limit"}},
      {0.001, {"handed-over-distance"}},
      {0.01, {"rate-of-convergence", "constant-factor-distance"}},
      {0.1, {"constant-factor"}},
      {0.4, {"leaves-p"}},
      {0.5, {"variance-correction"}},
      {1,
       {"irreducible", "aperiodic", "production-law/gibbs", "production-law/flip",
        "production-law/blend:0.5", "production-law/metropolis", "production-law (discrete units)",
        "production-stationarity (discrete units)", "rao-blackwell", "first-order",
        "continuous-limit", "inverse-normal"}},
      {4, {"phi-closed-form"}},
  };
  std::map<std::string, double> expected;
  for (const auto& [bound, names] : bounds)
    for (const std::string& name : names) expected[name] = bound;
  for (const Check& check : registered_checks()) {
    const std::string both = check.name + "/" + check.subject,
                      key = expected.contains(both) ? both : check.name;
    INFO(both);
    REQUIRE(expected.contains(key));
    CHECK(check.bound == expected[key]);
  }
}

TEST_CASE("what must exceed its bound does not hold where no case does") {
  const auto holds = [](double first, double others) {
    const Check check = exceeding_check("n", "s", "", 0.1, [=](Stream& stream) {
      return CaseOutcome{stream.below(4) == 0 ? first : others, ""};
    });
    return check.run(50, 1).holds;
  };
  CHECK(holds(0.2, 0));  // of 50 cases some draw `first`: all others with probability 6e-7
  CHECK_FALSE(holds(0.1, 0.1));
  CHECK_FALSE(holds(0.1, 0));
  CHECK_FALSE(holds(NAN, 0.2));
}

TEST_CASE("these checks are registered, and no others") {
  const std::map<std::string, std::set<std::string>> expected = {
      {"detailed-balance", {"gibbs", "flip", "blend:0.5", "metropolis", "tempered-transitions"}},
      {"invariance", {"gibbs", "flip", "blend:0.5", "metropolis"}},
      {"detailed-balance (discrete units)", {"gibbs", "flip", "blend:0.5", "metropolis"}},
      {"invariance (discrete units)", {"gibbs", "flip", "blend:0.5", "metropolis"}},
      {"counter-example", {"metropolis"}},
      {"independent-units", {"gibbs", "flip"}},
      {"changes-as-often", {"flip", "blend:0.5"}},
      {"activation-difference", {"flip"}},
      {"whole-matrix-transform", {"flip"}},
      {"lemma-1", {"gibbs", "flip", "blend:0.5"}},
      {"theorem-1-climb", {"gibbs", "flip", "blend:0.5"}},
      {"irreducible", {"gibbs", "flip", "blend:0.5"}},
      {"modes-joined", {"gibbs", "flip", "blend:0.5"}},
      {"modes-stay", {"gibbs", "flip", "blend:0.5"}},
      {"aperiodic", {"gibbs", "flip", "blend:0.5"}},
      {"random-scan", {"flip"}},
      {"periodic-scan", {"flip"}},
      {"rate-of-convergence", {"gibbs", "flip", "blend:0.5"}},
      {"autocorrelation-time", {"gibbs", "flip", "blend:0.5"}},
      {"production-law", {"gibbs", "flip", "blend:0.5", "metropolis", "tempered-transitions"}},
      {"production-stationarity", {"gibbs", "flip", "blend:0.5", "metropolis"}},
      {"production-law (discrete units)", {"gibbs", "flip", "blend:0.5", "metropolis"}},
      {"production-stationarity (discrete units)", {"gibbs", "flip", "blend:0.5", "metropolis"}},
      {"tempered-invariance", {"gibbs", "flip", "blend:0.5"}},
      {"tempered-invariance (discrete units)", {"gibbs", "flip", "blend:0.5"}},
      {"joint-invariance (gibbs)", {"parallel-tempering"}},
      {"joint-invariance (flip)", {"parallel-tempering"}},
      {"joint-invariance (blend:0.5)", {"parallel-tempering"}},
      {"enumeration", {"log_z", "gradient"}},
      {"enumeration (discrete units)", {"log_z"}},
      {"dbm-likelihood", {"likelihood"}},
      {"dbm-likelihood (discrete units)", {"likelihood"}},
      {"pair-invariance (joint states, gibbs rungs, gibbs)", {"simulated-tempering"}},
      {"pair-invariance (joint states, gibbs rungs, flip)", {"simulated-tempering"}},
      {"pair-invariance (joint states, gibbs rungs, blend:0.5)", {"simulated-tempering"}},
      {"pair-invariance (collapsed states, gibbs rungs, gibbs)", {"simulated-tempering"}},
      {"pair-invariance (joint states, metropolis rungs, gibbs)", {"simulated-tempering"}},
      {"pair-invariance (joint states, metropolis rungs, flip)", {"simulated-tempering"}},
      {"pair-invariance (joint states, metropolis rungs, blend:0.5)", {"simulated-tempering"}},
      {"pair-invariance (collapsed states, metropolis rungs, gibbs)", {"simulated-tempering"}},
      {"pair-invariance", {"wang-landau", "adaptive-tempering"}},
      {"rung-law", {"simulated-tempering"}},
      {"rao-blackwell", {"simulated-tempering"}},
      {"rung-chain", {"simulated-tempering"}},
      {"exact-occupancies", {"rts"}},
      {"likelihood-gradient", {"rts"}},
      {"concave-likelihood", {"rts-mixed"}},
      {"bias-sign", {"rts"}},
      {"bridge-identity", {"bar"}},
      {"expected-counts", {"mbar"}},
      {"first-order", {"sams"}},
      {"continuous-temperatures", {"ti-continuous"}},
      {"discretisation", {"ti"}},
      {"variance-correction", {"ti-corrected"}},
      {"continuous-limit", {"ti-rb"}},
      {"mean-weight", {"ais", "raise", "smc"}},
      {"mean-weight (production sweep)", {"ais", "raise"}},
      {"mean-weight (discrete units)", {"ais", "raise"}},
      {"mean-weight (base of modes)", {"ais"}},
      {"mean-log-weight", {"ais"}},
      {"riemann-sum", {"ais"}},
      {"annealed-law", {"raise"}},
      {"spins-are-bits", {"multivalued", "discriminative"}},
      {"phi-closed-form", {"multivalued"}},
      {"phi-limit", {"multivalued"}},
      {"psi-slope", {"multivalued"}},
      {"inverse-transform", {"multivalued"}},
      {"blocked-gibbs", {"multivalued"}},
      {"gradient-slope", {"multivalued", "discriminative", "gaussian"}},
      {"two-spins", {"multivalued", "partition"}},
      {"bound-below", {"mean-field"}},
      {"bound-never-falls", {"mean-field"}},
      {"updates-follow-law", {"mean-field"}},
      {"bound-slope", {"mean-field"}},
      {"production-pair-invariance", {"adaptive-tempering"}},
      {"kept-states", {"adaptive-tempering"}},
      {"joint-invariance", {"cast each", "cast lag"}},
      {"production-joint-invariance", {"cast each", "cast lag"}},
      {"handed-over-law", {"cast entry", "cast last"}},
      {"production-exchange", {"cast entry"}},
      {"handed-over-kernel", {"cast last"}},
      {"constant-factor", {"adaptive-tempering"}},
      {"reweighted-law", {"partition"}},
      {"equal-weights", {"partition"}},
      {"every-path", {"partition"}},
      {"still-at-the-data", {"fpcd"}},
      {"leaves-p", {"fpcd"}},
      {"fast-weights", {"fpcd"}},
      {"positive-phase", {"fpcd"}},
      {"negative-phase", {"fpcd"}},
      {"handed-over-distance", {"cast entry", "cast last"}},
      {"constant-factor-distance", {"adaptive-tempering"}},
      {"growing-acceptance", {"adaptive-tempering"}},
      {"tied-statistics", {"pretraining"}},
      {"composed-law", {"pretraining"}},
      {"inverse-normal", {"gaussian"}},
      {"log-z-quadrature", {"gaussian"}},
      {"standardised-density", {"gaussian"}},
      {"below-log-z", {"lower_bound"}},
      {"below-log-z (discrete units)", {"lower_bound"}}};
  std::map<std::string, std::set<std::string>> found;
  for (const Check& check : registered_checks()) found[check.name].insert(check.subject);
  for (const auto& [name, subjects] : expected) {
    INFO(name);
    CHECK(found[name] == subjects);
  }
  CHECK(found.size() == expected.size());
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
