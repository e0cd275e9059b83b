// Trials that were computed twice: outputs that differ are kept and told, equal ones are one trial.
#include "experiments/kit/run/conflicts.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "experiments/kit/files.hpp"
#include "experiments/kit/report/report.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

/// What a trial of the toy's computes on a machine; `value` is its output.
Trial computed(const TrialKey& key, double value, const std::string& host) {
  return {.inputs = key.inputs, .outputs = {{"mean", value}}, .simd = key.simd, .host = host};
}

TEST_CASE(
    "unequal outputs of one trial are both kept and told with their hosts, of time they are not") {
  const TemporaryFolder out;
  run_part(out.path(), {});
  Experiment toy = toy_experiments()[0];
  const TrialKey key = list_trials(toy, {.out = out.path()}, CellFilter("")).trials[3].key;
  const std::string own = read_text(toy_folder(out) + "/trials.jsonl");
  write_text(toy_folder(out) + "/trials.0-of-2.jsonl", trial_line(key, computed(key, 0.1, "here")));
  write_text(toy_folder(out) + "/trials.1-of-2.jsonl",
             trial_line(key, computed(key, 0.2, "there")));

  const ReproduceResult result = run_part(out.path(), {});
  CHECK(result.exit_code() == 1);
  REQUIRE(result.failures.size() == 2);  // each with the next, in name order
  CHECK_THAT(result.failures[0], Catch::Contains("toy/one " + key.inputs.dump()) &&
                                     Catch::Contains("of here and of there"));
  const std::string kept = read_text(toy_folder(out) + "/conflicts.jsonl");
  CHECK(std::count(kept.begin(), kept.end(), '\n') == 3);
  CHECK(run_part(out.path(), {1, 2}).exit_code() == 1);
  CHECK(read_text(toy_folder(out) + "/conflicts.jsonl") == kept);

  toy.alone = true;
  const auto plan = plan_experiment(toy, {.out = out.path()}, CellFilter(""));
  CHECK(plan.store->conflicts().size() == 2);
  CHECK(keep_conflicts(plan).empty());
}

TEST_CASE("text that does not fit at a file's end is an error that says so") {
  CHECK_THROWS_WITH(append_text("/dev/full", "a line"),
                    Catch::Contains("/dev/full") && Catch::Contains("must fit on the disk"));
  const TemporaryFolder out;
  const std::string path = out.path() + "/lines";
  append_text(path, "one\n");
  append_text(path, "two\n");
  CHECK(read_text(path) == "one\ntwo\n");
}

TEST_CASE("of outputs that have times all else must be equal, at any depth") {
  const TemporaryFolder out;
  run_part(out.path(), {});
  Experiment toy = toy_experiments()[0];
  toy.timed = true;
  const TrialKey key = list_trials(toy, {.out = out.path()}, CellFilter("")).trials[3].key;
  const auto conflicts = [&](const Json& first, const Json& second) {
    const auto line = [&](const Json& estimate) {
      return trial_line(key, {.inputs = key.inputs,
                              .outputs = {{"seconds", estimate["seconds"]}, {"all", {estimate}}}});
    };
    write_text(toy_folder(out) + "/trials.jsonl", line(first) + line(second));
    return keep_conflicts(plan_experiment(toy, {.out = out.path()}, CellFilter(""))).size();
  };
  CHECK(conflicts({{"mean", 1}, {"seconds", 2}}, {{"mean", 1}, {"seconds", 3}}) == 0);
  CHECK_FALSE(std::filesystem::exists(toy_folder(out) + "/conflicts.jsonl"));
  CHECK(conflicts({{"mean", 1}, {"seconds", 2}}, {{"mean", 2}, {"seconds", 2}}) == 1);
  CHECK(std::filesystem::exists(toy_folder(out) + "/conflicts.jsonl"));
}

TEST_CASE("a shard that makes its trials again holds them to those that are stored") {
  const TemporaryFolder out;
  run_part(out.path(), {0, 2});
  const std::string path = toy_folder(out) + "/trials.0-of-2.jsonl", text = read_text(path);
  Json line = open_line(text.substr(0, text.find('\n')));
  for (auto& [key, value] : line["outputs"].items()) value = 12345;
  write_text(path, seal_line(line) + text.substr(text.find('\n') + 1));
  const ReproduceResult again = reproduce(
      {.out = out.path(), .shard = {0, 2}, .fresh = true, .quiet = true}, toy_experiments(), {});
  CHECK(again.exit_code() == 1);
  CHECK(std::filesystem::exists(toy_folder(out) + "/conflicts.jsonl"));
}

TEST_CASE("equal outputs of one trial are one trial, on whatever host and in whatever time") {
  const TemporaryFolder out;
  run_part(out.path(), {0, 2});
  const std::string text = read_text(toy_folder(out) + "/trials.0-of-2.jsonl");
  Json line = open_line(text.substr(0, text.find('\n')));
  line["host"] = "elsewhere";
  line["seconds"] = 12345;
  write_text(toy_folder(out) + "/trials.jsonl", seal_line(line));
  CHECK(line.erase("host") == 1);  // as lines were before there was one
  write_text(toy_folder(out) + "/trials.1-of-9.jsonl", seal_line(line));
  const ReproduceResult result = run_part(out.path(), {});
  CHECK(result.exit_code() == 0);
  CHECK(result.reused == 6);
  CHECK_FALSE(std::filesystem::exists(toy_folder(out) + "/conflicts.jsonl"));
}

}  // namespace
}  // namespace boltzmark::experiments
