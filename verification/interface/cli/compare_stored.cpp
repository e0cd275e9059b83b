// The runs that compare keeps: what is stored is not made again, and nothing else is taken for it.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "experiments/kit/run/store.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

namespace {

using namespace cli_test;

Arguments compare(const Arguments& models, const std::string& out, const Arguments& more = {}) {
  Arguments command = {"compare"};
  command.insert(command.end(), models.begin(), models.end());
  const Arguments options = {"--methods", "rts,ti,ais", "--sweeps", "40,100", "--repeats",
                             "3",         "--chains",   "10",       "--out",  out};
  command.insert(command.end(), options.begin(), options.end());
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

std::string estimates(const std::string& out) { return io_test::read_all(out + "/estimates.csv"); }
std::string store(const std::string& out) { return io_test::read_all(out + "/trials.jsonl"); }

/// What compare says is stored already; empty: nothing.
std::string said_stored(const Run& result) {
  const auto end = result.err.find(" are in the store of ");
  if (end == std::string::npos) return "";
  const auto start = result.err.rfind("boltzmark: ", end) + 11;
  return result.err.substr(start, end - start);
}

}  // namespace

TEST_CASE(
    "compare goes on from the runs that are stored, to the bytes of one that was never stopped") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(12, 5, 0.5, 1), folder / "m.npz"),
                    whole = folder / "whole", cut = folder / "cut";
  const Run first = run(compare({model}, whole));
  REQUIRE(first.code == 0);
  CHECK(said_stored(first).empty());
  const std::string lines_of = store(whole);
  REQUIRE(lines(lines_of) == 12);  // rts and ti share a run

  // As kill -9 leaves it, in the midst of the sixth line.
  std::filesystem::create_directory(cut);
  std::size_t at = 0;
  for (int line = 0; line < 5; ++line) at = lines_of.find('\n', at) + 1;
  std::ofstream(cut + "/trials.jsonl") << lines_of.substr(0, at + 40);
  const Run rest = run(compare({model}, cut));
  REQUIRE(rest.code == 0);
  CHECK(said_stored(rest) == "5 of 12 runs");
  CHECK(estimates(cut) == estimates(whole));
  CHECK(io_test::read_all(cut + "/compare.csv") == io_test::read_all(whole + "/compare.csv"));
  CHECK(lines(store(cut)) == 12);
  CHECK(store(cut).substr(0, at) == lines_of.substr(0, at));

  // Times, too, are those of the runs that were made.
  const Json once = json_of(compare({model}, whole, {"--quiet"}))["cells"];
  CHECK(once == json_of(compare({model}, whole, {"--quiet"}))["cells"]);
  CHECK(store(whole) == lines_of);
}

TEST_CASE("compare tells a run that two hosts made differently, and keeps both, but not of times") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(12, 5, 0.5, 1), folder / "m.npz"),
                    out = folder / "out";
  REQUIRE(run(compare({model}, out)).code == 0);
  using boltzmark::experiments::open_line;
  using boltzmark::experiments::seal_line;
  const std::string own = store(out);
  Json line = open_line(own.substr(0, own.find('\n')));
  line["host"] = "elsewhere";
  for (Json& estimate : line["outputs"]["estimates"]) estimate["seconds"] = 12345;
  std::ofstream(out + "/trials.jsonl", std::ios::app) << seal_line(line);
  CHECK(run(compare({model}, out)).code == 0);
  CHECK_FALSE(std::filesystem::exists(out + "/conflicts.jsonl"));

  line["outputs"]["estimates"][0]["log_z"] = 1.5;
  std::ofstream(out + "/trials.jsonl", std::ios::app) << seal_line(line);
  std::filesystem::remove(out + "/rmse.svg");
  const Run told = run(compare({model}, out, {"--quiet"}));
  CHECK(told.code == 1);
  CHECK(lines(told.err) == 1);
  CHECK_THAT(told.err, Catch::Contains("of elsewhere and of elsewhere differ (must be equal"));
  CHECK(lines(io_test::read_all(out + "/conflicts.jsonl")) == 2);
  CHECK(std::filesystem::exists(out + "/rmse.svg"));  // the results are written all the same
  const std::string other = saved(random_rbm(12, 5, 0.5, 2), folder / "other.npz");
  CHECK(run(compare({other}, out)).code == 0);
}

TEST_CASE("a torn line of compare's store is cut off however the folder is written") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(12, 5, 0.5, 1), folder / "m.npz"),
                    out = folder / "out";
  REQUIRE(run(compare({model}, out)).code == 0);
  const std::string whole = estimates(out), torn = store(out) + "{\"check\":\"0123";
  for (const char* tail : {"", "/", "//", "/."}) {
    INFO(tail);
    folder.write("out/trials.jsonl", torn);
    const Run again = run(compare({model}, out + tail));
    CHECK(again.code == 0);
    CHECK(said_stored(again) == "12 of 12 runs");
    CHECK(estimates(out) == whole);
  }
  // What is run now is a line of its own.
  folder.write("out/trials.jsonl", torn.substr(torn.find('\n') + 1));
  REQUIRE(run(compare({model}, out + "/")).code == 0);
  CHECK(estimates(out) == whole);
  CHECK(lines(store(out)) == 12);
}

