#include "experiments/kit/run/store.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/report/report.hpp"
#include "experiments/kit/run/folder_lock.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/run/reference.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/kit/toys.hpp"

namespace boltzmark::experiments {
namespace {

TrialKey key(int repeat, const std::string& sources = "aaaa") {
  return {.inputs = {{"repeat", repeat}}, .seed = 1, .simd = "AVX2", .sources = sources};
}

Trial trial(const TrialKey& of, double value) {
  return {.inputs = of.inputs, .outputs = {{"value", value}}, .revision = "r", .simd = of.simd};
}

double value_of(const TrialStore& store, const TrialKey& of) {
  const auto found = store.find(of);
  REQUIRE(found);
  return found->outputs.at("value");
}

struct StoreFile {
  TemporaryFolder folder;
  std::string path = folder.path() + "/toy/one/trials.jsonl";
};

TEST_CASE("a stored trial is found again after reopening, and only under its whole key") {
  const StoreFile file;
  {
    TrialStore store(file.path);
    store.append(key(1), trial(key(1), 0.1));
  }
  const TrialStore store(file.path);
  REQUIRE(store.find(key(1)));
  CHECK(value_of(store, key(1)) == 0.1);
  TrialKey other = key(1);
  other.seed = 2;
  CHECK_FALSE(store.find(other));
  other = key(1);
  other.simd = "SSE4";
  CHECK_FALSE(store.find(other));
  CHECK_FALSE(store.find(key(2)));
}

TEST_CASE("a trial of other sources is not used, but counted") {
  const StoreFile file;
  TrialStore store(file.path);
  store.append(key(1, "aaaa"), trial(key(1), 0.1));
  CHECK_FALSE(store.find(key(1, "bbbb")));
  CHECK(store.count_other_builds(key(1, "bbbb")) == 1);
  CHECK(store.count_other_builds(key(1, "aaaa")) == 0);
}

TEST_CASE("trials of other builds are those of just these inputs and seed") {
  const StoreFile file;
  TrialStore store(file.path);
  TrialKey other_seed = key(1);
  other_seed.seed = 12;
  for (const TrialKey& one : {key(1, "aaaa"), key(1, "bbbb"), key(11), key(10), other_seed})
    store.append(one, trial(one, 0.1));
  CHECK(store.count_other_builds(key(1, "cccc")) == 2);
  CHECK(store.count_other_builds(key(1, "aaaa")) == 1);
  CHECK(store.count_other_builds(key(11, "cccc")) == 1);
  CHECK(store.count_other_builds(key(2)) == 0);
}

TEST_CASE(
    "a file that is cut while a run has it goes on on a line of its own, and nothing new is lost") {
  for (const auto& [within_line, read] :
       {std::pair{false, true}, {true, true}, {false, false}, {true, false}}) {
    const StoreFile file;
    TrialStore store(file.path);
    for (const int repeat : {1, 2, 3}) {
      if (read)
        store.append(key(repeat), trial(key(repeat), repeat));
      else
        store.add_line(trial_line(key(repeat), trial(key(repeat), repeat)));
      store.write();
    }
    const std::string text = read_text(file.path);
    const std::size_t two_lines = text.find('\n', text.find('\n') + 1) + 1;
    std::filesystem::resize_file(file.path, two_lines - (within_line ? 9 : 0));
    for (const int repeat : {4, 5}) {  // as a run does, which reads at its end
      store.add_line(trial_line(key(repeat), trial(key(repeat), repeat)));
      store.write();
    }
    store.read_appended();
    CHECK(value_of(store, key(4)) == 4);  // as the report of this run finds it
    CHECK(value_of(store, key(5)) == 5);
    const TrialStore again(file.path);
    for (const int repeat : {1, 4, 5}) CHECK(value_of(again, key(repeat)) == repeat);
    CHECK(bool(again.find(key(2))) == !within_line);
    CHECK_FALSE(again.find(key(3)));
    CHECK(again.unreadable() == (within_line ? 1u : 0u));
  }
}

/// Waits until something is in a file.
void wait_for_size(const std::string& path) {
  while (!std::filesystem::exists(path) || std::filesystem::file_size(path) == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST_CASE(
    "a run says how many of the trials that it stored are gone, and the next computes them again") {
  const TemporaryFolder out;
  std::vector<Experiment> toys = toy_experiments();
  const auto run = toys[0].run;
  std::string path;
  std::atomic<int> runs = 0;
  toys[0].run = [&](const Json& inputs, const TrialContext& context) {
    if (++runs == 8) {  // one job: the lines of those before are in the file, or are about to be
      wait_for_size(path);
      std::filesystem::resize_file(path, 0);
    }
    return run(inputs, context);
  };
  const Shard shard = GENERATE(Shard{}, Shard{0, 1});  // whose trials nobody reads
  const ReproduceOptions options{.jobs = 1, .out = out.path(), .shard = shard, .quiet = true};
  path = fmt::format("{}/{}", experiment_folder(out.path(), options.profile, toys[0]),
                     shard.file_name());
  const ReproduceResult cut = reproduce(options, toys, {});
  CHECK(cut.exit_code() == 1);
  REQUIRE(cut.failures.size() == 1);
  CHECK_THAT(cut.failures[0], Catch::Contains("trials that were stored are gone"));
  const int gone = std::stoi(cut.failures[0]);
  CHECK(gone > 0);
  toys[0].run = run;
  const ReproduceResult rest = reproduce(options, toys, {});
  CHECK(rest.exit_code() == 0);
  CHECK(rest.ran == static_cast<std::size_t>(gone));
}

TEST_CASE(
    "a file that is cut while it is read loses no line that is left, and is not cut by its reader") {
  const StoreFile file;
  constexpr int kLines = 3000, kLeft = 1400;
  std::string text;
  for (int repeat = 0; repeat < kLines; ++repeat) {
    Trial long_one = trial(key(repeat), repeat);
    long_one.outputs["text"] = std::string(1000, 'x');  // more than two of the blocks that are read
    text += trial_line(key(repeat), long_one);
  }
  for (int reading = 0; reading < 20; ++reading) {
    write_text(file.path, text);
    std::jthread cutter([&] {
      for (std::size_t size = text.size() - 7; size > text.size() / 2; size -= 20'001) {
        std::filesystem::resize_file(file.path, size);
        std::this_thread::sleep_for(std::chrono::microseconds(50 * (reading % 5)));
      }
    });
    const TrialStore store(file.path, TrialStore::Access::read);
    cutter.join();
    CHECK(store.unreadable() <= 1);  // where it was cut just then, the kernel may give zeros
    for (int repeat = 0; repeat < kLeft; ++repeat)
      if (!store.find(key(repeat))) FAIL("line " << repeat << " was not read");
    CHECK(read_text(file.path) == text.substr(0, std::filesystem::file_size(file.path)));
  }
}

/// Bytes of memory that this process has.
std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST_CASE(
    "stored lines of 1 kB take less than 4 kB each where a run is planned, and are all found") {
  constexpr int kLines = 50'000;
  const TemporaryFolder out;
  std::vector<Experiment> toys = toy_experiments();
  toys[0].trials = [](Profile) {
    std::vector<Json> all;
    for (int i = 0; i < kLines; ++i) all.push_back({{"size", "small"}, {"repeat", i}});
    return all;
  };
  const ReproduceOptions options{.out = out.path()};
  const CellFilter any("");
  std::string text, path;
  {
    const PlannedExperiment plan = list_trials(toys[0], options, any);
    path = plan.folder + "/trials.jsonl";
    for (const PlannedTrial& each : plan.trials)
      text += trial_line(each.key, {.inputs = each.key.inputs,
                                    .outputs = {{"text", std::string(700, 'x')}},
                                    .revision = std::string(40, 'r')});
  }
  CHECK(text.size() / kLines > 900);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  write_text(path, text);
  malloc_trim(0);  // what is free would hide what is taken
  const std::size_t before = resident_bytes();
  const PlannedExperiment plan = plan_experiment(toys[0], options, any);
  const std::size_t bytes = resident_bytes() - std::min(before, resident_bytes());
  CHECK(plan.store->unreadable() == 0);
  CHECK(plan.count_to_run() == 0);
  INFO(bytes / kLines << " bytes a line");
  if (!cli_test::kSanitized) CHECK(bytes / kLines < 4000);
}

TEST_CASE("a last line torn at any byte is cut off, and the store goes on whole") {
  const StoreFile file;
  const std::string first = trial_line(key(1), trial(key(1), 0.1));
  const std::string second = trial_line(key(2), trial(key(2), 0.2));
  for (std::size_t kept = 0; kept < second.size(); ++kept) {
    write_text(file.path, first + second.substr(0, kept));
    TrialStore store(file.path);
    CHECK(store.find(key(1)));
    CHECK_FALSE(store.find(key(2)));
    CHECK(store.unreadable() == 0);
    store.append(key(2), trial(key(2), 0.2));
    REQUIRE(read_text(file.path) == first + second);
    REQUIRE(store.find(key(2)));
  }
}

TEST_CASE("of two trials with one key the later counts") {
  const StoreFile file;
  {
    TrialStore store(file.path);
    store.append(key(1), trial(key(1), 0.1));
    store.append(key(1), trial(key(1), 0.3));
    CHECK(value_of(store, key(1)) == 0.3);
  }
  CHECK(value_of(TrialStore(file.path), key(1)) == 0.3);
}

TEST_CASE("lines that are not trials are ignored and counted") {
  const StoreFile file;
  const std::string good = trial_line(key(1), trial(key(1), 0.1));
  Json hollow = open_line(trial_line(key(2), trial(key(2), 0.1)));
  hollow["outputs"] = Json::object();
  write_text(file.path, "nonsense\n{}\n[1]\n{\"inputs\": 3}\n\n" + hollow.dump() + "\n" + good);
  const TrialStore store(file.path);
  CHECK(store.unreadable() == 6);
  CHECK(store.find(key(1)));
  CHECK_FALSE(store.find(key(2)));
}

TEST_CASE("a trial of which a byte was changed is computed again, one without a hash is read") {
  const StoreFile file;
  const std::string line = trial_line(key(1), trial(key(1), 0.125));
  const std::size_t digit = line.find("0.125") + 2;
  std::string changed = line;
  changed[digit] = '3';
  write_text(file.path, changed);
  {
    const TrialStore store(file.path);
    CHECK(store.unreadable() == 1);
    CHECK_FALSE(store.find(key(1)));
  }
  // As lines were written before: the same without its hash.
  Json old = Json::parse(line);
  CHECK(old.erase("check") == 1);
  write_text(file.path, old.dump() + "\n");
  CHECK(value_of(TrialStore(file.path), key(1)) == 0.125);
  // The hash follows from what the line says, whatever the order of its keys.
  CHECK(open_line(line) == old);
  CHECK_THROWS_AS(open_line(changed), DataError);
  CHECK_THROWS_AS(open_line("[1]"), DataError);
  CHECK(seal_line(old) == line);
}

TEST_CASE("a line of a trial says what its JSON says, whatever stands in its texts") {
  std::vector<std::string> texts = {"",      "plain", "a \"quote\"", "back\\slash",
                                    "naïve", "end\n", "\x7f"};
  for (char c = 1; c < ' '; ++c) texts.push_back(std::string(20, 'x') + c);
  const Json values = {nullptr,
                       true,
                       -3,
                       0.1,
                       std::nan(""),
                       Json::object(),
                       Json::array(),
                       "[{",
                       {1, 2},
                       {"a", "\"b\""},
                       {{"b", {{"a", 1.5}}}, {"a", "\\"}}};
  texts.push_back(std::string(5000, 'y') + '"');
  for (const std::string& text : texts) {
    CAPTURE(text);
    const TrialKey of{
        .inputs = {{text, text}, {"z", values}}, .seed = ~0ULL, .simd = text, .sources = text};
    const Trial made{.inputs = of.inputs,
                     .outputs = {{"z", values}, {text, {{text, text}}}},
                     .seconds = 1e-5,
                     .revision = text,
                     .simd = text,
                     .host = text};
    CHECK(trial_line(of, made) == seal_line({{"inputs", of.inputs},
                                             {"outputs", made.outputs},
                                             {"seconds", made.seconds},
                                             {"seed", of.seed},
                                             {"simd", of.simd},
                                             {"sources", of.sources},
                                             {"revision", made.revision},
                                             {"host", made.host}}));
  }
  // What is no text at all is refused as JSON refuses it, not written.
  CHECK_THROWS(trial_line(key(1), {.inputs = key(1).inputs, .outputs = {{"a", "\xff"}}}));
}

TEST_CASE("a kept trial that was changed is refused by its line") {
  const StoreFile file;
  const std::string path = file.folder.path() + "/trials.jsonl.gz";
  write_text(path, seal_line({{"inputs", {{"a", 1}}}, {"outputs", {{"x", 2}}}}) +
                       R"({"check":"0123456789abcdef","inputs":{"a":2},"outputs":{"x":2}})"
                       "\n");
  try {
    read_reference(path);
    FAIL("a changed line was read");
  } catch (const DataError& error) {
    CHECK(std::string(error.what()).find("line 2: a line was changed") != std::string::npos);
  }
}

TEST_CASE("numbers come back from the store with the same bits, and what is not finite as null") {
  const StoreFile file;
  TrialStore store(file.path);
  const double inconvenient = 0.1 + 0.2;
  Trial odd = trial(key(1), inconvenient);
  odd.outputs["infinite"] = std::numeric_limits<double>::infinity();
  store.append(key(1), odd);
  CHECK(value_of(store, key(1)) == inconvenient);
  CHECK(std::isnan(number(store.find(key(1))->outputs.at("infinite"))));
}

TEST_CASE("kept trials are read back by their inputs, and merged with later ones") {
  const StoreFile file;
  const std::string path = file.folder.path() + "/trials.jsonl.gz";
  CHECK(read_reference(path).empty());
  keep_in_reference(path, {trial(key(1), 0.1), trial(key(2), 0.2)});
  keep_in_reference(path, {trial(key(2), 0.25), trial(key(3), 0.3)});
  const auto kept = read_reference(path);
  REQUIRE(kept.size() == 3);
  for (const auto& [repeat, value] : {std::pair(1, 0.1), {2, 0.25}, {3, 0.3}}) {
    const Trial& found = kept.at(key(repeat).inputs.dump());
    CHECK(found.outputs.at("value") == value);
    CHECK(found.from_reference);
  }
  Trial whole = trial(key(4), 0.4);
  whole.seconds = 2.5;
  whole.revision = "1a2b";
  keep_in_reference(path, {whole});
  const Trial found = read_reference(path).at(whole.inputs.dump());
  CHECK(found.seconds == 2.5);
  CHECK(found.revision == "1a2b");
  CHECK(found.simd == "AVX2");
  write_text(path, "not gzip");
  CHECK_THROWS_AS(read_reference(path), DataError);
}

TEST_CASE("a file that cannot be read to its end is refused, not taken for a shorter one") {
  // Of this process's memory no byte can be read at address 0: an error of the system, as of a disk.
  REQUIRE(std::ifstream("/proc/self/mem").is_open());
  CHECK_THROWS_WITH(read_text("/proc/self/mem"), Catch::Contains("cannot be read"));
}

TEST_CASE("a folder that another run has locked is refused") {
  const TemporaryFolder folder;
  {
    const FolderLock lock(folder.path());
    CHECK_THROWS_AS(FolderLock(folder.path()), DataError);
    CHECK_THROWS_WITH(FolderLock(folder.path()), Catch::Contains("in use by another run"));
  }
  CHECK_NOTHROW(FolderLock(folder.path()));
}

TEST_CASE("a file in the place of the folder is refused") {
  const TemporaryFolder folder;
  write_text(folder.path() + "/file", "text");
  CHECK_THROWS_AS(FolderLock(folder.path() + "/file"), DataError);
  CHECK_THROWS_AS(TrialStore(folder.path() + "/file/trials.jsonl"), DataError);
  CHECK_THROWS_AS(write_text(folder.path() + "/file/x", "text"), DataError);
}

}  // namespace
}  // namespace boltzmark::experiments
