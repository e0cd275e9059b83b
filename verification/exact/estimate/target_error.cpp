// The search for a standard error, on runs that a script gives.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/estimate/held/attempts.hpp"

using namespace boltzmark;

namespace {

struct Scripted {
  std::vector<std::pair<Status, double>> outcomes;  // status and standard error of each run
  std::vector<int> sweeps = {};                     // that were asked for
  Estimate operator()(int n, int run) {
    REQUIRE(run == static_cast<int>(sweeps.size()));
    sweeps.push_back(n);
    const auto& [status, std_error] = outcomes.at(static_cast<std::size_t>(run));
    Estimate estimate{.log_z = double{1} * run, .std_error = std_error};
    estimate.status = status;
    return estimate;
  }
};

Estimate search(Scripted& script, int most = 1000000, const Obstacle& obstacle = {}) {
  return estimate_to_error(
      {.std_error = 0.1, .sweeps = 100, .most_sweeps = most, .obstacle = obstacle},
      [&](int sweeps, int run) { return script(sweeps, run); });
}

}  // namespace

TEST_CASE("the estimate is a run after the one that ended the search") {
  Scripted script{{{Status::ok, 0.2}, {Status::ok, 0.09}, {Status::ok, 0.095}}};
  const Estimate estimate = search(script);
  CHECK(script.sweeps == std::vector<int>{100, 480, 480});  // 1.2 times four as many
  CHECK(estimate.log_z == 2);
  CHECK(estimate.warnings.empty());
}

TEST_CASE("a last run whose error is above the one wanted says so") {
  Scripted script{{{Status::ok, 0.09}, {Status::ok, 0.11}}};
  const Estimate estimate = search(script);
  CHECK(script.sweeps == std::vector<int>{100, 100});
  CHECK(estimate.log_z == 1);
  CHECK(estimate.warnings.size() == 1);
}

TEST_CASE("a run that is not trusted does not end the search, and its sweeps have a limit") {
  Scripted script{{{Status::not_converged, 0.01},
                   {Status::unvisited_rung, Estimate::kNone},
                   {Status::ok, 2},
                   {Status::ok, 0.3}}};
  const Estimate estimate = search(script, 15000);
  CHECK(script.sweeps == std::vector<int>{100, 200, 800, 12800});
  CHECK(estimate.log_z == 3);
  CHECK(estimate.warnings.size() == 1);
  Scripted none;
  CHECK_THROWS_AS(search(none, 50), InvalidArgument);
}

TEST_CASE("an obstacle ends the search with the run before it, and is told") {
  std::vector<int> asked;
  const Obstacle beyond_500 = [&](int sweeps) {
    asked.push_back(sweeps);
    return sweeps > 500 ? std::optional<std::string>("too long") : std::nullopt;
  };
  Scripted script{{{Status::ok, 0.2}, {Status::ok, 0.15}}};
  const Estimate estimate = search(script, 1000000, beyond_500);
  CHECK(script.sweeps == std::vector<int>{100, 480});
  REQUIRE(asked.size() == 2);
  CHECK(asked[0] == 480);
  CHECK(asked[1] == Approx(1296).margin(1));  // 1.2 (0.15 / 0.1)^2 times as many
  CHECK(estimate.log_z == 1);
  CHECK(estimate.warnings ==
        std::vector<std::string>{"the target error was not reached: too long"});
  // The run that reaches the error is not believed by itself.
  Scripted reached{{{Status::ok, 0.09}}};
  const Estimate last = search(reached, 1000000, [](int) { return "no more"; });
  CHECK(reached.sweeps == std::vector<int>{100});
  REQUIRE(last.warnings.size() == 1);
  CHECK_THAT(last.warnings[0], Catch::Contains("may be too small by that: no more"));
}