TEST_CASE("figures of an earlier comparison go with it, and no other file does") {
  const io_test::Folder folder;
  const std::string one = saved(random_rbm(12, 5, 0.5, 1), folder / "m.npz"),
                    two = saved(random_rbm(12, 5, 0.5, 2), folder / "other.npz"),
                    out = folder / "out";
  REQUIRE(run(compare({one, two}, out)).code == 0);
  REQUIRE(std::filesystem::exists(out + "/models.svg"));
  for (const char* mine : {"out/rmse-mine.svg", "out/models.svg.bak", "out/bias.txt"})
    folder.write(mine, "x");
  REQUIRE(run(compare({one}, out)).code == 0);
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(out))
    if (entry.path().extension() != ".jsonl") left.insert(entry.path().filename());
  for (const char* gone : {"models.svg", "rmse-1.svg", "rmse-2.svg", "bias-1.svg", "bias-2.svg"})
    CHECK(left.count(gone) == 0);
  for (const char* here : {"rmse.svg", "bias.svg", "compare.csv", "estimates.csv", "rmse-mine.svg",
                           "models.svg.bak", "bias.txt"})
    CHECK(left.count(here) == 1);
}

TEST_CASE("compare makes only the runs that are new: more sweeps, more repeats, another model") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(12, 5, 0.5, 1), folder / "m.npz"),
                    other = saved(random_rbm(12, 5, 0.5, 2), folder / "other.npz");
  const std::string out = folder / "out", fresh = folder / "fresh";
  REQUIRE(run(compare({model}, out)).code == 0);
  const auto widened = [&](const std::string& to) {
    return Arguments{"compare",  model,         other,       "--methods", "ais,rts,ti",
                     "--sweeps", "100,40,1000", "--repeats", "4",         "--chains",
                     "10",       "--out",       to};
  };
  const Run more = run(widened(out));
  REQUIRE(more.code == 0);
  CHECK(said_stored(more) == "12 of 48 runs");
  REQUIRE(run(widened(fresh)).code == 0);
  CHECK(estimates(out) == estimates(fresh));
  // As lengths and methods were named.
  const std::string rows = estimates(out);
  CHECK(rows.find("m.npz,ais,100,0,") < rows.find("m.npz,rts,100,0,"));
  CHECK(rows.find("m.npz,rts,100,3,") < rows.find("m.npz,ais,40,0,"));
  CHECK(rows.find("m.npz,ti,40,3,") < rows.find("m.npz,ais,1000,0,"));
  CHECK(rows.find("m.npz,ti,1000,3,") < rows.find("other.npz,ais,100,0,"));
  // Fewer are a part of them.
  const Run fewer = run(compare({other}, out, {"--quiet"}));
  CHECK(fewer.err.empty());
  CHECK(lines(store(out)) == 48);
  CHECK(lines(estimates(out)) == 1 + 18);
  // All again, if that is asked for.
  CHECK(said_stored(run(compare({other}, out, {"--fresh"}))).empty());
  CHECK(lines(store(out)) == 60);
}

