// Studies on ranks whose disk fails, or that compute otherwise than the others.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "boltzmark/core/simd.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/kit/sources.hpp"
#include "verification/ranks/launched.hpp"
#include "verification/ranks/stored.hpp"
#include "verification/skip.hpp"

namespace ranks_test {
namespace {

using boltzmark::experiments::read_text;
using Json = nlohmann::json;

void check_ends_with_one_line(int code, const std::string& err, const std::string& problem) {
  INFO(err);
  CHECK(code == 1);
  CHECK_THAT(err, Catch::Contains("trials.jsonl: cannot be written: " + problem));
  CHECK(err.find("toy_study: ") == err.rfind("toy_study: "));
}

TEST_CASE("a disk that is full ends all ranks with one line, and the store is whole") {
  if (!can_name_hosts()) return skip("this system lets no process have disks of its own");
  const Folder folder;
  const std::string out = folder / "out";
  const StudyRun run = run_on_small_disk(folder / "disk", 400, out, {"--bytes", "15000"});
  check_ends_with_one_line(run.code, run.err, "No space left");
  const int lines = stored(out);
  CHECK(lines > 5);
  CHECK(read_text(store_of(out)).back() == '\n');
  const StudyRun rest = run_study(2, out, {"--bytes", "15000"});
  CHECK(rest.code == 0);
  CHECK(Json::parse(rest.out)["reused"] == lines);
  CHECK(result_files(out) == expected());
}

TEST_CASE("a disk that fails, once or from then on, ends all ranks, and the study goes on") {
  const std::string full = std::to_string(ENOSPC), broken = std::to_string(EIO),
                    quota = std::to_string(EDQUOT);
  const std::pair<std::string, int> faults[] = {{"fdatasync:" + full + ":once", ENOSPC},
                                                {"fdatasync:" + broken + ":once", EIO},
                                                {"fdatasync:" + broken, EIO},
                                                {"fdatasync:" + quota, EDQUOT},
                                                {"write:150", ENOSPC}};
  for (const auto& [fault, error] : faults) {
    INFO(fault);
    const Folder folder;
    const std::string out = folder / "out";
    Launched job(3, with_fault(fault, study(out, {"--sleep", "20"})));
    REQUIRE(job.wait(20));
    check_ends_with_one_line(job.code(), job.err(), std::strerror(error));
    CHECK(wait_for_none(out, 3));
    const std::string text = read_text(store_of(out));
    CHECK((text.empty() || text.back() == '\n'));
    const int lines = stored(out);
    CHECK(lines < kTrials);
    const StudyRun rest = run_study(2, out);
    REQUIRE(rest.code == 0);
    CHECK(Json::parse(rest.out)["reused"] == lines);
    CHECK(result_files(out) == expected());
  }
}

TEST_CASE("a rank whose data or arithmetic differ is refused at the start, by its host") {
  if (!can_name_hosts()) return skip("this system lets no process have a host name of its own");
  const Folder folder;
  const std::string out = folder / "out";
  const StudyRun data = run_on_two_hosts(out, {"--other-data-rank", "1"});
  CHECK(data.code == 2);
  CHECK_THAT(data.err,
             Catch::StartsWith("toy_study: rank 1 on host other: toy/one and its data = "));
  CHECK_FALSE(std::filesystem::exists(out));
  const StudyRun arithmetic = run_on_two_hosts(out, {}, with_fault("exp", {}));
  CHECK(arithmetic.code == 2);
  CHECK_THAT(arithmetic.err, Catch::StartsWith("toy_study: rank 1 on host other: arithmetic = "));
  CHECK_FALSE(std::filesystem::exists(out));
  const StudyRun equal = run_on_two_hosts(out, {}, with_fault("none", {}));
  CHECK(equal.code == 0);
  CHECK(result_files(out) == expected());
  CHECK_THAT(read_text(store_of(out)), Catch::Contains("\"host\":\"other\""));
}

TEST_CASE("of a host's ranks the first reads the data, and others take its word") {
  const Folder folder;
  // The second rank has a data file to read that is not there.
  const StudyRun run = run_study(2, folder / "out", {"--other-data-rank", "1"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(result_files(folder / "out") == expected());
}

TEST_CASE("ranks do not wait for ever for one that says nothing from the start") {
  const Folder folder;
  const std::string out = folder / "out";
  for (const char* mute : {"0", "1"}) {
    Launched job(2, study(out, {"--mute-rank", mute, "--start-seconds", "2"}));
    REQUIRE(job.wait(30));
    INFO(job.err());
    CHECK(job.code() != 0);
    CHECK_THAT(job.err(), Catch::Contains("a rank has died, or does not answer"));
    CHECK(wait_for_none(out, 2));
    CHECK_FALSE(std::filesystem::exists(out));
  }
  // Later than that nobody is timed.
  const StudyRun run = run_study(2, out, {"--start-seconds", "2", "--sleep", "200"});
  CHECK(run.code == 0);
  CHECK(result_files(out) == expected());
}

TEST_CASE("a rank may open as many files as the system lets it") {
  const Folder folder;
  const std::string out = folder / "out";
  std::vector<std::string> words = {"/bin/sh", "-c", "ulimit -Sn 64; exec \"$@\"", "sh"};
  const std::vector<std::string> toy = study(out, {"--sleep", "100"});
  words.insert(words.end(), toy.begin(), toy.end());
  Launched job(2, words);
  REQUIRE(wait_for_lines(store_of(out), 2));
  const std::string limits = read_text("/proc/" + std::to_string(pid_of(out, 1)) + "/limits");
  std::istringstream line(limits.substr(limits.find("Max open files") + 14));
  std::string soft, hard;
  line >> soft >> hard;
  CHECK(soft != "64");
  CHECK(soft == hard);
  REQUIRE(job.wait(60));
  CHECK(job.code() == 0);
}

TEST_CASE("a rank of another build is refused at the start, by its host") {
  if (!can_name_hosts()) return skip("this system lets no process have a host name of its own");
  const Folder folder;
  const std::string out = folder / "out", other = folder / "other";
  const std::string hash = boltzmark::experiments::program_hash();
  std::string program = read_text(study(out)[0]);
  int found = 0;  // its first half, since compilers write a short text as two numbers
  for (std::size_t at = 0; (at = program.find(hash.substr(0, 8), at)) != std::string::npos; ++at) {
    program.replace(at, 8, "01234567");
    ++found;
  }
  REQUIRE(found > 0);
  boltzmark::experiments::write_text(other, program);
  std::filesystem::permissions(other, std::filesystem::perms::owner_all);
  const StudyRun run =
      run_on_two_hosts(out, {}, {"/bin/sh", "-c", "shift; exec " + other + " \"$@\"", "sh"});
  CHECK(run.code == 2);
  CHECK_THAT(run.err, Catch::StartsWith("toy_study: rank 1 on host other: sources = 01234567" +
                                        hash.substr(8) + " (must be that of rank 0"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("all ranks take the path of the weakest of them, or the one that rank 0 names") {
  if (!can_name_hosts()) return skip("this system lets no process have a host name of its own");
  const auto paths_of = [](const StudyRun& run, const std::string& out) {
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(result_files(out) == expected());
    const std::string text = read_text(store_of(out));
    int weak = 0;
    for (std::size_t at = 0; (at = text.find("\"simd\":\"SSE4\"", at)) != std::string::npos; ++at)
      ++weak;
    return weak;
  };
  const std::vector<std::string> weak = {"/usr/bin/env", "BOLTZMARK_SIMD=sse4"};
  const Folder folder;
  CHECK(paths_of(run_on_two_hosts(folder / "weak", {}, weak), folder / "weak") == kTrials);
  const auto paths = boltzmark::simd_paths();  // the best first
  const std::string best = paths.front() == "amx" ? paths[1] : paths.front();
  const bool has_better = best != "sse4";
  const std::vector<std::string> named = {"/usr/bin/env", "BOLTZMARK_SIMD=" + best};
  CHECK(paths_of(run_on_two_hosts(folder / "named", {}, weak, named), folder / "named") ==
        (has_better ? 0 : kTrials));
  CHECK(paths_of(run_on_two_hosts(folder / "own", {}), folder / "own") ==
        (has_better ? 0 : kTrials));
}

}  // namespace
}  // namespace ranks_test
