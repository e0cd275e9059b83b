// Studies on the ranks of mpirun: the same bytes for any number of them, whoever dies on the way.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "experiments/kit/files.hpp"
#include "experiments/kit/ranks/host.hpp"
#include "verification/ranks/launched.hpp"
#include "verification/ranks/stored.hpp"
#include "verification/skip.hpp"

namespace ranks_test {
namespace {

using boltzmark::experiments::read_text;
using Json = nlohmann::json;

TEST_CASE(
    "a study on 1, 2, 3 and 5 ranks leaves the bytes of one process, with 2 jobs a rank too") {
  for (const int ranks : {1, 2, 3, 5})
    for (const char* jobs : {"1", "2"}) {
      const Folder folder;
      const StudyRun run = run_on_mpirun(ranks, folder / "out", {"--jobs", jobs});
      INFO(run.err);
      REQUIRE(run.code == 0);
      const Json json = Json::parse(run.out);
      CHECK(json["ran"] == kTrials);
      CHECK(json["ranks"] == ranks);
      CHECK(json["lost"] == 0);
      CHECK(stored(folder / "out") == kTrials);
      CHECK(result_files(folder / "out") == expected());
    }
}

TEST_CASE("what is too long for a message goes in pieces, to the same bytes") {
  for (const char* bytes : {"1", "7", "1000"}) {
    INFO(bytes << " bytes a message");
    const Folder folder;
    const StudyRun run = run_study(3, folder / "out", {"--most-bytes", bytes});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(Json::parse(run.out)["ranks"] == 3);
    CHECK(result_files(folder / "out") == expected());
  }
}

TEST_CASE("messages that are held back, by eight seeds, change no byte of a study on 4 ranks") {
  for (int seed = 0; seed < 8; ++seed) {
    const Folder folder;
    const StudyRun run = run_study(4, folder / "out",
                                   {"--hold-seed", std::to_string(seed), "--sleep", "2", "--jobs",
                                    std::to_string(1 + seed % 3)});
    INFO(seed << " " << run.err);
    REQUIRE(run.code == 0);
    CHECK(Json::parse(run.out)["ran"] == kTrials);
    CHECK(result_files(folder / "out") == expected());
  }
}

TEST_CASE("shards on ranks, mixed with a run without, leave the bytes of one process") {
  const Folder folder;
  const std::string out = folder / "out";
  for (const auto& [ranks, shard] : {std::pair{2, "0/3"}, {3, "2/3"}}) {
    REQUIRE(run_study(ranks, out, {"--shard", shard}).code == 0);
    const StudyRun again = run_study(1, out, {"--shard", shard});
    CHECK(Json::parse(again.out)["ran"] == 0);  // each rank ran the trials that it was given
  }
  const StudyRun rest = run_study(2, out);
  REQUIRE(rest.code == 0);
  CHECK(Json::parse(rest.out)["reused"] == kTrials - stored(out));
  CHECK(stored(out) > 0);
  CHECK(result_files(out) == expected());
}

TEST_CASE("a trial that throws on a rank is a failure with its host, and the others are stored") {
  const Folder folder;
  const StudyRun run = run_study(2, folder / "out", {"--throws-at", "39"});
  CHECK(run.code == 1);
  const Json json = Json::parse(run.out);
  REQUIRE(json["failures"].size() == 1);
  CHECK_THAT(json["failures"][0].get<std::string>(),
             Catch::Contains("no luck") &&
                 Catch::EndsWith("(on host " + boltzmark::experiments::host_name() + ")"));
  CHECK(stored(folder / "out") == kTrials - 1);
}

TEST_CASE(
    "a worker killed with SIGKILL ends the job, nothing stored is lost, and the study goes on") {
  const Folder folder;
  const std::string out = folder / "out";
  for (const int rank : {1, 2}) {
    const int lines = stored(out) + 4;
    Launched job(3, study(out, {"--sleep", "500"}));
    const bool came = wait_for_lines(store_of(out), lines);
    INFO(lines << " lines: " << job.err() << job.out());
    REQUIRE(came);
    kill(pid_of(out, rank), SIGKILL);
    REQUIRE(job.wait(10));
    CHECK(job.code() != 0);
    CHECK(wait_for_none(out, 3));
    CHECK(stored(out) >= lines);
  }
  check_goes_on(out);
}

TEST_CASE(
    "three studies of which a random rank is killed at a random moment leave the same bytes") {
  std::mt19937 draws(1);
  const auto below = [&](int n) { return static_cast<int>(draws() % static_cast<unsigned>(n)); };
  for (int number = 0; number < 3; ++number) {
    const Folder folder;
    const std::string out = folder / "out";
    {
      // 24 trials are made at once: however late the kill comes, it comes in the study's midst.
      Launched job(3, study(out, {"--sleep", "40", "--jobs", std::to_string(1 + below(2)),
                                  "--stall-after", "8"}));
      const int lines = 1 + below(kTrials / 2), rank = below(3);
      REQUIRE(wait_for_lines(store_of(out), lines));
      std::this_thread::sleep_for(std::chrono::milliseconds(below(40)));
      kill(pid_of(out, rank), SIGKILL);
      INFO(number << ": rank " << rank << " after " << lines << " lines " << job.err());
      REQUIRE(job.wait(10));
      CHECK(wait_for_none(out, 3));
      CHECK(stored(out) >= lines);
      CHECK(stored(out) <= 24);
    }
    check_goes_on(out);
  }
}

TEST_CASE("after rank 0 or mpirun is killed no process is left, and the study goes on") {
  for (const bool launcher : {false, true}) {
    const Folder folder;
    const std::string out = folder / "out";
    Launched job(3, study(out, {"--sleep", "50"}));
    REQUIRE(wait_for_lines(store_of(out), 5));
    if (launcher)
      job.signal(SIGKILL);
    else
      kill(pid_of(out, 0), SIGKILL);
    REQUIRE(job.wait(10));
    CHECK(wait_for_none(out, 3));
    check_goes_on(out);
  }
}

TEST_CASE("SIGTERM or Ctrl-C at mpirun leaves the store whole, and the study goes on") {
  for (const int number : {SIGTERM, SIGINT}) {
    INFO("signal " << number);
    const Folder folder;
    const std::string out = folder / "out";
    Launched job(3, study(out, {"--sleep", "50", "--times", "1"}));
    REQUIRE(wait_for_lines(store_of(out), 5));
    job.signal(number);
    REQUIRE(job.wait(20));  // mpirun kills what is left after two seconds
    const int lines = stored(out);
    const std::string times = read_text(out + ".times");
    const auto made = std::count(times.begin(), times.end(), '\n');
    CHECK(made >= lines);
    CHECK(lines >= made - 3);  // but for what each rank was about to tell
    CHECK(job.code() != 0);
    CHECK(wait_for_none(out, 3));
    CHECK(read_text(store_of(out)).back() == '\n');
    check_goes_on(out);
  }
}

/// A study of which a rank is stopped for good.
void check_without_a_rank(const std::vector<std::string>& options, int code) {
  for (int attempt = 1;; ++attempt) {
    const Folder folder;
    const std::string out = folder / "out";
    std::vector<std::string> all = {"--sleep", "200", "--lease", "2"};
    all.insert(all.end(), options.begin(), options.end());
    Launched job(3, study(out, all));
    REQUIRE(wait_for_lines(store_of(out), 3));
    kill(pid_of(out, 2), SIGSTOP);
    const bool ended = job.wait_with_stopped_rank();
    if (!ended && attempt < 3) continue;
    INFO(job.out() << job.err());
    REQUIRE(ended);
    CHECK(job.code() == code);
    const Json json = Json::parse(job.out().substr(0, job.out().find('\n')));
    CHECK(json["lost"] == 1);
    CHECK(json["reissued"] >= 1);
    CHECK(json["failures"].size() == (code == 0 ? 0 : 1));
    CHECK(stored(out) == kTrials - (code == 0 ? 0 : 1));
    if (code == 0) CHECK(result_files(out) == expected());
    CHECK_THAT(job.err(), Catch::Contains("all is done"));
    break;
  }
}

TEST_CASE("a rank that is stopped is lost, its trials are given again, and the report is written") {
  check_without_a_rank({}, 0);
}

TEST_CASE("a study that loses a rank and has a failure ends with the code of the failure") {
  check_without_a_rank({"--throws-at", "1"}, 1);
}

/// Stops a rank in a trial, and lets it go on after more than two leases.
Json stopped_and_back(const std::string& out, std::vector<std::string> options, int rank = 1) {
  options.insert(options.end(), {"--sleep", "250", "--lease", "2"});
  Launched job(2, study(out, options));
  REQUIRE(wait_for_lines(store_of(out), 3));
  kill(pid_of(out, rank), SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  kill(pid_of(out, rank), SIGCONT);
  REQUIRE(job.wait());
  INFO(job.err());
  return Json::parse(job.out().substr(0, job.out().find('\n')));
}

TEST_CASE("a rank that comes back after its lease is taken back, and what it made is dropped") {
  const Folder folder;
  const std::string out = folder / "out";
  const Json json = stopped_and_back(out, {});
  CHECK(json["reissued"] >= 1);
  CHECK(json["lost"] == 0);
  CHECK(json["failures"].empty());
  CHECK(stored(out) == kTrials);
  CHECK(result_files(out) == expected());
}

TEST_CASE("ranks are not lost for the time that rank 0 itself is stopped") {
  const Folder folder;
  const std::string out = folder / "out";
  const Json json = stopped_and_back(out, {"--estimate", "100000"}, 0);
  CHECK(json["reissued"] == 0);
  CHECK(json["lost"] == 0);
  CHECK(stored(out) == kTrials);
  CHECK(result_files(out) == expected());
}

TEST_CASE("a study is stored and ends though there is always something more to hear") {
  const Folder folder;
  const std::string out = folder / "out";
  const StudyRun run = run_study(2, out, {"--chatter", "1"});
  REQUIRE(run.code == 0);
  CHECK(stored(out) == kTrials);
  CHECK(result_files(out) == expected());
}

TEST_CASE("trials that measure time run one by one, on one of two hosts") {
  if (!can_name_hosts()) return skip("this system lets no process have a host name of its own");
  const Folder folder;
  const std::string out = folder / "out";
  const StudyRun run =
      run_on_two_hosts(out, {"--alone", "1", "--times", "1", "--jobs", "2", "--sleep", "20"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(result_files(out) == expected());
  std::ifstream times(out + ".times");
  std::string host, first;
  double start = 0, end = 0, last = 0;
  int count = 0;
  for (; times >> host >> start >> end; last = end, ++count) {
    if (count == 0) first = host;
    CHECK(host == first);
    CHECK(start >= last);
  }
  CHECK(count == kTrials);
}

TEST_CASE("a trial that keeps its state is taken over from the last whole one, in a copy") {
  const Folder one, two;
  const std::vector<std::string> options = {
      "--count", "2", "--steps", "20", "--sleep", "200", "--estimate", "100000", "--lease", "2"};
  auto whole = options;
  whole[5] = "0";
  REQUIRE(run_study(1, one / "out", whole).code == 0);
  const std::string out = two / "out", steps = out + ".steps";
  Launched job(2, study(out, options));
  REQUIRE(wait_for_lines(steps, 12));
  kill(pid_of(out, 1), SIGSTOP);
  // Rank 1 goes on once rank 0 has made steps of its trial, too.
  const auto made_by = [&] {
    std::map<int, std::map<int, std::vector<int>>> made;  // by rank and trial
    std::istringstream lines(read_text(steps));
    for (int trial = 0, step = 0, rank = 0; lines >> trial >> step >> rank;)
      made[rank][trial].push_back(step);
    return made;
  };
  const int taken = made_by()[1].begin()->first;
  REQUIRE(wait_until(60, [&] { return made_by()[0][taken].size() >= 3; }));
  kill(pid_of(out, 1), SIGCONT);
  REQUIRE(job.wait());
  INFO(job.out() << job.err());
  REQUIRE(job.code() == 0);
  CHECK(result_files(out) == result_files(one / "out"));
  // Of rank 1's trial rank 0 made the steps that were left, and its own from the first on.
  auto made = made_by();
  CHECK(made[1].size() == 1);
  CHECK(made[0][1 - taken].size() == 20);
  CHECK(made[0][taken].front() >= 4);
  // What a rank kept of a trial that the other had finished goes with the next run at the latest.
  REQUIRE(run_study(1, out, options).code == 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out))
    CHECK(entry.path().filename() != "checkpoints");
}

TEST_CASE("a rank whose trial lasts for more than a lease is heard all the time") {
  const Folder folder;
  const StudyRun run =
      run_study(2, folder / "out",
                {"--count", "2", "--slow-rank", "1", "--lease", "2", "--estimate", "100000"});
  REQUIRE(run.code == 0);
  CHECK(Json::parse(run.out)["reissued"] == 0);
  CHECK(stored(folder / "out") == 2);
}

TEST_CASE("outputs of two ranks that differ are both kept and told, with exit code 1") {
  const Folder folder;
  const std::string out = folder / "out";
  const Json json = stopped_and_back(out, {"--odd-rank", "1"});
  CHECK(json["reissued"] >= 1);
  REQUIRE(json["failures"].size() >= 1);
  CHECK_THAT(json["failures"][0].get<std::string>(), Catch::Contains("outputs of"));
  const std::string kept = read_text(out + "/quick/toy/one/conflicts.jsonl");
  CHECK(std::count(kept.begin(), kept.end(), '\n') >= 2);
}

TEST_CASE("a study whose lock names another run ends on all ranks, and stores nothing more") {
  const Folder folder;
  const std::string out = folder / "out";
  Launched job(3, study(out, {"--sleep", "200", "--sign", "20"}));
  REQUIRE(wait_for_lines(store_of(out), 6));
  { std::ofstream(out + "/.lock") << "elsewhere, process 7"; }
  REQUIRE(job.wait(20));
  CHECK(job.code() != 0);
  CHECK_THAT(job.err(), Catch::Contains("its lock now names elsewhere, process 7"));
  REQUIRE(wait_for_none(out, 3));
  const int lines = stored(out);
  CHECK(lines < 40);
  CHECK(read_text(out + "/.lock") == "elsewhere, process 7");
  const StudyRun rest = run_study(2, out);
  REQUIRE(rest.code == 0);
  CHECK(Json::parse(rest.out)["reused"] == lines);
  CHECK(result_files(out) == expected());
}

}  // namespace
}  // namespace ranks_test
