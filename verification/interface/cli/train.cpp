#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "boltzmark/io/formats/npz.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

Arguments training(const std::string& negative, const std::string& out, const Arguments& more) {
  Arguments all = {"train",     "bas", "--hidden", "5",    "--negative", negative,
                   "--updates", "300", "--rule",   "flip", "--batch",    "20",
                   "--seed",    "7",   "--out",    out,    "--json"};
  return with(std::move(all), more);
}

// Twelve images of 3x3 bytes, as an IDX file.
std::string twelve_images() {
  std::string idx{0, 0, 8, 3, 0, 0, 0, 12, 0, 0, 0, 3, 0, 0, 0, 3};
  for (int i = 0; i < 108; ++i) idx += static_cast<char>(i * 37 % 256);
  return idx;
}

}  // namespace

TEST_CASE("training gives the same bytes for one and two threads") {
  const io_test::Folder folder;
  for (const std::string negative :
       {"cd:2", "pcd:2", "pt:3:1", "fpcd:2", "tt:3:0.5", "st:3:0.5", "cast:3:0.5"}) {
    REQUIRE(run(training(negative, folder / "one.npz", {"--threads", "1", "--force"})).code == 0);
    REQUIRE(run(training(negative, folder / "two.npz", {"--threads", "2", "--force"})).code == 0);
    CHECK(io_test::read_all(folder / "one.npz") == io_test::read_all(folder / "two.npz"));
  }
}

TEST_CASE("coupled chains of an odd batch are one more, so that they are pairs") {
  const io_test::Folder folder;
  const auto trained = [&](const char* batch, const Arguments& options) {
    Arguments all = training("cast:3:0.5", folder / "m.npz", {"--force"});
    *(std::find(all.begin(), all.end(), "--batch") + 1) = batch;
    REQUIRE(run(with(std::move(all), options)).code == 0);
    return io_test::read_all(folder / "m.npz");
  };
  const std::string odd = trained("7", {});
  CHECK(odd == trained("7", {"--chains", "8"}));
  CHECK(odd != trained("7", {"--chains", "6"}));
  CHECK(trained("8", {}) == trained("8", {"--chains", "8"}));
}

