// What a run plans: which trials it takes from where, and how long it will take.
#include "experiments/kit/run/plan.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "experiments/kit/files.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/store.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

TEST_CASE(
    "a plan takes what is kept at the paper's profile alone, and calls no finished trial stale") {
  const TemporaryFolder out;
  const auto finished = [&](Profile profile, std::uint64_t seed = 1) {
    const auto& all = experiments();
    const auto fig1 = std::find_if(all.begin(), all.end(), [](const Experiment& experiment) {
      return experiment.id == "bruegge2013/fig1";
    });
    // Its trials, some of which are kept, are the same at all profiles.
    const PlannedExperiment plan = plan_experiment(
        *fig1, {.profile = profile, .seed = seed, .out = out.path()}, CellFilter(""));
    return plan.trials.size() - plan.count_to_run();
  };
  CHECK(finished(Profile::paper) == 2);
  CHECK(finished(Profile::paper, 7) == 0);  // what is kept is of seed 1
  CHECK(finished(Profile::quick) == 0);
  CHECK(finished(Profile::smoke) == 0);

  const Experiment toy = toy_experiments()[0];
  reproduce({.jobs = 1, .out = out.path(), .quiet = true}, toy_experiments(), {toy_claims()});
  const std::string path = out.path() + "/quick/toy/one/trials.jsonl";
  const std::string own = read_text(path), first = own.substr(0, own.find('\n') + 1);
  Json other = open_line(first.substr(0, first.size() - 1));
  other["sources"] = "of another build";
  const auto stale = [&](const std::string& lines) {
    write_text(path, lines);
    return plan_experiment(toy, {.out = out.path()}, CellFilter("")).stale;
  };
  CHECK(stale(own + other.dump() + "\n") == 0);
  CHECK(stale(own.substr(first.size()) + other.dump() + "\n") == 1);
}

TEST_CASE("the time of a selection is its share of the experiment's by cost") {
  const TemporaryFolder out;
  Experiment toy = toy_experiments()[0];
  toy.seconds.quick = 60;
  const auto seconds = [&](const char* only) {
    return plan_experiment(toy, {.out = out.path()}, CellFilter(only)).seconds_to_run();
  };
  CHECK(seconds("size=small") == Approx(30));  // all 12 alike
  toy.cost = [](const Json& inputs) { return inputs.at("size") == "small" ? 2 : 18; };
  CHECK(seconds("size=small") == Approx(6));
  CHECK(seconds("size=large,repeat=1") == Approx(9));
  CHECK(seconds("") == Approx(60));
}

}  // namespace
}  // namespace boltzmark::experiments
