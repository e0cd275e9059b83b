#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/plan.hpp"
#include "experiments/kit/reference.hpp"
#include "experiments/kit/report.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/interface/kit_toys.hpp"

namespace boltzmark::experiments {
namespace {

ReproduceResult run(ReproduceOptions options) {
  toy_runs = 0;
  return reproduce(options, toy_experiments(), {toy_claims()});
}

/// Reads every CSV file of a run.
std::map<std::string, std::string> csv_files(const std::string& out) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    if (entry.path().extension() == ".csv")
      files[entry.path().filename().string()] = read_text(entry.path().string());
  return files;
}

TEST_CASE("a second run takes every trial from the store") {
  const TemporaryFolder out;
  const ReproduceResult first = run({.jobs = 2, .out = out.path()});
  CHECK(first.ran == 12);
  CHECK(first.reused == 0);
  CHECK(first.exit_code() == 0);
  const ReproduceResult second = run({.jobs = 2, .out = out.path()});
  CHECK(second.ran == 0);
  CHECK(second.reused == 12);
  CHECK(toy_runs == 0);
  CHECK(run({.jobs = 2, .out = out.path(), .fresh = true}).ran == 12);
  CHECK(run({.jobs = 2, .seed = 2, .out = out.path()}).ran == 12);
}

TEST_CASE("CSV files are the same bytes for any number of jobs and threads") {
  const TemporaryFolder one, many;
  run({.jobs = 1, .threads = 1, .out = one.path()});
  run({.jobs = 5, .threads = 2, .out = many.path()});
  const auto files = csv_files(one.path());
  CHECK(files.size() == 2);
  CHECK(files == csv_files(many.path()));
}

TEST_CASE("jobs without a trial leave their threads to those that have one") {
  for (const int jobs : {1, 2, 4}) {
    const TemporaryFolder out;
    std::vector<Experiment> experiments = toy_experiments();
    int threads = 0;
    experiments[0].run = [&](const Json& inputs, const TrialContext&) -> Json {
      threads = thread_count();
      return {{"mean", 0.5}, {"shared", 0.5}, {"log", number(inputs.at("rate"))}};
    };
    reproduce({.jobs = jobs, .threads = 2, .out = out.path(), .only = "size=large,repeat=3"},
              experiments, {toy_claims()});
    CHECK(threads == 2);
  }
}

TEST_CASE("a run cut short resumes to the same bytes") {
  const TemporaryFolder whole, cut;
  run({.jobs = 1, .out = whole.path()});
  run({.jobs = 1, .out = cut.path(), .only = "size=large"});
  const std::string store = cut.path() + "/quick/toy/one/trials.jsonl";
  const std::string text = read_text(store);
  write_text(store, text.substr(0, text.size() - 40));  // as kill -9 in a write would leave it
  const ReproduceResult resumed = run({.jobs = 2, .out = cut.path()});
  CHECK(resumed.reused == 5);
  CHECK(resumed.ran == 7);
  CHECK(csv_files(whole.path()) == csv_files(cut.path()));
}

TEST_CASE("a run killed with SIGKILL resumes to the same bytes") {
  const TemporaryFolder whole, killed;
  run({.jobs = 1, .threads = 1, .out = whole.path()});
  auto experiments = toy_experiments();
  const auto honest = experiments[0].run;
  experiments[0].run = [&](const Json& inputs, const TrialContext& context) {
    if (inputs.at("size") == "large" && inputs.at("repeat") == 3) raise(SIGKILL);
    return honest(inputs, context);
  };
  const pid_t child = fork();
  if (child == 0) {
    reproduce({.jobs = 1, .threads = 1, .out = killed.path()}, experiments, {toy_claims()});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  const ReproduceResult resumed = run({.jobs = 2, .out = killed.path()});
  CHECK(resumed.reused == 9);
  CHECK(resumed.ran == 3);
  CHECK(csv_files(whole.path()) == csv_files(killed.path()));
}

TEST_CASE("a trial that fails is reported, the others are kept and the exit code is 1") {
  const TemporaryFolder out;
  auto experiments = toy_experiments();
  experiments[0].run = [](const Json& inputs, const TrialContext&) -> Json {
    if (inputs.at("repeat") == 2) throw Error("no luck");
    return {{"mean", 0.5}};
  };
  const ReproduceResult result = reproduce({.out = out.path()}, experiments, {toy_claims()});
  CHECK(result.ran == 10);
  REQUIRE(result.failures.size() == 2);
  CHECK_THAT(result.failures[0], Catch::Contains("toy/one") && Catch::Contains("no luck"));
  CHECK(result.exit_code() == 1);
}

TEST_CASE("an exact claim that does not hold gives exit code 3") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  claims.claims[0].parts[0].threshold = -1;
  const ReproduceResult result = reproduce({.out = out.path()}, toy_experiments(), {claims});
  CHECK(result.exact_failed == std::vector<std::string>{"T01"});
  CHECK(result.exit_code() == 3);
}

TEST_CASE("a measure of an unknown claim is a failure, not a verdict") {
  const TemporaryFolder out;
  ClaimFile claims = toy_claims();
  claims.claims.erase(claims.claims.begin());
  const ReproduceResult result = reproduce({.out = out.path()}, toy_experiments(), {claims});
  REQUIRE(result.failures.size() == 1);
  CHECK_THAT(result.failures[0], Catch::Contains("T01"));
}

TEST_CASE("only picks the trials of a cell, and the rest shows as not run") {
  const TemporaryFolder out;
  const ReproduceResult result = run({.out = out.path(), .only = "size=small,repeat=4"});
  CHECK(result.planned == 1);
  CHECK(result.ran == 1);
  CHECK_THAT(read_text(out.path() + "/quick/report/report.md"), Catch::Contains("not run"));
}

TEST_CASE("a figure of nothing that was run is drawn, and says so") {
  const TemporaryFolder out;
  auto experiments = toy_experiments();
  experiments[0].summarise = [](const Results&, Summary& summary) {
    const double nan = std::nan("");
    const Panel empty{.x = {.label = "x", .log = true}, .y = {.label = "y", .low = 0}};
    Panel undefined = empty;
    undefined.series = {{.label = "none", .x = {1, 2}, .y = {nan, nan}}};
    summary.add(Figure{.name = "empty", .caption = "", .panels = {empty, undefined}});
  };
  CHECK(reproduce({.out = out.path()}, experiments, {toy_claims()}).failures.empty());
  for (const char* panel : {"1", "2"})
    CHECK_THAT(read_text(fmt::format("{}/quick/toy/one/empty-{}.svg", out.path(), panel)),
               Catch::Contains("nothing to draw"));
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

/// The toy experiment, and one that counts the toy's trials.
std::vector<Experiment> toy_and_view() {
  auto all = toy_experiments();
  all.push_back({.id = "toy/view",
                 .item = "Fig. 2",
                 .title = "The same trials",
                 .paper_did = "Nothing",
                 .trials_of = "toy/one",
                 .summarise = [](const Results& results, Summary& summary) {
                   summary.add(
                       Table{.name = "count",
                             .caption = "Trials",
                             .columns = {{"trials", "trials"}},
                             .rows = {{static_cast<std::int64_t>(results.trials().size())}}});
                 }});
  return all;
}

TEST_CASE("an experiment that shows another's trials stores none of its own") {
  const TemporaryFolder out;
  const std::string folder = out.path() + "/quick/toy/";
  const ReproduceResult view =
      reproduce({.ids = {"toy/view"}, .out = out.path()}, toy_and_view(), {toy_claims()});
  CHECK(view.failures.empty());
  CHECK(view.ran == 12);
  CHECK(std::filesystem::exists(folder + "one/trials.jsonl"));
  CHECK_FALSE(std::filesystem::exists(folder + "view/trials.jsonl"));
  CHECK(read_text(folder + "view/count.csv") == "trials\n12\n");
  CHECK_THAT(read_text(out.path() + "/quick/report/report.md"),
             Catch::Contains("12 of 12 trials of toy/one;"));
  const ReproduceResult both = reproduce({.out = out.path()}, toy_and_view(), {toy_claims()});
  CHECK(both.planned == 12);
  CHECK(both.reused == 12);
}

TEST_CASE("an experiment whose trials nobody makes is refused before anything is written") {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/out";
  auto experiments = toy_and_view();
  for (const char* maker : {"toy/none", "toy/view"}) {
    experiments[1].trials_of = maker;
    CHECK_THROWS_AS(reproduce({.out = out}, experiments, {toy_claims()}), InvalidArgument);
  }
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("the reference holds trials once, with the experiment that makes them") {
  int views = 0;
  for (const Experiment& experiment : experiments()) {
    if (experiment.trials_of.empty()) continue;
    ++views;
    INFO(experiment.id);
    CHECK_FALSE(std::filesystem::exists(reference_path(experiment)));
    CHECK_NOTHROW(maker_of_trials(experiments(), experiment));
  }
  CHECK(views == 1);  // Fig. 3 of yokoyama2019
}

TEST_CASE("bad options are refused before anything is written") {
  const TemporaryFolder folder;
  const std::string out = folder.path() + "/out";
  CHECK_THROWS_AS(run({.ids = {"toy/two"}, .out = out}), InvalidArgument);
  CHECK_THROWS_AS(run({.jobs = -1, .out = out}), InvalidArgument);
  CHECK_THROWS_AS(run({.out = out, .only = "size"}), InvalidArgument);
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK_THROWS_AS(run({.out = out, .only = "size=huge"}), InvalidArgument);
}

TEST_CASE("a report without results is refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(report({.out = folder.path()}), DataError);
}

}  // namespace
}  // namespace boltzmark::experiments