TEST_CASE(
    "a negative phase's own options change the model, and are refused where nothing reads them") {
  const io_test::Folder folder;
  const auto train = [&](const std::string& negative, const Arguments& options) {
    Arguments all = training(negative, folder / "m.npz", {"--force"});
    all.insert(all.end(), options.begin(), options.end());
    return run(all);
  };
  const auto model = [&] { return io_test::read_all(folder / "m.npz"); };
  REQUIRE(train("pcd:2", {}).code == 0);
  const std::string plain = model();
  REQUIRE(train("pcd:2", {"--chains", "7", "--json"}).code == 0);
  CHECK(model() != plain);
  CHECK(Json::parse(train("pcd:2", {"--chains", "7", "--json"}).out)["negative"] ==
        "pcd:2 --chains 7");
  REQUIRE(train("pt:3:2", {}).code == 0);
  const std::string from_zero = model();
  REQUIRE(train("pt:3:2:0.5", {}).code == 0);
  CHECK(model() != from_zero);
  REQUIRE(train("fpcd:2", {}).code == 0);
  const std::string fast = model();
  CHECK(fast != plain);
  REQUIRE(train("fpcd:2", {"--fast-rate", "0"}).code == 0);
  CHECK(model() == plain);
  REQUIRE(train("fpcd:2", {"--fast-decay", "0.5"}).code == 0);
  CHECK(model() != fast);
  REQUIRE(train("tt:3:0.5", {}).code == 0);
  const std::string transitions = model();
  CHECK(transitions != plain);
  REQUIRE(train("tt:3:0.5", {"--every", "2"}).code == 0);
  CHECK(model() != transitions);
  std::filesystem::remove(folder / "m.npz");
  const std::pair<std::string, Arguments> refused[] = {{"fpcd:1", {"--fast-rate", "-1"}},
                                                       {"fpcd:1", {"--fast-rate", "nan"}},
                                                       {"fpcd:1", {"--fast-decay", "1.5"}},
                                                       {"fpcd:1", {"--every", "2"}},
                                                       {"pcd:1", {"--fast-rate", "0.1"}},
                                                       {"pcd:1", {"--fast-decay", "0.5"}},
                                                       {"pcd:1", {"--every", "2"}},
                                                       {"tt:3:0.5", {"--every", "0"}},
                                                       {"tt:3:0.5", {"--fast-rate", "0.1"}},
                                                       {"tt:1:0.5", {}},
                                                       {"tt:3:1", {}},
                                                       {"tt:3:nan", {}},
                                                       {"tt:3", {}},
                                                       {"cd:1", {"--chains", "7"}},
                                                       {"pcd:1", {"--chains", "0"}},
                                                       {"pcd:1", {"--chains", "many"}},
                                                       {"pt:3:1", {"--chains", "7"}},
                                                       {"pt:3:1:1", {}},
                                                       {"pt:3:1:nan", {}},
                                                       {"pt:3:1:-0.1", {}},
                                                       {"cast:3:0.5", {"--chains", "7"}},
                                                       {"cast:3:0.5", {"--lag", "0"}},
                                                       {"cast:3:0.5", {"--swap", "never"}},
                                                       {"cast:3:0.5", {"--every", "5"}},
                                                       {"cast:3:0.5", {"--factor", "constant:0"}},
                                                       {"cast:3:0.5", {"--weights", "mine"}},
                                                       {"cast:1:0.5", {}},
                                                       {"cast:3", {}},
                                                       {"cast:3:1", {}},
                                                       {"cast:3:nan", {}},
                                                       {"st:3:0.5", {"--every", "0"}},
                                                       {"st:3:0.5", {"--factor", "vanishing:-1"}},
                                                       {"st:3:0.5", {"--lag", "5"}},
                                                       {"st:1:0.5", {}},
                                                       {"pcd:1", {"--swap", "last"}},
                                                       {"pt:3:1", {"--weights", "own"}}};
  for (const auto& [negative, options] : refused) {
    const Run result = train(negative, options);
    INFO(negative << ": " << result.err);
    CHECK(result.code == 2);
    CHECK(lines(result.err) == 1);
    CHECK_FALSE(std::filesystem::exists(folder / "m.npz"));
  }
  const Run classes = run({"train", "dna", "--discriminative", "--hidden", "3", "--chains", "7",
                           "--out", folder / "c.npz"});
  CHECK(classes.code == 2);
  CHECK(classes.err.find("--chains") != std::string::npos);
}

TEST_CASE("multivalued models are trained, described, scored, sampled and estimated") {
  const io_test::Folder folder;
  const std::string model = folder / "x4.npz", states = folder / "states.npz";
  const Run training = run({"train", "bas", "--hidden", "6", "--visible-units", "1",
                            "--hidden-units", "4", "--negative", "pcd:1", "--updates", "2000",
                            "--evaluate", "2000", "--out", model, "--json"});
  INFO(training.err);
  REQUIRE(training.code == 0);
  const Json trained = Json::parse(training.out);
  CHECK(trained["visible_units"] == "X(1)");
  CHECK(trained["hidden_units"] == "X(4)");
  const double first = trained["evaluations"].front()["mean_log_likelihood"];
  const double last = trained["evaluations"].back()["mean_log_likelihood"];
  CHECK(first == Approx(-16 * std::log(2)).margin(1));
  CHECK(last > first + 0.5);
  const Json score = Json::parse(run({"score", model, "bas", "--json"}).out);
  CHECK(score["mean_log_likelihood"].get<double>() == Approx(last).epsilon(1e-9));
  const double log_z = Json::parse(run({"exact", model, "--json"}).out)["log_z"];
  const Json rts = Json::parse(run({"estimate", model, "--method", "rts", "--sweeps", "1000",
                                    "--temperatures", "20", "--json"})
                                   .out);
  // Eight standard errors: never by chance.
  CHECK(std::abs(rts["log_z"].get<double>() - log_z) <= 8 * rts["std_error"].get<double>() + 1e-4);
  REQUIRE(run({"sample", model, "--rule", "flip", "--sweeps", "10", "--out", states}).code == 0);
  CHECK(boltzmark::Npz(states).read("hidden").bytes.size() == 100 * 6 * sizeof(float));
  CHECK(run({"describe", model}).out.find("X(4)") != std::string::npos);
}

