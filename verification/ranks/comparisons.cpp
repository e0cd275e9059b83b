// compare on the ranks of mpirun: the bytes of one process, whoever is killed.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "boltzmark/io/model_file.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/files.hpp"
#include "verification/ranks/launched.hpp"

namespace ranks_test {
namespace {

using namespace boltzmark;
using boltzmark::experiments::read_text;
using Arguments = std::vector<std::string>;

std::string saved_model(const Folder& folder, const std::string& name, std::uint64_t seed) {
  Stream stream(make_key(seed, "ranks"), Purpose::test);
  Eigen::MatrixXd weights(20, 10);
  for (double& weight : weights.reshaped()) weight = 0.3 * stream.normal();
  const std::string path = folder / name;
  write_model(Layered::rbm(weights, Eigen::VectorXd::Zero(20), Eigen::VectorXd::Zero(10)), path);
  return path;
}

Arguments compare(const Arguments& models, const std::string& out, const Arguments& more = {}) {
  Arguments words = {BOLTZMARK_PROGRAM, "compare"};
  words.insert(words.end(), models.begin(), models.end());
  words.insert(words.end(), {"--out", out, "--chains", "20"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

StudyRun run_on(int ranks, const Arguments& words) { return run_to_end(ranks, words); }

/// What --json prints of cells, but times.
std::string cells_of(const StudyRun& run) {
  INFO(run.err);
  REQUIRE(run.code == 0);
  auto json = nlohmann::json::parse(run.out);
  for (auto& cell : json["cells"]) cell.erase("seconds");
  return json.dump();
}

TEST_CASE("compare on 2, 3 and 5 ranks writes the tables of one process") {
  const Folder folder;
  const Arguments models = {saved_model(folder, "one.npz", 1), saved_model(folder, "two.npz", 2)};
  const Arguments more = {
      "--methods", "rts,mbar,ais,smc,raise", "--sweeps", "30,200", "--repeats", "3", "--json",
      "--quiet"};
  const std::string expected = cells_of(run_on(1, compare(models, folder / "one", more)));
  const auto tables = [&](const std::string& out) {
    return read_text(folder / out + "/compare.csv") + read_text(folder / out + "/estimates.csv");
  };
  for (const int ranks : {2, 3, 5}) {
    INFO(ranks << " ranks");
    const std::string out = "on" + std::to_string(ranks);
    CHECK(cells_of(run_on(ranks, compare(models, folder / out, more))) == expected);
    CHECK(tables(out) == tables("one"));
    const std::string store = read_text(folder / out + "/trials.jsonl");
    CHECK(std::count(store.begin(), store.end(), '\n') == 2 * 2 * 3 * 4);
  }
}

TEST_CASE("a comparison of which the ranks are killed goes on, on any number, to the same bytes") {
  const Folder folder;
  const Arguments models = {saved_model(folder, "one.npz", 1)};
  const Arguments more = {"--methods", "rts",    "--sweeps", "2000",   "--repeats",
                          "60",        "--base", "uniform",  "--quiet"};
  const std::string out = folder / "out", store = out + "/trials.jsonl";
  Arguments chains = compare(models, out, more);
  {
    Launched job(3, chains);
    REQUIRE(wait_for_lines(store, 3));
    job.signal(SIGKILL);  // mpirun itself
    REQUIRE(job.wait(20));
  }
  // Who is left of it has ended, or ends as it finds rank 0 gone.
  const auto goes_on = [&] { return run_on(2, chains).code == 0; };
  REQUIRE(wait_until(60, goes_on));
  REQUIRE(run_on(1, compare(models, folder / "whole", more)).code == 0);
  CHECK(read_text(out + "/estimates.csv") == read_text(folder / "whole/estimates.csv"));
  CHECK(read_text(out + "/compare.csv") == read_text(folder / "whole/compare.csv"));
}

TEST_CASE("what is wrong with a comparison is told by one rank, in one line, with exit code 2") {
  const Folder folder;
  const std::string model = saved_model(folder, "one.npz", 1);
  const std::pair<Arguments, std::string> all[] = {
      {compare({folder / "none.npz"}, folder / "out"), "none.npz"},
      {compare({model}, folder / "out", {"--base", folder / "none.csv"}), "none.csv"},
      {compare({model}, folder / "out", {"--methods", "rtz"}), "rtz"}};
  for (const auto& [words, text] : all) {
    const StudyRun run = run_on(3, words);
    INFO(run.err);
    CHECK(run.code == 2);
    const auto at = run.err.find("boltzmark: ");
    REQUIRE(at != std::string::npos);
    CHECK(run.err.find("boltzmark: ", at + 1) == std::string::npos);
    CHECK_THAT(run.err, Catch::Contains(text));
  }
}

}  // namespace
}  // namespace ranks_test
