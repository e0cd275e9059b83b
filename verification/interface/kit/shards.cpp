// Runs that share a folder: shards of a plan, their locks, and what is kept of their trials.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "experiments/kit/run/trial_checkpoint.hpp"
#include "verification/interface/kit/faulty_system.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

/// Every result file of a run: tables, figures and claims.
std::map<std::string, std::string> result_files(const std::string& out) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".csv") || name.ends_with(".svg") || name == "claims.json")
      files[name] = read_text(entry.path().string());
  }
  return files;
}

TEST_CASE("trials are dealt in snake order, the longest first, each to one shard") {
  CHECK(deal({8, 7, 6, 5, 4, 3, 2}, 3) == std::vector<int>{0, 1, 2, 2, 1, 0, 0});
  CHECK(deal({1, 3, 2}, 2) == std::vector<int>{1, 0, 1});
  CHECK(deal({1, 1, 1, 1}, 2) == std::vector<int>{0, 1, 1, 0});  // equal sizes keep their order
  CHECK(deal({5, 4}, 1) == std::vector<int>{0, 0});
  CHECK(deal({}, 4).empty());
}

TEST_CASE("a shard is K of N with K below N, and nothing else is one") {
  CHECK(parse_shard("0/1").text() == "0/1");
  CHECK(parse_shard("7/100").file_name() == "trials.7-of-100.jsonl");
  CHECK(Shard{}.file_name() == "trials.jsonl");
  for (const char* bad : {"", "/", "1", "1/", "/2", "2/2", "3/2", "-1/2", "0/0", "0/-1", "1/2/3",
                          "a/2", "1 /2", "+1/2", "0x1/2", "1/99999999999"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_shard(bad), InvalidArgument);
    CHECK_THROWS_WITH(parse_shard(bad), Catch::Contains("must be K/N"));
  }
}

TEST_CASE("an experiment that measures time is dealt whole") {
  std::vector<Experiment> toys = toy_experiments();
  toys[0].alone = true;
  toys.push_back(toys[0]);
  toys[1].id = "toy/two";
  std::map<std::string, std::size_t> parts;
  for (int k = 0; k < 2; ++k) {
    std::vector<PlannedExperiment> plans;
    for (const Experiment& toy : toys) plans.push_back(list_trials(toy, {}, CellFilter("")));
    select_shard(plans, {k, 2});
    for (const PlannedExperiment& plan : plans)
      parts[fmt::format("{} {}", plan.experiment->id, k)] = plan.count_to_run();
  }
  CHECK(parts == std::map<std::string, std::size_t>{
                     {"toy/one 0", 12}, {"toy/one 1", 0}, {"toy/two 0", 0}, {"toy/two 1", 12}});
}

TEST_CASE("what is dealt whole is dealt by the time of all its trials") {
  std::vector<Experiment> toys = toy_experiments();
  toys.push_back(toys[0]);
  toys[0].alone = true;
  toys[0].seconds.quick = 60;
  toys[1].seconds.quick = 120;  // 10 of each trial
  std::vector<PlannedExperiment> plans;
  for (const Experiment& toy : toys) plans.push_back(list_trials(toy, {}, CellFilter("")));
  select_shard(plans, {0, 5});  // has the first that is dealt
  CHECK(plans[0].count_to_run() == 12);
  CHECK(plans[1].count_to_run() == 2);
}

TEST_CASE("shards share out what --only picks, and run no other trial") {
  const TemporaryFolder out;
  std::size_t ran = 0;
  for (int k = 0; k < 2; ++k) {
    ran += run_part(out.path(), {k, 2}, "size=large").ran;
    const std::string text = read_text(toy_folder(out) + "/" + Shard{k, 2}.file_name());
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
  }
  CHECK(ran == 6);
  CHECK(run_part(out.path(), {}, "size=large").reused == 6);
}

TEST_CASE("any number of shards, mixed with a whole run, leaves the bytes of one run") {
  const TemporaryFolder whole;
  run_part(whole.path(), {});
  const auto expected = result_files(whole.path());
  CHECK(expected.size() == 4);
  for (const int count : {1, 3, 7, 20}) {
    const TemporaryFolder shards, mixed;
    std::size_t ran = 0;
    for (int k = count - 1; k >= 0; --k) {
      const ReproduceResult part = run_part(shards.path(), {k, count});
      CHECK(part.report.empty());
      CHECK(part.ran == part.planned);
      ran += part.ran;
    }
    CHECK(ran == 12);
    CHECK_FALSE(std::filesystem::exists(shards.path() + "/quick/report"));
    const ReproduceResult last = run_part(shards.path(), {});
    CHECK(last.reused == 12);
    CHECK(result_files(shards.path()) == expected);

    run_part(mixed.path(), {0, count});
    run_part(mixed.path(), {1, 2});
    run_part(mixed.path(), {}, "size=large");
    run_part(mixed.path(), {});
    CHECK(result_files(mixed.path()) == expected);
  }
}