TEST_CASE("the learning rate that is not given is lower where either side's units are no bits") {
  const io_test::Folder folder;
  const auto rate = [&](const Arguments& more) {
    Arguments all = {"train", "bas",   "--hidden",       "3",      "--updates",
                     "0",     "--out", folder / "m.npz", "--force"};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all)["learning_rate"].get<double>();
  };
  CHECK(rate({}) == 0.05);
  CHECK(rate({"--hidden-units", "4"}) == 0.005);
  CHECK(rate({"--visible-units", "continuous"}) == 0.005);
  CHECK(rate({"--visible-units", "2", "--hidden-units", "2"}) == 0.005);
  CHECK(rate({"--hidden-units", "4", "--optimiser", "adam"}) == 0.001);
  CHECK(rate({"--hidden-units", "4", "--learning-rate", "0.5"}) == 0.5);
}

TEST_CASE("updates and first weights that are not given are 10,000 and of a deviation of 0.01") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1\n1,0\n"), out = folder / "m.npz";
  const Arguments command = {"train", data, "--hidden", "1", "--out", out, "--force"};
  CHECK(json_of(command)["updates"] == 10000);
  const auto start = [&](const Arguments& more) {
    REQUIRE(run(with(with(command, {"--updates", "0"}), more)).code == 0);
    return io_test::read_all(out);
  };
  CHECK(start({}) == start({"--initial-sd", "0.01"}));
  CHECK(start({}) != start({"--initial-sd", "0.02"}));
}

TEST_CASE("a minibatch that is not given is of a hundred cases, or of as many as there are") {
  const io_test::Folder folder;
  const auto batch = [&](const Arguments& more) {
    Arguments all = {"train", "--hidden",       "3",      "--updates", "0",
                     "--out", folder / "m.npz", "--force"};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all)["batch"];
  };
  CHECK(batch({"bas"}) == 32);
  CHECK(batch({"artificial-modes-0.1"}) == 100);
  CHECK(batch({"bas", "--batch", "7"}) == 7);
}

TEST_CASE("training learns and reports its likelihood before, between and at the end") {
  const io_test::Folder folder;
  const Run result = run({"train", "bas", "--hidden", "8", "--negative", "pcd:1", "--updates",
                          "2500", "--evaluate", "1000", "--out", folder / "m.npz", "--json"});
  INFO(result.err);
  REQUIRE(result.code == 0);
  const Json json = Json::parse(result.out);
  const std::vector<std::string> expected = {
      "out",        "visible", "visible_units", "hidden",        "layers",  "hidden_units",
      "negative",   "rule",    "optimiser",     "learning_rate", "batch",   "updates",
      "resumed_at", "seed",    "evaluations",   "seconds",       "warnings"};
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  CHECK(keys == expected);
  std::vector<int> updates;
  for (const Json& point : json["evaluations"]) updates.push_back(point["update"]);
  CHECK(updates == std::vector<int>{0, 1000, 2000, 2500});
  const double first = json["evaluations"].front()["mean_log_likelihood"];
  const double last = json["evaluations"].back()["mean_log_likelihood"];
  // Weights of 0.01 stay within a nat of the uniform law's -16 log 2 = -11.09.
  CHECK(first == Approx(-16 * std::log(2)).margin(1));
  CHECK(last > first);
  // The ceiling: minus the entropy of the 32 patterns, two of which stand twice.
  const double ceiling = -(28 * std::log(32.0) + 4 * std::log(16.0)) / 32;
  CHECK(last < ceiling);
  const Run score = run({"score", folder / "m.npz", "bas", "--json"});
  CHECK(Json::parse(score.out)["mean_log_likelihood"].get<double>() == Approx(last).margin(1e-9));
}

