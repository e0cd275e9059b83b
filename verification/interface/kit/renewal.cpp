#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/progress.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/announce.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "experiments/kit/run/store.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

bool exists_file(const std::string& path) { return std::filesystem::exists(path); }

/// The toy, and one that runs after it with a trial of its own.
std::vector<Experiment> toy_and_then(std::function<void()> second) {
  auto all = toy_experiments();
  all[0].seconds.quick = 100;  // the longer estimate is run first
  all.push_back(all[0]);
  all[1].id = "toy/two";
  all[1].claims = {};
  all[1].seconds.quick = 0.1;
  all[1].trials = [](Profile) { return std::vector<Json>{{{"repeat", 0}}, {{"repeat", 1}}}; };
  all[1].run = [second](const Json& inputs, const TrialContext&) -> Json {
    if (inputs.at("repeat") == 1) second();
    return {{"mean", 0.5}};
  };
  all[1].summarise = [](const Results&, Summary& summary) {
    summary.add(Table{.name = "second", .caption = "", .columns = {{"s", "s"}}});
  };
  return all;
}

TEST_CASE("a killed run leaves figures, tables and a report of the experiments that had ended") {
  const TemporaryFolder out;
  const pid_t child = fork();
  if (child == 0) {
    reproduce({.jobs = 1, .threads = 1, .out = out.path(), .quiet = true},
              toy_and_then([] { raise(SIGKILL); }), {toy_claims()});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  const std::string root = out.path() + "/quick";
  for (const char* file : {"/toy/one/means.csv", "/toy/one/curve.svg", "/report/index.html"})
    CHECK(exists_file(root + file));
  CHECK_FALSE(exists_file(root + "/toy/two/second.csv"));
  CHECK_THAT(read_text(root + "/report/report.md"), Catch::Contains("12 of 12 trials"));
  CHECK(Json::parse(read_text(root + "/report/claims.json"))[0]["verdict"] == "reproduced");
  const Json manifest = Json::parse(read_text(root + "/manifest.json"));
  CHECK(manifest.at("seed") == 1);
  CHECK(manifest.at("seconds").empty());
}

TEST_CASE("a run stopped by Ctrl-C leaves a report of the trials that are finished") {
  const TemporaryFolder out;
  const auto toys = toy_and_then([] { raise(SIGINT); });
  const ReproduceResult result = reproduce(
      {.jobs = 1, .threads = 1, .out = out.path(), .quiet = true}, {toys[1]}, {toy_claims()});
  CHECK(result.interrupted);
  CHECK(result.exit_code() == 1);
  CHECK(result.report == out.path() + "/quick/report/index.html");
  CHECK_THAT(read_text(out.path() + "/quick/report/report.md"),
             Catch::Contains("2 of 2 trials"));  // the second ended after the signal
  CHECK(Json::parse(read_text(out.path() + "/quick/manifest.json"))
            .at("seconds")
            .contains("toy/two"));
}

TEST_CASE("the manifest is there before a trial runs, and a report can be written while one does") {
  const TemporaryFolder out;
  bool manifest = false, reported = false;
  const auto toys = toy_and_then([&] {
    manifest = exists_file(out.path() + "/quick/manifest.json");
    reported = exists_file(report({.out = out.path()}).report);
  });
  const ReproduceResult result =
      reproduce({.jobs = 1, .out = out.path(), .quiet = true}, {toys[1]}, {toy_claims()});
  CHECK(result.failures.empty());
  CHECK(manifest);
  CHECK(reported);
  CHECK(exists_file(out.path() + "/quick/toy/two/second.csv"));
}

TEST_CASE("an experiment is drawn once in a run, when its last trial has ended") {
  const TemporaryFolder out;
  auto toys = toy_and_then([] {});
  std::vector<std::size_t> drawn;
  toys[0].summarise = [&](const Results& results, Summary&) {
    drawn.push_back(results.trials().size());
  };
  const ReproduceOptions options{.jobs = 2, .out = out.path(), .quiet = true};
  reproduce(options, toys, {});
  CHECK(drawn == std::vector<std::size_t>{12});
  reproduce(options, toys, {});
  CHECK(drawn == std::vector<std::size_t>{12, 12});
  drawn.clear();
  ReproduceOptions some = options;
  some.fresh = true;
  some.only = "size=small";
  reproduce(some, toys, {});
  CHECK(drawn == std::vector<std::size_t>{6, 12});  // what there was before, then all
}

TEST_CASE("a report that cannot be renewed is a failure, not the end of the run") {
  const TemporaryFolder out;
  const auto toys = toy_and_then([] {});
  write_text(out.path() + "/quick/report/claims.json/in-the-way", "");
  CHECK_THROWS_AS(reproduce({.jobs = 1, .out = out.path(), .quiet = true}, toys, {toy_claims()}),
                  DataError);
  for (const char* id : {"one", "two"})
    CHECK(exists_file(out.path() + "/quick/toy/" + id + "/trials.jsonl"));
}

TEST_CASE("a reader of a store leaves a line alone that is being written, a writer cuts it off") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/trials.jsonl";
  const TrialKey key{.inputs = {{"size", "small"}}, .simd = "s", .sources = "a"};
  const std::string whole =
      trial_line(key, {.inputs = key.inputs, .outputs = {{"mean", 0.5}}, .simd = "s"});
  write_text(path, whole + whole.substr(0, 20));
  {
    const TrialStore reader(path, TrialStore::Access::read);
    CHECK(reader.find(key));
    CHECK(reader.unreadable() == 0);
  }
  CHECK(read_text(path) == whole + whole.substr(0, 20));
  const TrialStore writer(path);
  CHECK(read_text(path) == whole);
  CHECK_THROWS_AS(TrialStore(folder.path() + "/none/trials.jsonl", TrialStore::Access::read),
                  DataError);
}

