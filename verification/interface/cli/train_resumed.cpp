// The curves of a run that was stopped or killed and goes on are those of one that never was.
#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "verification/interface/cli/curves.hpp"
#include "verification/interface/cli/json.hpp"

using namespace cli_test;

namespace {

struct CurvesRun {
  const io_test::Folder& folder;
  Arguments kind = {};

  Arguments arguments(const std::string& name, const std::string& updates,
                      const Arguments& more = {}) const {
    Arguments all = {"train",        "bas",
                     "--hidden",     "8",
                     "--updates",    updates,
                     "--out",        folder / (name + ".npz"),
                     "--checkpoint", folder / (name + ".part"),
                     "--curves",     folder / (name + ".curves"),
                     "--quiet"};
    all.insert(all.end(), kind.begin(), kind.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string table(const std::string& name) const {
    return io_test::read_all(folder / (name + ".curves/curves.csv"));
  }
  std::string picture(const std::string& name) const {
    return io_test::read_all(folder / (name + ".curves/curves.svg"));
  }
  std::string model(const std::string& name) const {
    return io_test::read_all(folder / (name + ".npz"));
  }
};

// What is plotted, without the folder's name in ids.
std::string without_ids(std::string svg, const std::string& name) {
  for (std::size_t at = 0; (at = svg.find(name + ".curves", at)) != std::string::npos;)
    svg.erase(at, name.size());
  return svg;
}

}  // namespace

TEST_CASE("a checkpoint and a model may lie in the folder of the curves, but not be them") {
  const io_test::Folder folder;
  const std::string curves = folder / "run";
  std::filesystem::create_directory(curves);
  const auto train = [&](const std::string& checkpoint, const std::string& out) {
    return run({"train", "bas", "--hidden", "2", "--updates", "20", "--evaluate", "10", "--curves",
                curves, "--checkpoint", curves + "/" + checkpoint, "--out", curves + "/" + out,
                "--force", "--quiet"});
  };
  CHECK(train("part", "m.npz").code == 0);
  CHECK(train("part", "m.npz").code == 0);
  for (const auto& [checkpoint, out] :
       {std::pair{"curves.csv", "m.npz"}, {"part", "curves.svg"}, {"other", "curves.csv"}}) {
    const Run refused = train(checkpoint, out);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Catch::Contains("is both --curves and"));
  }
  // What the curves would replace is no data set either.
  const Run refused =
      run({"train", curves + "/curves.csv", "--hidden", "2", "--updates", "20", "--evaluate", "10",
           "--curves", curves, "--out", folder / "n.npz", "--force"});
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, Catch::Contains("is both --curves and DATASET"));
}

TEST_CASE("a run that was killed twice goes on to the curves of one that never was") {
  for (const Arguments& kind :
       {Arguments{"--evaluate", "2000", "--negative", "pt:3:1", "--validate", "bas"},
        Arguments{"--evaluate", "2000", "--evaluate-sweeps", "60", "--negative", "cast:3:0.2"}}) {
    const io_test::Folder folder;
    const CurvesRun runs{folder, kind};
    const std::string updates = "30000";
    const Json whole = json_of(runs.arguments("whole", updates));
    {
      Process process(runs.arguments("killed", updates));
      REQUIRE(process.wait_for("\n      2000  "));
      process.signal(SIGINT);  // saves
      CHECK(process.wait().code == 1);
    }
    REQUIRE(std::filesystem::exists(folder / "killed.part"));
    {
      Process process(runs.arguments("killed", updates));  // no --force: the curves are its own
      REQUIRE(process.wait_for("  "));                     // another evaluation: the table is ahead
      process.signal(SIGKILL);
      process.wait();
    }
    CHECK(runs.table("killed") != runs.table("whole"));
    const Json rest = json_of(runs.arguments("killed", updates));
    CHECK(rest["resumed_at"].get<int>() > 0);
    CHECK(rest["evaluations"] == whole["evaluations"]);
    CHECK(rest["warnings"] == whole["warnings"]);
    CHECK(runs.model("killed") == runs.model("whole"));
    CHECK(runs.table("killed") == runs.table("whole"));
    CHECK(without_ids(runs.picture("killed"), "killed") ==
          without_ids(runs.picture("whole"), "whole"));
  }
}

TEST_CASE("a run that gets more updates leaves out the evaluation that ended it") {
  const io_test::Folder folder;
  // Round trips of the negative phase's ladder alone, and of the tracker's alone.
  for (const Arguments& trips :
       {Arguments{"--negative", "pt:3:1"}, Arguments{"--evaluate-sweeps", "60"}}) {
    CurvesRun runs{folder, {"--evaluate", "100", "--force"}};
    runs.kind.insert(runs.kind.end(), trips.begin(), trips.end());
    const Json whole = json_of(runs.arguments("whole", "420"));
    const Json part = json_of(runs.arguments("more", "250"));
    CHECK(part["evaluations"].back()["update"] == 250);
    // The same run again ends with the same.
    CHECK(json_of(runs.arguments("more", "250"))["evaluations"] == part["evaluations"]);
    CHECK(json_of(runs.arguments("more", "420"))["evaluations"] == whole["evaluations"]);
    CHECK(runs.table("more") == runs.table("whole"));
    for (const char* name : {"whole.part", "more.part"}) std::filesystem::remove(folder / name);
  }
}