TEST_CASE("grey levels drawn anew train the same bytes for any threads and after a resume") {
  const io_test::Folder folder;
  const std::string data = folder.write("images", twelve_images());
  const auto arguments = [&](const std::string& binarise, const std::string& out,
                             const std::string& updates, const Arguments& more) {
    Arguments all = {"train", data,    "--hidden",   "4",          "--updates", updates, "--batch",
                     "5",     "--out", folder / out, "--binarise", binarise,    "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto bytes = [&](const std::string& out) { return io_test::read_all(folder / out); };
  const Run whole = run(arguments("fresh", "whole.npz", "200", {"--evaluate", "200"}));
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  const Json trained = Json::parse(whole.out);
  CHECK(trained["warnings"].empty());
  // Of bits: no vector of 9 bits has a likelihood above 1.
  CHECK(trained["evaluations"].back()["mean_log_likelihood"].get<double>() < 0);
  REQUIRE(run(arguments("fresh", "one.npz", "200", {"--threads", "1"})).code == 0);
  CHECK(bytes("one.npz") == bytes("whole.npz"));
  REQUIRE(run(arguments("fresh", "half.npz", "83", {"--checkpoint", folder / "c"})).code == 0);
  const Run other = run(arguments("grey", "x.npz", "200", {"--checkpoint", folder / "c"}));
  CHECK(other.code == 2);
  CHECK(other.err.find("other inputs") != std::string::npos);
  REQUIRE(run(arguments("fresh", "rest.npz", "200", {"--checkpoint", folder / "c"})).code == 0);
  CHECK(bytes("rest.npz") == bytes("whole.npz"));
  for (const std::string binarise : {"grey", "sample:1", "threshold:127"}) {
    REQUIRE(run(arguments(binarise, "other.npz", "200", {"--force"})).code == 0);
    CHECK(bytes("other.npz") != bytes("whole.npz"));
  }
}

TEST_CASE("a checkpoint is refused by a run with other inputs or fewer updates") {
  const io_test::Folder folder;
  const std::string part = folder / "part";
  REQUIRE(run(training("pcd:1", folder / "a.npz", {"--checkpoint", part})).code == 0);
  const std::string kept = io_test::read_all(part);
  const std::vector<Arguments> others = {{"--learning-rate", "0.1"}, {"--initial-sd", "0.1"}};
  for (const Arguments& other : others) {
    Arguments arguments = training("pcd:1", folder / "b.npz", {"--checkpoint", part});
    arguments.insert(arguments.end(), other.begin(), other.end());
    const Run refused = run(arguments);
    INFO(refused.err);
    CHECK(refused.code == 2);
    CHECK(lines(refused.err) == 1);
    CHECK(refused.err.find(part) != std::string::npos);
  }
  Arguments fewer = training("pcd:1", folder / "b.npz", {"--checkpoint", part});
  fewer[7] = "200";
  CHECK(run(fewer).code == 2);
  CHECK_FALSE(std::filesystem::exists(folder / "b.npz"));
  CHECK(io_test::read_all(part) == kept);
  // More updates go on from it.
  Arguments more = training("pcd:1", folder / "b.npz", {"--checkpoint", part});
  more[7] = "400";
  const Run longer = run(more);
  REQUIRE(longer.code == 0);
  CHECK(Json::parse(longer.out)["resumed_at"] == 300);
}

TEST_CASE("a checkpoint is refused where one option alone of the training is another") {
  const io_test::Folder folder;
  const std::string part = folder / "part";
  const std::string data = folder.write("images", twelve_images()), start = folder / "start.npz",
                    other_start = folder / "other.npz";
  using Options = std::map<std::string, std::string>;
  const auto train = [&](const Options& options, const std::string& updates) {
    Arguments all = {"train", data, "--updates", updates, "--out", folder / "m.npz", "--force"};
    for (const auto& [name, value] : options) all.insert(all.end(), {name, value});
    return run(all);
  };
  for (const auto& [path, seed] : {std::pair(start, "7"), std::pair(other_start, "8")})
    REQUIRE(run({"train", data, "--hidden", "3", "--updates", "0", "--seed", seed, "--out", path})
                .code == 0);
  const Options shared = {
      {"--hidden", "3"}, {"--checkpoint", part}, {"--negative", "pcd:2"}, {"--batch", "4"}};
  const auto refused = [&](const Options& kind, const Options& changes) {
    Options base = shared;
    base.insert(kind.begin(), kind.end());
    std::filesystem::remove(part);
    REQUIRE(train(base, "5").code == 0);
    REQUIRE(train(base, "6").code == 0);
    const std::string kept = io_test::read_all(part);
    for (const auto& [name, value] : changes) {
      INFO(name << " " << value);
      Options other = base;
      if (value.empty())
        other.erase(name);
      else
        other[name] = value;
      check_refused(train(other, "7"), {part + ": "});
      CHECK(io_test::read_all(part) == kept);
    }
  };
  refused({}, {{"--hidden", "4"},
               {"--negative", "pcd:3"},
               {"--batch", "5"},
               {"--seed", "2"},
               {"--rule", "flip"},
               {"--optimiser", "adam"},
               {"--learning-rate", "0.06"},
               {"--rate-decay", "10"},
               {"--momentum", "0.1"},
               {"--weight-decay", "0.1"},
               {"--initial", "xavier"},
               {"--initial-sd", "0.02"},
               {"--visible-units", "1"},
               {"--hidden-units", "1"},
               {"--start", start},
               {"--binarise", "threshold:100"},
               {"--chains", "5"}});
  refused({{"--start", start}}, {{"--start", other_start}});
  refused({{"--start", start}}, {{"--start", ""}});
  refused({{"--initial", "xavier"}}, {{"--initial", ""}});
}

TEST_CASE("validation cases that are all training cases are told") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1\n1,0\n1,1\n"),
                    known = folder.write("k.csv", "1,1\n0,1\n"),
                    other = folder.write("o.csv", "1,1\n0,0\n");
  const auto warnings = [&](const std::string& validation) {
    return json_of({"train", data, "--hidden", "2", "--updates", "2", "--evaluate", "2",
                    "--validate", validation, "--out", folder / "m.npz", "--force"})["warnings"];
  };
  REQUIRE(warnings(known).size() == 1);
  CHECK_THAT(warnings(known)[0].get<std::string>(),
             Catch::Contains("all 2 validation cases are among the training cases"));
  CHECK(warnings(other).empty());
}

TEST_CASE("cases that no likelihood is of are told by their file and option") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1\n1,0\n"),
                    means = folder.write("m.csv", "0,0.5\n1,0\n");
  const auto trained = [&](const std::string& from, const Arguments& more) {
    return run(with(
        {"train", from, "--hidden", "2", "--updates", "2", "--out", folder / "m.npz", "--force"},
        more));
  };
  CHECK(trained(means, {}).code == 0);
  check_refused(trained(means, {"--evaluate", "2"}), {means, "--evaluate", "0.5"});
  check_refused(trained(data, {"--evaluate", "2", "--validate", means}), {means, "0.5"});
}