TEST_CASE("which trials are a shard's does not depend on what is finished") {
  const TemporaryFolder empty, begun;
  run_part(begun.path(), {}, "size=small,repeat=0");
  run_part(begun.path(), {}, "size=large,repeat=4");
  run_part(begun.path(), {}, "size=small,repeat=2");
  std::size_t ran = 0;
  for (int k = 0; k < 5; ++k) {
    const std::size_t planned = run_part(empty.path(), {k, 5}).planned;
    const ReproduceResult part = run_part(begun.path(), {k, 5});
    CHECK(part.planned == planned);
    ran += part.ran;
    const auto lines = [&](const TemporaryFolder& out) {
      const std::string text = read_text(toy_folder(out) + "/" + Shard{k, 5}.file_name());
      return std::count(text.begin(), text.end(), '\n');
    };
    CHECK(lines(empty) == lines(begun) + static_cast<long>(part.reused));
  }
  CHECK(ran == 9);
}

TEST_CASE("a torn last line is cut off by the run whose file it is, and by no other") {
  const TemporaryFolder out;
  run_part(out.path(), {0, 2});
  const std::string path = toy_folder(out) + "/trials.0-of-2.jsonl", whole = read_text(path);
  const std::string torn = whole.substr(0, whole.size() - 20);
  write_text(path, torn);
  run_part(out.path(), {1, 2});
  run_part(out.path(), {2, 3});
  CHECK(read_text(path) == torn);
  CHECK(run_part(out.path(), {}).reused == 11);
  CHECK(read_text(path) == torn);
  run_part(out.path(), {0, 2});
  CHECK(read_text(path) == whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
}

TEST_CASE("shards share a folder, and what is in use is refused with its holder's name") {
  const TemporaryFolder out;
  const std::string me = process_name();
  {
    const FolderLock whole(out.path(), Shard{});
    CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}),
                      Catch::Contains("in use by another run: " + me));
    CHECK_THROWS_WITH(FolderLock(out.path(), {0, 2}), Catch::Contains(me));
  }
  {
    const FolderLock first(out.path(), {0, 2});
    const FolderLock second(out.path(), {1, 2}), other(out.path(), {0, 3});
    CHECK_THROWS_WITH(FolderLock(out.path(), {1, 2}), Catch::Contains(me));
    CHECK_THROWS_WITH(FolderLock(out.path(), Shard{}),
                      Catch::Contains(me + ", shard 0-of-2 and others"));
  }
  CHECK_NOTHROW(FolderLock(out.path(), Shard{}));
  CHECK(read_text(out.path() + "/.lock").empty());
}

TEST_CASE("a lock that fails for another reason than a holder is told as what it is") {
  const TemporaryFolder out;
  flock_error = ENOLCK;
  CHECK_THROWS_WITH(FolderLock(out.path()),
                    Catch::Contains("No locks available") && !Catch::Contains("another run"));
  flock_error = EIO;
  CHECK_THROWS_WITH(FolderLock(out.path(), {0, 2}), Catch::Contains("Input/output error"));
  flock_error = 0;
  CHECK_NOTHROW(FolderLock(out.path()));
}

TEST_CASE(
    "a shard of another seed than the folder's is refused, and the first writes the manifest") {
  const TemporaryFolder out;
  run_part(out.path(), {0, 2}, {}, 7);
  const std::string manifest = read_text(out.path() + "/quick/manifest.json");
  CHECK(Json::parse(manifest).at("seed") == 7);
  CHECK_THROWS_WITH(run_part(out.path(), {1, 2}, {}, 8), Catch::Contains("seed = 7"));
  run_part(out.path(), {1, 2}, {}, 7);
  CHECK(read_text(out.path() + "/quick/manifest.json") == manifest);
  CHECK_THROWS_AS(reproduce({.out = out.path(), .shard = {0, 2}, .keep = true}, toy_experiments(),
                            {toy_claims()}),
                  InvalidArgument);
}

