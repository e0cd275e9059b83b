#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/run/reference.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

ReproduceResult run(ReproduceOptions options) {
  toy_runs = 0;
  return reproduce(options, toy_experiments(), {toy_claims()});
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

/// A trial of 100 draws that keeps where it is; `steps` counts those made by this process.
Experiment long_experiment(int& steps, const std::function<void(int)>& after_step) {
  Experiment experiment = toy_experiments()[0];
  experiment.trials = [](Profile) { return std::vector<Json>{{{"size", "small"}, {"repeat", 0}}}; };
  experiment.summarise = [](const Results&, Summary&) {};
  experiment.claims = {};
  experiment.run = [&steps, after_step](const Json&, const TrialContext& context) -> Json {
    double sum = 0;
    int done = 0;
    if (const auto state = context.kept_state()) {
      done = std::stoi(*state);
      sum = std::stod(state->substr(state->find(' ')));
    }
    for (; done < 100;) {
      sum += Stream(context.key, Purpose::test, static_cast<std::uint64_t>(done)).uniform();
      ++done;
      ++steps;
      after_step(done);
      context.progress(done / 100.0, [&] { return fmt::format("{} {}", done, sum); });
    }
    return {{"sum", sum}};
  };
  return experiment;
}

/// The sum of the one trial that a folder's store holds.
double stored_sum(const std::string& out) {
  const std::string line = read_text(out + "/quick/toy/one/trials.jsonl");
  return Json::parse(line).at("outputs").at("sum").get<double>();
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

TEST_CASE("every trial has a key of its own: of its experiment, its inputs and the seed") {
  // Inputs that differ in one thing each, and one experiment with the inputs of another.
  const std::vector<Json> inputs = {{{"size", "a"}, {"repeat", 0}},
                                    {{"size", "a"}, {"repeat", 1}},
                                    {{"size", "b"}, {"repeat", 0}},
                                    {{"size", "a"}, {"repeat", 0}, {"rate", 0.1}},
                                    {{"size", "a"}, {"repeat", 0}, {"rate", 0.2}}};
  auto experiments = toy_experiments();
  experiments[0].trials = [&](Profile) { return inputs; };
  experiments[0].claims = {};
  experiments[0].run = [](const Json&, const TrialContext& context) -> Json {
    return {{"draw", Stream(context.key, Purpose::test).uniform()}};
  };
  experiments[0].summarise = [](const Results&, Summary&) {};
  experiments.push_back(experiments[0]);
  experiments[1].id = "toy/two";
  std::set<double> draws;
  const auto run_all = [&](std::uint64_t seed) {
    const TemporaryFolder out;
    reproduce({.jobs = 2, .seed = seed, .out = out.path()}, experiments, {});
    std::map<std::string, double> drawn;
    for (const Experiment& experiment : experiments) {
      const std::string text = read_text(out.path() + "/quick/" + experiment.id + "/trials.jsonl");
      for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
        const Json line = Json::parse(text.substr(at, text.find('\n', at) - at));
        const double draw = line.at("outputs").at("draw");
        drawn[experiment.id + line.at("inputs").dump()] = draw;
        draws.insert(draw);
      }
    }
    CHECK(drawn.size() == 10);
    return drawn;
  };
  const auto first = run_all(1);
  CHECK(draws.size() == 10);
  CHECK(run_all(1) == first);
  CHECK(draws.size() == 10);
  run_all(2);
  CHECK(draws.size() == 20);
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

/// Counts the lines that the runs of a folder have stored.
std::ptrdiff_t stored_lines(const std::string& out) {
  std::ptrdiff_t lines = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    if (entry.path().filename() == "trials.jsonl") {
      const std::string text = read_text(entry.path());
      lines += std::count(text.begin(), text.end(), '\n');
    }
  return lines;
}

TEST_CASE("a run killed with SIGKILL resumes to the same bytes") {
  const TemporaryFolder whole, killed;
  run({.jobs = 1, .threads = 1, .out = whole.path()});
  auto experiments = toy_experiments();
  const auto honest = experiments[0].run;
  experiments[0].run = [&](const Json& inputs, const TrialContext& context) {
    if (inputs.at("size") == "large" && inputs.at("repeat") == 3) {
      // The line of the trial before may still be under way: another thread stores it.
      for (int i = 0; i < 2000 && stored_lines(killed.path()) < 9; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      raise(SIGKILL);
    }
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

TEST_CASE("a long trial goes on within itself after Ctrl-C, the time limit or a kill") {
  const TemporaryFolder whole, stopped, limited, killed;
  int steps = 0;
  const auto go_on = [&](const ReproduceOptions& options, const std::function<void(int)>& after) {
    steps = 0;
    return reproduce(options, {long_experiment(steps, after)}, {});
  };
  const auto nothing = [](int) {};
  CHECK(go_on({.jobs = 1, .out = whole.path()}, nothing).ran == 1);
  CHECK(steps == 100);
  const double sum = stored_sum(whole.path());

  const auto interrupted = go_on({.jobs = 1, .out = stopped.path()}, [](int done) {
    if (done == 60) raise(SIGINT);
  });
  CHECK(interrupted.interrupted);
  CHECK(interrupted.ran == 0);
  CHECK(go_on({.jobs = 1, .out = stopped.path()}, nothing).ran == 1);
  CHECK(steps == 40);
  CHECK(stored_sum(stopped.path()) == sum);
  CHECK_FALSE(std::filesystem::exists(stopped.path() + "/quick/toy/one/checkpoints"));

  const auto late = go_on({.jobs = 1, .out = limited.path(), .max_seconds = 1}, [](int done) {
    if (done == 50) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  });
  CHECK(late.out_of_time);
  CHECK(late.ran == 0);
  const int made = steps;  // 50, unless a second passed before the trial began
  CHECK(go_on({.jobs = 1, .out = limited.path()}, nothing).ran == 1);
  CHECK(made + steps == 100);
  CHECK(stored_sum(limited.path()) == sum);

  const pid_t child = fork();
  if (child == 0) {
    go_on({.jobs = 1, .threads = 1, .out = killed.path(), .checkpoint_seconds = 0}, [](int done) {
      if (done == 30) raise(SIGKILL);
    });
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  // Another seed's trial does not take it, and leaves it alone.
  go_on({.jobs = 1, .seed = 2, .out = killed.path()}, nothing);
  CHECK(steps == 100);
  CHECK(go_on({.jobs = 1, .out = killed.path()}, nothing).ran == 1);
  CHECK(steps == 71);  // the 30th was made, but not kept
}

TEST_CASE("a trial goes on where its state cannot be kept, and keeps it once it can be") {
  const TemporaryFolder whole, blocked;
  int steps = 0;
  const auto go_on = [&](const std::string& out, const std::function<void(int)>& after) {
    steps = 0;
    return reproduce({.jobs = 1, .out = out, .checkpoint_seconds = 0, .quiet = true},
                     {long_experiment(steps, after)}, {});
  };
  const auto nothing = [](int) {};
  CHECK(go_on(whole.path(), nothing).ran == 1);
  // A file stands where the folder of states is to be.
  const std::string states = blocked.path() + "/quick/toy/one/checkpoints";
  const auto stopped = go_on(blocked.path(), [&](int done) {
    if (done == 1) write_text(states, "");
    if (done == 50) std::filesystem::remove(states);
    if (done == 60) raise(SIGINT);
  });
  CHECK(stopped.interrupted);
  CHECK(stopped.failures.empty());
  CHECK(steps == 60);
  CHECK(go_on(blocked.path(), nothing).ran == 1);
  CHECK(steps == 40);
  CHECK(stored_sum(blocked.path()) == stored_sum(whole.path()));
}

TEST_CASE("a trial that keeps no state ends where it next tells its progress after Ctrl-C") {
  const TemporaryFolder out;
  bool went_on = false;
  auto toys = toy_experiments();
  toys[0].trials = [](Profile) { return std::vector<Json>{{{"size", "small"}, {"repeat", 0}}}; };
  toys[0].run = [&](const Json&, const TrialContext& context) -> Json {
    raise(SIGINT);
    context.progress(0.5);
    went_on = true;
    return {{"mean", 0.5}};
  };
  const ReproduceResult result =
      reproduce({.jobs = 1, .out = out.path(), .quiet = true}, toys, {toy_claims()});
  CHECK(result.interrupted);
  CHECK(result.ran == 0);
  CHECK_FALSE(went_on);
}

TEST_CASE("a kept state that is damaged, or is to be ignored, is not gone on from") {
  const TemporaryFolder out;
  const TrialKey key{.inputs = {{"size", "small"}}, .simd = "s", .sources = "a"};
  const TrialCheckpoint checkpoint(out.path(), key);
  CHECK_FALSE(checkpoint.read());
  checkpoint.write("state\nof two lines");
  CHECK(checkpoint.read() == "state\nof two lines");
  // One part alone of the key. Another build's state is not read, and replaced.
  TrialKey others[] = {key, key, key, key};
  others[0].sources = "b";
  others[1].simd = "t";
  others[2].seed = 2;
  others[3].inputs["size"] = "large";
  for (const TrialKey& other : others) CHECK_FALSE(TrialCheckpoint(out.path(), other).read());
  const auto file = std::filesystem::directory_iterator(out.path() + "/checkpoints")->path();
  const std::string bytes = read_text(file.string());
  for (const std::string& damaged :
       {std::string(), bytes.substr(0, 10), bytes.substr(0, bytes.size() - 1), bytes + "x"}) {
    write_text(file.string(), damaged);
    CHECK_FALSE(checkpoint.read());
  }
  int steps = 0;
  const auto stop = [](int done) {
    if (done == 60) raise(SIGINT);
  };
  const auto experiment = [&](const std::function<void(int)>& after) {
    return std::vector<Experiment>{long_experiment(steps, after)};
  };
  reproduce({.jobs = 1, .out = out.path()}, experiment(stop), {});
  steps = 0;
  reproduce({.jobs = 1, .out = out.path(), .fresh = true}, experiment([](int) {}), {});
  CHECK(steps == 100);
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

TEST_CASE("an experiment that shows nothing of another's trials leaves nothing behind") {
  const TemporaryFolder folder;
  auto experiments = toy_and_view();
  experiments[1].summarise = [](const Results&, Summary&) {};
  CHECK_NOTHROW(reproduce({.out = folder.path()}, experiments, {toy_claims()}));
  CHECK(std::filesystem::exists(folder.path() + "/quick/toy/one"));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/quick/toy/view"));
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
  CHECK(views == 2);  // Fig. 4 of bruegge2013 and Fig. 3 of yokoyama2019
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
