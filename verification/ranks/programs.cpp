// The program itself on the ranks of mpirun.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/kit/files.hpp"
#include "verification/ranks/launched.hpp"

namespace ranks_test {
namespace {

namespace experiments = boltzmark::experiments;

StudyRun run_program_on(int ranks, const std::vector<std::string>& arguments,
                        const char* program = BOLTZMARK_PROGRAM) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_to_end(ranks, words);
}

/// The lines on stderr that are the program's.
std::vector<std::string> said(const std::string& err) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; (at = err.find("boltzmark: ", at)) != std::string::npos; ++at)
    lines.push_back(err.substr(at, err.find('\n', at) - at));
  return lines;
}

/// Lists the experiments that last half a second at most at smoke, and measure no times.
std::vector<std::string> short_experiments() {
  std::vector<std::string> ids;
  const auto listed =
      nlohmann::json::parse(run_program_on(1, {"list", "experiments", "--json"}).out);
  for (const auto& experiment : listed.at("experiments"))
    if (const std::string id = experiment.at("id");
        experiment.at("smoke_seconds") <= 0.5 && !id.ends_with("cost"))
      ids.push_back(id);
  return ids;
}

TEST_CASE(
    "reproduce on 3 ranks writes the result files of one process, and says on how many it ran") {
  const Folder one, three;
  std::vector<std::string> arguments = short_experiments();
  CHECK(arguments.size() > 15);
  arguments.insert(arguments.begin(), "reproduce");
  arguments.insert(arguments.end(), {"--profile", "smoke", "--json", "--out", one / "out"});
  const StudyRun whole = run_program_on(1, arguments);
  REQUIRE(whole.code == 0);
  arguments.back() = three / "out";
  const StudyRun ranks = run_program_on(3, arguments);
  INFO(ranks.err);
  REQUIRE(ranks.code == 0);
  const auto json = nlohmann::json::parse(ranks.out);  // only rank 0 prints
  CHECK(json["ranks"] == 3);
  CHECK(json["hosts"] == 1);
  CHECK(json["lost_ranks"] == 0);
  CHECK(json["ran"] == nlohmann::json::parse(whole.out)["ran"]);
  CHECK_THAT(ranks.err, Catch::Contains("3 ranks on 1 host, "));
  const auto files = result_files(one / "out");
  CHECK(files.size() > 40);
  CHECK(files == result_files(three / "out"));
}

TEST_CASE("reproduce tells of a rank that is silent, and of the trials that were given again") {
  for (int attempt = 1;; ++attempt) {
    const Folder folder;
    const std::string out = folder / "out";
    Launched job(3, {BOLTZMARK_PROGRAM, "reproduce", "yokoyama2019", "--profile", "smoke", "--jobs",
                     "1", "--lease", "1", "--json", "--out", out});
    const auto lines = [&] {
      int count = 0;
      if (!std::filesystem::exists(out)) return count;
      for (const auto& file : std::filesystem::recursive_directory_iterator(out))
        if (file.path().filename() == "trials.jsonl") {
          const std::string text = experiments::read_text(file.path().string());
          count += static_cast<int>(std::count(text.begin(), text.end(), '\n'));
        }
      return count;
    };
    REQUIRE(wait_until(60, [&] { return lines() >= 2; }));
    const pid_t silent = job.rank(2);
    REQUIRE(silent > 0);
    kill(silent, SIGSTOP);
    const bool ended = job.wait_with_stopped_rank();
    if (!ended && attempt < 3) continue;
    INFO(job.out() << job.err());
    REQUIRE(ended);
    CHECK(job.code() == 0);
    const auto json = nlohmann::json::parse(job.out().substr(0, job.out().find('\n')));
    CHECK(json["lost_ranks"] == 1);
    CHECK(json["reissued"] >= 1);
    CHECK(json["failures"].empty());
    CHECK_THAT(job.err(), Catch::Contains("rank 2 on host ") &&
                              Catch::Contains("its trials are given again") &&
                              Catch::Contains("boltzmark: ranks are silent, but all is done"));
    CHECK(std::filesystem::exists(out + "/smoke/report"));
    break;
  }
}

TEST_CASE("what ranks cannot do is refused by one rank, in one line and with exit code 2") {
  const Folder folder;
  const std::pair<std::vector<std::string>, std::string> all[] = {
      {{"list", "rules"}, "list: ranks = 3 (must be 1"},
      {{"report", "--out", folder / "out"}, "report: ranks = 3 (must be 1"},
      {{"reproduce", "--shard", "3/3"}, "--shard = 3/3"},
      {{"reproduce", "--only", "colour=red", "--profile", "smoke", "--out", folder / "out"},
       "--only colour=red (must match"},
      {{"reproduce", "no-such-paper"}, "no-such-paper"},
      {{"no-such-command"}, "no-such-command: unknown command"}};
  for (const auto& [arguments, text] : all) {
    const StudyRun run = run_program_on(3, arguments);
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(run.out.find("boltzmark") == std::string::npos);
    REQUIRE(said(run.err).size() == 1);
    CHECK_THAT(said(run.err)[0], Catch::Contains(text));
  }
}

TEST_CASE("a program that was built without MPI works as one process, and refuses to be several") {
  const char* const program = BOLTZMARK_PROGRAM_WITHOUT_MPI;
  const auto of = [&](const char* one) {
    return run_program_on(1, {"list", "experiments", "--json"}, one).out;
  };
  CHECK(of(program) == of(BOLTZMARK_PROGRAM));
  CHECK_THAT(run_program_on(1, {"doctor"}, program).out,
             Catch::Contains("none: built without, so that reproduce has one process"));
  const Folder folder;
  const StudyRun run = run_program_on(
      3, {"reproduce", "yokoyama2019", "--profile", "smoke", "--out", folder / "out"}, program);
  INFO(run.err);
  CHECK(run.code == 2);
  REQUIRE(said(run.err).size() == 1);
  CHECK_THAT(
      said(run.err)[0],
      Catch::Contains("reproduce: ranks = 3 (must be 1: this program was built without MPI"));
  CHECK_FALSE(std::filesystem::exists(folder / "out"));
}

TEST_CASE("a model that does not reach the disk is told, and no file is left") {
  const Folder folder;
  const std::string model = folder / "model.npz";
  for (const int error : {ENOSPC, EIO, EDQUOT}) {
    Launched job(1, with_fault("fsync:" + std::to_string(error),
                               {BOLTZMARK_PROGRAM, "make", "product:2:6:5:1:1", "--out", model}));
    REQUIRE(job.wait());
    INFO(job.err());
    CHECK(job.code() != 0);
    REQUIRE(said(job.err()).size() == 1);
    CHECK_THAT(said(job.err())[0], Catch::Contains(std::strerror(error)));
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("help is printed once on several ranks") {
  const StudyRun run = run_program_on(3, {"reproduce", "--help"});
  CHECK(run.code == 0);
  const std::string first = "boltzmark reproduce [ID";
  const auto at = run.out.find(first);
  REQUIRE(at != std::string::npos);
  CHECK(run.out.find(first, at + 1) == std::string::npos);
}

}  // namespace
}  // namespace ranks_test
