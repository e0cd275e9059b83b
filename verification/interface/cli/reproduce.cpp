// Experiments run from the command line, and what a folder of results keeps.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "boltzmark/core/simd.hpp"
#include "experiments/kit/run/store.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/program.hpp"
#include "verification/interface/io/files.hpp"

namespace {

using namespace cli_test;

}  // namespace

TEST_CASE("the program runs an experiment, and again from its store") {
  const io_test::Folder folder;
  const Arguments arguments = {"reproduce", "bruegge2013/fig2", "--profile", "smoke",
                               "--out",     folder / "out",     "--json",    "--quiet"};
  const Run first = run(arguments);
  INFO(first.err);
  REQUIRE(first.code == 0);
  const Json json = Json::parse(first.out);
  CHECK(json["failures"].empty());
  CHECK(json["ran"] == json["planned"]);
  CHECK(json["reused"] == 0);
  CHECK(std::filesystem::exists(json["report"].get<std::string>()));
  const Run second = run(arguments);
  REQUIRE(second.code == 0);
  CHECK(Json::parse(second.out)["ran"] == 0);
  CHECK(Json::parse(second.out)["reused"] == json["planned"]);
  CHECK(run({"report", "--profile", "smoke", "--out", folder / "out"}).code == 0);
  CHECK_THAT(run({"reproduce", "bruegge2013/fig2", "--profile", "smoke", "--out",
                  folder / "stopped", "--max-seconds", "1e-9", "--quiet"})
                 .out,
             Catch::Contains(json["planned"].dump() + " planned, 0 run now, 0 from the store; "));
  Arguments part = arguments;
  part.insert(part.end(), {"--shard", "1/3"});
  const Json shard = Json::parse(run(part).out);
  CHECK(shard["shard"] == "1/3");
  CHECK(shard["report"] == "");
  CHECK(shard["reused"] == shard["planned"]);
  CHECK(json["shard"].is_null());
  // A trial that is stored with two outputs is told by `report` too.
  const std::string store = folder / "out/smoke/bruegge2013/fig2/";
  const std::string text = io_test::read_all(store + "trials.jsonl");
  auto line = boltzmark::experiments::open_line(text.substr(0, text.find('\n')));
  line["outputs"]["activation"][0] = 0.25;
  folder.write("out/smoke/bruegge2013/fig2/trials.0-of-2.jsonl",
               boltzmark::experiments::seal_line(line));
  const Run told = run({"report", "--profile", "smoke", "--out", folder / "out", "--json"});
  CHECK(told.code == 1);
  CHECK_THAT(Json::parse(told.out)["failures"].dump(), Catch::Contains("outputs of"));
  // So is a line that cannot be read, which a page leaves out.
  std::string damaged = text;
  damaged[damaged.find('\n') / 2] ^= 1;
  folder.write("out/smoke/bruegge2013/fig2/trials.jsonl", damaged);
  CHECK_THAT(run({"report", "--profile", "smoke", "--out", folder / "out"}).err,
             Catch::Contains("bruegge2013/fig2: 1 line of the store cannot be read"));
}

TEST_CASE("an experiment that runs afresh leaves the others as they are, and says how to go on") {
  const io_test::Folder folder;
  const auto reproduce = [&](Arguments more) {
    Arguments all = {"reproduce", "--profile", "smoke", "--out", folder / "out"};
    all.insert(all.end(), more.begin(), more.end());
    const Run result = run(all);
    CHECK(result.code == 0);
    return result;
  };
  reproduce({"bruegge2013/fig2"});
  const Run fresh = reproduce({"yokoyama2019/fig5", "--fresh"});
  CHECK_THAT(fresh.err, !Catch::Contains("left as they are"));
  const std::string page = io_test::read_all(folder / "out/smoke/report/report.md");
  CHECK_THAT(page, !Catch::Contains("None of the"));
  const auto stopped = [&](Arguments more) {
    more.insert(more.end(), {"bruegge2013/fig2", "--max-seconds", "1e-9"});
    return reproduce(more).out;
  };
  CHECK_THAT(stopped({"--fresh"}), Catch::Contains("without --fresh to go"));
  reproduce({"bruegge2013/fig2"});
}

TEST_CASE(
    "what an experiment has drawn stays where another seed, build or SIMD path has none of its trials") {
  const io_test::Folder folder;
  const std::string csv = folder / "out/smoke/bruegge2013/fig2/activation-figure.csv",
                    svg = folder / "out/smoke/bruegge2013/fig2/activation.svg";
  const auto reproduce = [&](const char* id, const char* seed) {
    return run({"reproduce", id, "--profile", "smoke", "--out", folder / "out", "--quiet", "--seed",
                seed});
  };
  REQUIRE(reproduce("bruegge2013/fig2", "1").code == 0);
  const std::string drawn = io_test::read_all(csv), picture = io_test::read_all(svg);
  CHECK(drawn.size() > 10000);
  const std::string told =
      "bruegge2013/fig2: what is stored is of another build, seed or SIMD path";
  const auto check_kept = [&](const Run& after, bool left) {
    CHECK(after.code == 0);
    CHECK((after.err.find(told) != std::string::npos) == left);
    CHECK(io_test::read_all(csv) == drawn);
    CHECK(io_test::read_all(svg) == picture);
  };
  check_kept(reproduce("yokoyama2019/fig5", "2"), true);
  check_kept(reproduce("yokoyama2019/fig5", "1"), false);
  const Arguments report = {"report", "--profile", "smoke", "--out", folder / "out"};
  check_kept(run(report), false);
  const std::string worst = boltzmark::simd_paths().back();
  if (boltzmark::simd_paths().size() > 1) {
    // A report is of what the folder has, on whatever machine it is written.
    const std::string page = folder / "out/smoke/report/report.md", whole = io_test::read_all(page);
    check_kept(run(report, {{"BOLTZMARK_SIMD", worst}}), false);
    CHECK(io_test::read_all(page) == whole);
    CHECK_THAT(io_test::read_all(folder / "out/smoke/manifest.json"),
               Catch::Contains(boltzmark::simd_path()));
    check_kept(run({"reproduce", "yokoyama2019/fig5", "--profile", "smoke", "--out", folder / "out",
                    "--quiet"},
                   {{"BOLTZMARK_SIMD", worst}}),
               true);
  }
  // Its own trials of another seed take their place.
  REQUIRE(reproduce("bruegge2013/fig2", "2").code == 0);
  CHECK(run(report).err.empty());
}