TEST_CASE("who waits for a folder gets it when it is free, and not before") {
  const TemporaryFolder folder;
  std::atomic<bool> entered{false};
  std::thread other;
  {
    const FolderLock lock(folder.path());
    other = std::thread([&] {
      const FolderLock second(folder.path(), FolderLock::IfHeld::wait);
      entered = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_FALSE(entered);
  }
  other.join();
  CHECK(entered);
}

/// Standard error in a file while it lives.
class ErrorFile {
 public:
  explicit ErrorFile(const std::string& path) : saved_(dup(STDERR_FILENO)) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~ErrorFile() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }
  ErrorFile(const ErrorFile&) = delete;
  ErrorFile& operator=(const ErrorFile&) = delete;

 private:
  int saved_;
};

std::string log_of(std::chrono::milliseconds between, bool until_written) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  const ErrorFile log(path);
  Progress progress(4, 400, true, between);
  int trials[2] = {};
  progress.advance(&trials[0], 100, 0.5, "toy/one");
  progress.finish(&trials[0], 100);
  progress.advance(&trials[1], 100, 0.5, "toy/two");
  for (int i = 0; until_written && i < 2000; ++i) {
    const std::string text = read_text(path);
    if (text.find("38 %") != std::string::npos && text.ends_with('\n')) return text;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return read_text(path);
}

TEST_CASE("a run whose errors go to a file writes a line of what is done and the time left") {
  const std::string text = log_of(std::chrono::milliseconds(1), true);
  CHECK_THAT(text,
             Catch::Contains("1 of 4 trials, 38 %") && Catch::Contains(" left; now toy/two\n"));
  CHECK_THAT(text, !Catch::Contains("\r") && !Catch::Contains("\033"));
  CHECK(log_of(std::chrono::minutes(1), false).empty());
}

TEST_CASE("what a run is to take is told for each experiment, and for all together") {
  auto toys = toy_experiments();
  toys.push_back(toys[0]);
  toys[1].id = "toy/two";
  toys[0].seconds.quick = 60;
  toys[1].seconds.quick = 120;
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/log";
  std::vector<PlannedExperiment> plans;
  for (const Experiment& toy : toys)
    plans.push_back(list_trials(toy, {.out = folder.path()}, CellFilter(""), "sources"));
  {
    const ErrorFile log(path);
    announce(plans, {}, {});
  }
  const std::string text = read_text(path);
  for (const char* line :
       {" 12 trials, 1 min\n", " 12 trials, 2 min\n", " 24 trials, 3 min on 2 cores\n"})
    CHECK_THAT(text, Catch::Contains(line));
}

}  // namespace
}  // namespace boltzmark::experiments