TEST_CASE("evaluations of another kind are not gone on with, which is said") {
  const io_test::Folder folder;
  const CurvesRun runs{folder};
  const std::string valid = folder.write("v.csv", "1,1,1,1,0,0,0,0,1,1,1,1,0,0,0,0\n"),
                    other = folder.write("o.csv", "1,1,1,1,0,0,0,0,1,1,1,1,1,1,1,1\n");
  const std::vector<std::pair<const char*, Arguments>> kinds = {
      {"none", {}},
      {"exact", {"--evaluate", "100"}},
      {"another EVERY", {"--evaluate", "50"}},
      {"validated", {"--evaluate", "100", "--validate", valid}},
      {"validated by others", {"--evaluate", "100", "--validate", other}},
      {"tracked", {"--evaluate", "100", "--evaluate-sweeps", "20"}},
      {"tracked otherwise", {"--evaluate", "100", "--evaluate-sweeps", "30"}}};
  for (const auto& [first, before] : kinds) {
    Arguments all = {"train",        "bas",           "--hidden", "4",
                     "--updates",    "200",           "--out",    folder / "m.npz",
                     "--checkpoint", folder / "kept", "--force"};
    all.insert(all.end(), before.begin(), before.end());
    std::filesystem::remove(folder / "kept");
    REQUIRE(run(all).code == 0);
    for (const auto& [then, after] : kinds) {
      if (after.empty()) continue;
      INFO(first << ", then " << then);
      std::filesystem::copy_file(folder / "kept", folder / "part",
                                 std::filesystem::copy_options::overwrite_existing);
      Arguments more = {"train",          "bas",          "--hidden",      "4",
                        "--updates",      "300",          "--json",        "--out",
                        folder / "m.npz", "--checkpoint", folder / "part", "--force"};
      more.insert(more.end(), after.begin(), after.end());
      const Run result = run(more);
      REQUIRE(result.code == 0);
      const bool same = std::string(first) == then;
      const Json evaluations = Json::parse(result.out)["evaluations"];
      CHECK(evaluations.front()["update"] == (same ? 0 : 200));
      CHECK((result.err.find("evaluations begin at update 200") != std::string::npos) == !same);
    }
  }
}

TEST_CASE("curves that are not those of the run that goes on are not replaced") {
  const io_test::Folder folder;
  const CurvesRun runs{folder, {"--evaluate", "100"}};
  REQUIRE(run(runs.arguments("m", "200")).code == 0);
  const std::string table = folder / "m.curves/curves.csv", kept = io_test::read_all(table),
                    model = runs.model("m");
  std::filesystem::remove(folder / "m.npz");
  folder.write("m.curves/curves.csv", "mine\n");
  check_refused(run(runs.arguments("m", "300")), {"curves.csv: exists already"});
  CHECK(io_test::read_all(table) == "mine\n");
  CHECK_FALSE(std::filesystem::exists(folder / "m.npz"));
  folder.write("m.curves/curves.csv", kept);
  const Run same = run(runs.arguments("m", "200"));
  CHECK(same.code == 0);
  CHECK(io_test::read_all(table) == kept);
  CHECK(runs.model("m") == model);
  std::filesystem::remove(folder / "m.part");
  std::filesystem::remove(folder / "m.npz");
  check_refused(run(runs.arguments("m", "200")), {"curves.csv: exists already"});
}

TEST_CASE("a checkpoint whose evaluations are damaged or cut short is refused") {
  const io_test::Folder folder;
  const CurvesRun runs{folder, {"--evaluate", "100", "--evaluate-sweeps", "20", "--force"}};
  REQUIRE(run(runs.arguments("m", "200")).code == 0);
  const std::string part = folder / "m.part", bytes = io_test::read_all(part);
  const std::size_t record = bytes.find("evaluations of ");
  REQUIRE(record != std::string::npos);
  const auto refused = [&](std::string damaged) {
    folder.write("m.part", damaged);
    const Run result = run(runs.arguments("m", "300"));
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(lines(result.err) == 1);
    CHECK(result.err.find(part) != std::string::npos);
    CHECK(io_test::read_all(part) == damaged);
  };
  for (const std::size_t at : {record + 40, record + 100, record + 700}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    refused(damaged);
  }
  refused(bytes.substr(0, record + 60));
  refused(bytes.substr(0, record) + "evaluations of 99999999999 bytes\n" +
          bytes.substr(record + 40));
  folder.write("m.part", bytes);
  CHECK(run(runs.arguments("m", "300")).code == 0);
}