TEST_CASE("a shard on another SIMD path than the folder's is refused: one report cannot count both") {
  const TemporaryFolder out;
  run_part(out.path(), {0, 2});
  const std::string path = out.path() + "/quick/manifest.json";
  Json manifest = Json::parse(read_text(path));
  manifest["simd"] = "another";
  write_text(path, manifest.dump());
  CHECK_THROWS_WITH(run_part(out.path(), {1, 2}),
                    Catch::StartsWith(path + ": simd = another (must be that of the shard, ") &&
                        Catch::Contains("BOLTZMARK_SIMD"));
  manifest["simd"] = 7;
  write_text(path, manifest.dump());
  CHECK_THROWS_WITH(run_part(out.path(), {1, 2}), Catch::Contains("is not a manifest"));
  manifest.erase("simd");  // of an older version
  write_text(path, manifest.dump());
  CHECK_NOTHROW(run_part(out.path(), {1, 2}));
}

/// Files may grow to so many bytes while it lives, beyond which a write is short, then fails.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*signal_)(int);
  rlimit before_{};
};

TEST_CASE(
    "a disk that is full, in write or only in fdatasync, ends a run with one error and a whole store") {
  const TemporaryFolder synced, limited;
  fdatasync_error = ENOSPC;
  CHECK_THROWS_WITH(run_part(synced.path(), {}),
                    Catch::Contains("trials.jsonl: cannot be written: No space left"));
  fdatasync_error = 0;
  {
    const FileLimit limit(2000);
    CHECK_THROWS_AS(run_part(limited.path(), {}), Error);
  }
  const std::string kept = read_text(toy_folder(limited) + "/trials.jsonl");
  REQUIRE(!kept.empty());
  CHECK(kept.back() == '\n');
  const auto lines = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), '\n'));
  CHECK(run_part(limited.path(), {}).reused == lines);
  CHECK(run_part(synced.path(), {}).exit_code() == 0);
  CHECK(result_files(synced.path()) == result_files(limited.path()));
}

TEST_CASE("a run whose name did not fit on the disk has its folder all the same") {
  const TemporaryFolder out;
  std::optional<FolderLock> lock;
  {
    const FileLimit limit(0);
    lock.emplace(out.path(), Shard{}, LockOptions{.renew_seconds = 0.01});
  }
  CHECK(read_text(out.path() + "/.lock").empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // beyond two signs
  CHECK_NOTHROW(lock->check());
  CHECK_THROWS_AS(FolderLock(out.path(), Shard{}), DataError);
}

TEST_CASE("states of trials that are stored go as the next run begins") {
  const TemporaryFolder out;
  run_part(out.path(), {0, 2});
  const auto plan = plan_experiment(toy_experiments()[0], {.out = out.path()}, CellFilter(""),
                                    TrialStore::Access::read);
  const auto is_stored = [](const PlannedTrial& trial) { return trial.finished != nullptr; };
  const auto stored = std::find_if(plan.trials.begin(), plan.trials.end(), is_stored);
  const auto missing = std::find_if_not(plan.trials.begin(), plan.trials.end(), is_stored);
  REQUIRE(stored != plan.trials.end());
  REQUIRE(missing != plan.trials.end());
  const TrialCheckpoint left(toy_folder(out), stored->key, 1),
      begun(toy_folder(out), missing->key, 0);
  left.write("late");
  begun.write("half");
  CHECK(run_part(out.path(), {0, 2}).ran == 0);
  CHECK_FALSE(left.read());
  CHECK(begun.read() == "half");
}

TEST_CASE("a trial keeps its state until its line is on the disk") {
  const TemporaryFolder out, unsynced;
  std::vector<Experiment> toys = toy_experiments();
  toys[0].trials = [](Profile) { return std::vector<Json>{{{"size", "small"}}}; };
  std::optional<std::string> found;
  toys[0].run = [&](const Json&, const TrialContext& context) -> Json {
    found = context.kept_state();
    context.progress(0.5, [] { return std::string("half"); });
    return {{"text", std::string(4000, 'x')}};
  };
  ReproduceOptions options{
      .jobs = 1, .out = out.path(), .shard = {0, 1}, .checkpoint_seconds = 0, .quiet = true};
  {
    const FileLimit limit(2000);
    CHECK_THROWS_WITH(reproduce(options, toys, {}), Catch::Contains("trials.0-of-1.jsonl: cannot"));
  }
  CHECK_FALSE(found);
  CHECK(reproduce(options, toys, {}).ran == 1);
  CHECK(found == "half");
  CHECK_FALSE(std::filesystem::exists(toy_folder(out) + "/checkpoints"));

  options.out = unsynced.path();
  fdatasync_error = ENOSPC;
  CHECK_THROWS_WITH(reproduce(options, toys, {}), Catch::Contains("No space left"));
  fdatasync_error = 0;
  CHECK(std::filesystem::exists(toy_folder(unsynced) + "/checkpoints"));
}

}  // namespace
}  // namespace boltzmark::experiments
