// Estimates that are tried again, on runs that a script gives.
#include "boltzmark/estimate/held/attempts.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "boltzmark/core/error.hpp"

using namespace boltzmark;

namespace {

// Attempts that end with these statuses; log Z is the attempt's number.
struct ScriptedAttempts {
  std::vector<Status> statuses;
  std::vector<int> sweeps = {};  // that were asked for
  Estimate operator()(AttemptOptions options) {
    return estimate_until_ok(options, [&](int n, int number) {
      REQUIRE(number == static_cast<int>(sweeps.size()));
      sweeps.push_back(n);
      Estimate estimate{.log_z = double{1} * number};
      if (const Status status = statuses.at(static_cast<std::size_t>(number)); status != Status::ok)
        estimate.refuse(status, "why");
      return estimate;
    });
  }
};

constexpr Status kOk = Status::ok, kFew = Status::few_effective_samples,
                 kBelow = Status::below_bound, kUnmixed = Status::not_converged;

}  // namespace

TEST_CASE("an estimate that is ok is not tried again") {
  ScriptedAttempts script{{kOk, kOk}};
  const Estimate tried = script({.sweeps = 100});
  CHECK(script.sweeps == std::vector<int>{100});
  CHECK(tried.warnings.empty());
}

TEST_CASE("a refused estimate is tried again with twice the sweeps, until it is ok") {
  ScriptedAttempts script{{kFew, kBelow, kOk, kOk}};
  const Estimate tried = script({.sweeps = 100});
  CHECK(script.sweeps == std::vector<int>{100, 200, 400});
  CHECK(tried.log_z == 2);
  CHECK(tried.warnings.empty());  // those of refused attempts went with them
}

TEST_CASE("the last of the attempts is given, refused as it is") {
  ScriptedAttempts script{{kFew, kUnmixed, kUnmixed}};
  const Estimate tried = script({.sweeps = 7, .most = 3});
  CHECK(script.sweeps == std::vector<int>{7, 14, 28});
  CHECK(tried.status == kUnmixed);
  CHECK(tried.warnings == std::vector<std::string>{"why"});
  ScriptedAttempts once{{kFew}};
  CHECK(once({.sweeps = 7, .most = 1}).status == kFew);
}

TEST_CASE("an obstacle ends the attempts, and is named") {
  ScriptedAttempts script{{kFew, kFew, kOk}};
  std::vector<int> asked;
  const Estimate tried =
      script({.sweeps = 10, .obstacle = [&](int sweeps) {
                asked.push_back(sweeps);
                return sweeps > 20 ? std::optional<std::string>("too long") : std::nullopt;
              }});
  CHECK(asked == std::vector<int>{20, 40});
  CHECK(script.sweeps == std::vector<int>{10, 20});
  CHECK(tried.status == kFew);
  CHECK(tried.warnings == std::vector<std::string>{"why", "not tried again: too long"});
  ScriptedAttempts huge{{kFew, kOk}};
  huge({.sweeps = 2000000000});
  CHECK(huge.sweeps.size() == 1);  // not -294967296 sweeps
}

TEST_CASE("attempts without sweeps, or none at all, are refused") {
  ScriptedAttempts script{{kOk}};
  CHECK_THROWS_AS(script({.sweeps = 0}), InvalidArgument);
  CHECK_THROWS_AS(script({.most = 0}), InvalidArgument);
}