TEST_CASE("training whose parameters no arithmetic resolves has diverged") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "0,1\n1,0\n1,1\n");
  for (const Arguments& more : {Arguments{}, {"--evaluate", "100"}}) {
    const Run result = run(with({"train", data, "--hidden", "3", "--updates", "300",
                                 "--learning-rate", "1e30", "--quiet", "--out", folder / "m.npz"},
                                more));
    CHECK(result.code == 1);
    CHECK_THAT(result.err, Catch::Contains("training diverged at update") &&
                               Catch::Contains("lower learning rate"));
    CHECK_FALSE(std::filesystem::exists(folder / "m.npz"));
  }
}

TEST_CASE("training that leaves the finite numbers exits 1 and writes no model") {
  const io_test::Folder folder;
  const Run result = run({"train", "bas", "--hidden", "4", "--learning-rate", "1e300", "--updates",
                          "1000", "--out", folder / "m.npz"});
  CHECK(result.code == 1);
  CHECK(lines(result.err) == 1);
  CHECK(listing(folder / "").empty());
}

TEST_CASE("options of training that say nothing or too much are refused by their names") {
  const io_test::Folder folder;
  const std::string out = folder / "out.npz";
  const std::pair<Arguments, std::string> all[] = {
      {{"--hidden", "2", "--initial", "xavier", "--initial-sd", "5"}, "--initial-sd is given"},
      {{"--hidden", "2", "--visible-units", "x"}, "--visible-units = x"},
      {{"--hidden", "2", "--hidden-units", "-1"}, "--hidden-units = -1"},
      {{"--hidden", "2000000000"}, "--hidden = 2000000000"},
      {{"--hidden", "2", "--pretrain", "5"}, "--pretrain is given"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5"}, "--pretrain = 5 (must be 2 numbers"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5,6,7"}, "--pretrain = 5,6,7"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5,0"}, "--pretrain = 5,0"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5,"}, "--pretrain = 5,"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5;6"}, "--pretrain = 5;6"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5,6", "--initial-sd", "0.1"},
       "--initial-sd is given"},
      {{"--hidden", "2", "--hidden", "2", "--pretrain", "5,6", "--start", "m.npz"},
       "--start is given"},
      {{"--hidden", "1048577"}, "1 to 1048576"},
      {{"--hidden", "2", "--initial-sd", "1e308"}, "--initial-sd = 1e308"},
  };
  for (const auto& [more, reason] : all) {
    Arguments arguments = {"train", "bas", "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    check_refused(run(arguments), {reason});
    CHECK_FALSE(std::filesystem::exists(out));
  }
}