TEST_CASE("no run of compare is taken for one with another model, option, file or seed") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(12, 5, 0.5, 1), folder / "m.npz"),
                    out = folder / "out", ladder = folder.write("ladder.txt", "0 0.3 0.6 1"),
                    data = folder.write("data.csv",
                                        "0,1,0,1,0,1,0,1,0,1,0,1\n1,1,1,1,1,1,0,0,0,0,0,0\n");
  const Arguments given = {"--ladder", ladder, "--base", data, "--base-smoothing", "1"};
  const auto with = [&](const std::string& option, const std::string& value) {
    Arguments more = given;
    const auto at = std::find(more.begin(), more.end(), option);
    if (at == more.end())
      more.insert(more.end(), {option, value});
    else
      *(at + 1) = value;
    return compare({model}, out, more);
  };
  const Run first = run(compare({model}, out, given));
  INFO(first.err);
  REQUIRE(first.code == 0);
  CHECK(said_stored(run(compare({model}, out, given))) == "12 of 12 runs");
  const std::string before = estimates(out);

  std::vector<Arguments> others = {
      with("--seed", "2"),        with("--chains", "12"),
      with("--prior", "exp:1"),   with("--states", "joint"),
      with("--summed", "even"),   with("--base-smoothing", "2"),
      with("--ladder", "linear"), with("--data", data),
      with("--base", "uniform"),  with("--methods", "rts,ti,smc"),
      with("--sweeps", "41,101"),
  };
  // The chains and methods of `compare` are given once.
  for (Arguments& other : others)
    for (const char* option : {"--chains", "--methods", "--sweeps"})
      if (std::count(other.begin(), other.end(), option) > 1) {
        const auto at = std::find(other.begin(), other.end(), option);
        other.erase(at, at + 2);
      }
  for (const Arguments& other : others) {
    INFO(other[other.size() - 2] << " " << other.back());
    Arguments command = other;
    const std::string own = folder / "own";
    std::filesystem::copy(out, own, std::filesystem::copy_options::recursive);
    *(std::find(command.begin(), command.end(), "--out") + 1) = own;
    if (std::find(command.begin(), command.end(), "uniform") != command.end()) {
      const auto smoothing = std::find(command.begin(), command.end(), "--base-smoothing");
      command.erase(smoothing, smoothing + 2);
    }
    const Run result = run(command);
    INFO(result.err);
    REQUIRE(result.code == 0);
    // AIS by itself is the same run whatever the others are.
    const bool shares = std::find(command.begin(), command.end(), "rts,ti,smc") != command.end();
    CHECK(said_stored(result) == (shares ? "6 of 12 runs" : ""));
    std::filesystem::remove_all(own);
  }

  // What parallel tempering and grey cases have of their own.
  const std::string parallel = folder / "parallel",
                    grey = folder.write("grey.csv", "0,20,255,70,100,0,0,255,0,90,10,140\n");
  const auto with_grey = [&](const Arguments& more) {
    Arguments command = {"compare",   model, "--methods", "bar",    "--sweeps",  "40",
                         "--repeats", "2",   "--chains",  "50",     "--sampler", "parallel",
                         "--data",    grey,  "--out",     parallel, "--base",    "uniform"};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  };
  const auto ran = [&](const Arguments& more) {
    const Run result = run(with_grey(more));
    INFO(result.err);
    REQUIRE(result.code == 0);
    return said_stored(result);
  };
  const std::vector<Arguments> unlike = {
      {"--temperatures", "5", "--bundles", "5", "--burn-in", "2", "--binarise", "threshold:80"},
      {"--temperatures", "5", "--bundles", "5", "--burn-in", "4", "--binarise", "threshold:80"},
      {"--temperatures", "5", "--bundles", "6", "--burn-in", "4", "--binarise", "threshold:80"},
      {"--temperatures", "6", "--bundles", "6", "--burn-in", "4", "--binarise", "threshold:80"},
      {"--temperatures", "6", "--bundles", "6", "--burn-in", "4", "--binarise", "sample:1"}};
  for (const Arguments& more : unlike) CHECK(ran(more).empty());
  for (const Arguments& more : unlike) CHECK(ran(more) == "2 of 2 runs");

  // The same names, but what they name has changed.
  folder.write("ladder.txt", "0 0.3 0.7 1");
  CHECK(said_stored(run(compare({model}, out, given))).empty());
  CHECK(estimates(out) != before);
  folder.write("ladder.txt", "0 0.3 0.6 1");
  CHECK(said_stored(run(compare({model}, out, given))) == "12 of 12 runs");
  CHECK(estimates(out) == before);
  folder.write("data.csv", "0,1,0,1,0,1,0,1,0,1,0,1\n1,1,1,1,1,1,1,0,0,0,0,0\n");
  CHECK(said_stored(run(compare({model}, out, given))).empty());
  folder.write("data.csv", "0,1,0,1,0,1,0,1,0,1,0,1\n1,1,1,1,1,1,0,0,0,0,0,0\n");
  saved(random_rbm(12, 5, 0.5, 3), model);
  CHECK(said_stored(run(compare({model}, out, given))).empty());
}

TEST_CASE(
    "Ctrl-C ends a comparison with what is finished stored, and nothing of it is made again") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(30, 12, 0.3, 1), folder / "m.npz"),
                    out = folder / "out";
  const Arguments command = {"compare", model,       "--methods", "rts",      "--sweeps",
                             "3000",    "--repeats", "200",       "--chains", "100",
                             "--out",   out,         "--base",    "uniform"};
  Process process(command);
  const auto stored = [&] {
    return std::filesystem::exists(out + "/trials.jsonl") ? lines(store(out)) : 0;
  };
  for (int i = 0; i < 6000 && stored() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(stored() >= 2);
  process.signal(SIGINT);
  const Run ended = process.wait();
  CHECK(ended.code == 1);
  const int kept = stored();
  CHECK(kept < 200);
  const std::string told = std::to_string(kept) + " of 200 runs";
  CHECK_THAT(ended.err, Catch::Contains("interrupted: " + told + " are stored in " + out));
  CHECK_FALSE(std::filesystem::exists(out + "/compare.csv"));

  Process again(command);
  for (int i = 0; i < 6000 && stored() == kept; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  again.signal(SIGINT);
  CHECK(said_stored(again.wait()) == told);
}

TEST_CASE("compare refuses a folder that another comparison holds") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(30, 12, 0.3, 1), folder / "m.npz"),
                    out = folder / "out";
  Process process({"compare", model, "--methods", "rts", "--sweeps", "3000", "--repeats", "500",
                   "--chains", "100", "--out", out, "--base", "uniform"});
  for (int i = 0; i < 6000 && !std::filesystem::exists(out + "/trials.jsonl"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  check_refused(run(compare({model}, out)), {out, "by another run"});
  process.signal(SIGINT);
  CHECK(process.wait().code == 1);
  CHECK(run(compare({model}, out)).code == 0);
}
