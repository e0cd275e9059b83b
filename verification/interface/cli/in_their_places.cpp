// Numbers of several things that a command tells at once, each in its place: no two of them are alike here.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/io/model_file.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

using namespace cli_test;

namespace {

// The first line that begins so.
std::string line_of(const std::string& text, const std::string& start) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(start)) return line;
  return "no line of " + start;
}

// All words, as lines are broken.
std::string words_of(const std::string& text) {
  std::istringstream in(text);
  std::string joined;
  for (std::string word; in >> word;) joined += word + " ";
  return joined;
}

// A model file that tells its log Z, and so much more.
std::string told(const boltzmark::Layered& model, double more, const std::string& path) {
  boltzmark::write_known_model(
      model, {.log_z = brute_log_z(model) + more, .error = 0, .by = "hand"}, path);
  return path;
}

}  // namespace

TEST_CASE("describe tells the biases of each layer and the weights of each pair of layers") {
  const io_test::Folder folder;
  std::vector<boltzmark::Layer> layers(3);
  std::vector<Eigen::MatrixXd> weights;
  for (int l = 0; l < 3; ++l) {
    layers[static_cast<std::size_t>(l)].bias = Eigen::VectorXd::Constant(2 + l, l + 1.5);
    if (l > 0) weights.emplace_back(Eigen::MatrixXd::Constant(1 + l, 2 + l, 10.25 * l));
  }
  const std::string model = saved({layers, weights}, folder / "m.npz");
  const Json found = json_of({"describe", model});
  const std::string text = run({"describe", model}).out;
  const std::vector<std::string> names = {"visible", "hidden1", "hidden2"};
  for (std::size_t l = 0; l < 3; ++l) {
    const double bias = 1.5 + static_cast<double>(l);
    CHECK(found["layers"][l]["biases"]["lowest"] == bias);
    CHECK(found["layers"][l]["biases"]["highest"] == bias);
    CHECK_THAT(line_of(text, names[l]),
               Catch::Contains(std::to_string(l + 1) + ".5 to " + std::to_string(l + 1) + ".5"));
  }
  CHECK(found["weights"][0]["highest"] == 10.25);
  CHECK(found["weights"][1]["lowest"] == 20.5);
  CHECK_THAT(line_of(text, "weights 1-2"), Catch::Contains("3 x 4, from 20.5 to 20.5"));
}

TEST_CASE("list tells how many cases a data set trains and how many it tests") {
  std::istringstream row(line_of(run({"list", "datasets"}).out, "dna "));
  std::string name, units, thousands, train, test_thousands, test;
  row >> name >> units >> thousands >> train >> test_thousands >> test;
  CHECK(units == "180");
  CHECK(thousands + train == "2000");
  CHECK(test_thousands + test == "1186");
}

TEST_CASE("modes keeps the climbs that ended in each mode beside its log f") {
  const io_test::Folder folder;
  // Two modes, all on and all off, of unlike size and unlike basins.
  const std::string model = saved(
      boltzmark::Layered::rbm(Eigen::MatrixXd::Constant(9, 5, 2),
                              Eigen::VectorXd::Constant(9, -5.6), Eigen::VectorXd::Constant(5, -9)),
      folder / "m.npz");
  const std::string out = folder / "modes.npz";
  const Json found = json_of({"modes", model, "--out", out});
  const auto& modes = found["modes"];
  REQUIRE(modes.size() == 2);
  REQUIRE(modes[0]["basin"] != modes[1]["basin"]);
  const boltzmark::Npz file(out);
  const auto basins = file.read("basin").vector(), log_f = file.read("log_f").vector();
  for (int k = 0; k < 2; ++k) {
    CHECK(basins[k] == modes[static_cast<std::size_t>(k)]["basin"].get<double>());
    CHECK(log_f[k] == modes[static_cast<std::size_t>(k)]["log_f"].get<double>());
  }
}

TEST_CASE(
    "compare prints how many estimates are refused, their rank and their time, in this order") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(6, 4, 1, 8), folder / "m.npz");
  const std::string text = run({"compare", model, "--methods", "ais", "--sweeps", "20", "--repeats",
                                "2", "--out", folder / "c", "--quiet"})
                               .out;
  std::istringstream head(line_of(text, "method"));
  std::vector<std::string> names;
  for (std::string name; head >> name;) names.push_back(name);
  CHECK(names == std::vector<std::string>{"method", "sweeps", "bias", "std", "dev", "RMSE", "std",
                                          "error", "covered", "refused", "rank", "seconds"});
}

TEST_CASE(
    "an estimate is held to the log Z that its file tells, with the sign of what it is off by") {
  const io_test::Folder folder;
  const boltzmark::Layered rbm = random_rbm(6, 4, 1, 8);
  const std::string right = told(rbm, 0, folder / "right.npz"),
                    high = told(rbm, 1, folder / "high.npz");
  const auto printed = [&](const std::string& model) {
    const Run result = run({"estimate", model, "--method", "exact"});
    return result.out + result.err;
  };
  CHECK_THAT(printed(high), Catch::Contains("-1.0000"));
  CHECK_THAT(printed(right), Catch::Contains("0.0000") && !Catch::Contains("1.0000"));
  const Arguments sampled = {"--sweeps", "200", "--quiet"};
  CHECK_THAT(json_of(with({"estimate", high}, sampled))["warnings"].dump(),
             Catch::Contains("higher than log Z"));
  CHECK_THAT(json_of(with({"estimate", right}, sampled))["warnings"].dump(),
             !Catch::Contains("higher than log Z"));
}

TEST_CASE("the interval of an exact estimate is what its rounding may be off by, either way") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(9, 8, 3, 8), folder / "m.npz");
  const Json estimate = json_of({"estimate", model, "--method", "exact"}),
             exact = json_of({"exact", model});
  const double error = exact["error_bound"], log_z = exact["log_z"];
  REQUIRE(error > 0);
  CHECK(estimate["lower"].get<double>() == log_z - error);
  CHECK(estimate["upper"].get<double>() == log_z + error);
}

TEST_CASE("verify tells what each check states beside what its worst case was") {
  const Json found = json_of({"verify", "detailed-balance", "--cases", "2"});
  REQUIRE(!found["checks"].empty());
  for (const Json& check : found["checks"]) {
    CHECK_THAT(check["statement"].get<std::string>(), Catch::Contains("detailed balance"));
    CHECK_THAT(check["detail"].get<std::string>(), !Catch::Contains("detailed balance"));
  }
}

TEST_CASE("score prints of a deep model what its JSON tells") {
  const io_test::Folder folder;
  std::vector<boltzmark::Layer> layers(3);
  std::vector<Eigen::MatrixXd> weights;
  for (int l = 0; l < 3; ++l) {
    layers[static_cast<std::size_t>(l)].bias = Eigen::VectorXd::Constant(4 - l, 0.3 * l - 0.2);
    if (l > 0) weights.emplace_back(Eigen::MatrixXd::Constant(5 - l, 4 - l, 0.7 - 0.5 * l));
  }
  const Arguments score = {"score",
                           saved({layers, weights}, folder / "m.npz"),
                           folder.write("c.csv", "1,0,1,1\n0,0,1,0\n1,1,1,1\n"),
                           "--sweeps",
                           "200",
                           "--true-cases",
                           "3"};
  const Json told = json_of(score);
  const std::string text = run(score).out;
  const auto says = [&](const char* start, const char* key) {
    CHECK_THAT(line_of(text, start),
               Catch::Contains(fmt::format(" {:.10g} nats per case", told[key].get<double>())));
  };
  says("mean log-likelihood", "mean_log_likelihood");
  says("bound", "bound");
  says("true cases", "true_mean_log_likelihood");
  CHECK_THAT(words_of(text),
             Catch::Contains(fmt::format("their bound {:.10g}", told["true_bound"].get<double>())));
}

TEST_CASE("estimate prints both ways and their gap as its JSON tells them") {
  const io_test::Folder folder;
  const Arguments estimate = {"estimate",   saved(random_rbm(8, 5, 1, 3), folder / "m.npz"),
                              "--method",   "ais",
                              "--sweeps",   "60",
                              "--both-ways"};
  const Json ways = json_of(estimate)["both_ways"];
  const double forward = ways["forward"]["log_z"], reverse = ways["reverse"]["log_z"];
  CHECK(std::abs(reverse - forward) > 1e-4);
  const std::string text = words_of(run(estimate).out);
  CHECK_THAT(text, Catch::Contains(fmt::format("{:.4f} +- ", forward)));
  CHECK_THAT(text, Catch::Contains(fmt::format(", {:.4f} +- ", reverse)));
  CHECK_THAT(text, Catch::Contains(fmt::format("gap {:+.4f} +- ", reverse - forward)));
}

TEST_CASE(
    "what classes are told by is in the order of its columns, and its error is that over cases") {
  const io_test::Folder folder;
  const std::string cases = folder.write("x.csv", "0,1\n1,1\n1,0\n0,0\n1,1\n"),
                    labels = folder.write("y.txt", "0\n1\n1\n0\n0\n"), model = folder / "m.npz";
  const Arguments train = {"train",    cases,  "--discriminative", "--labels", labels,
                           "--hidden", "3",    "--updates",        "30",       "--evaluate",
                           "20",       "--out"};
  const Json trained = json_of(with(train, {model}))["evaluations"];
  const std::string text = run(with(train, {folder / "n.npz"})).out;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  CHECK_THAT(line, Catch::Contains("update  error rate  mean log-likelihood"));
  for (const Json& evaluation : trained) {
    std::getline(lines, line);
    std::istringstream row(line);
    std::uint64_t update = 0;
    double rate = -1, mean = 1;
    row >> update >> rate >> mean;
    CHECK(update == evaluation["update"].get<std::uint64_t>());
    CHECK(rate == Approx(evaluation["error_rate"].get<double>()).margin(1e-6));
    CHECK(mean == Approx(evaluation["mean_log_likelihood"].get<double>()).margin(1e-6));
  }
  const std::string path = folder / "p.csv";
  const Json scored = json_of({"score", model, cases, "--labels", labels, "--predictions", path});
  std::istringstream rows(io_test::read_all(path));
  std::getline(rows, line);
  std::vector<double> log_p;
  for (const int label : {0, 1, 1, 0, 0}) {
    std::getline(rows, line);
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    double skipped = 0, p[2] = {0, 0};
    fields >> skipped >> skipped >> p[0] >> p[1];
    log_p.push_back(std::log(p[label]));
  }
  const Eigen::ArrayXd all = Eigen::ArrayXd::Map(log_p.data(), 5);
  CHECK(scored["mean_log_likelihood"].get<double>() == Approx(all.mean()).epsilon(1e-9));
  CHECK(scored["std_error_cases"].get<double>() ==
        Approx(std::sqrt((all - all.mean()).square().sum() / 4 / 5)).epsilon(1e-9));
}

TEST_CASE("doctor tells the folders of data sets in their order, and which of them are missing") {
  const io_test::Folder folder;
  const std::string there = folder / "there", missing = folder / "missing";
  std::filesystem::create_directory(there);
  const Environment environment = {{"BOLTZMARK_DATA", there + ":" + missing}};
  const Json told = Json::parse(run({"doctor", "--json"}, environment).out);
  REQUIRE(told["data_folders"].size() >= 2);
  CHECK(told["data_folders"][0] == there);
  CHECK(told["data_folders"][1] == missing);
  const std::string text = run({"doctor"}, environment).out;
  CHECK_THAT(text, Catch::Contains(there + "\n"));
  CHECK_THAT(text, Catch::Contains("(missing)"));
  CHECK_THAT(text, !Catch::Contains(there + " (missing)"));
}

TEST_CASE("estimates.csv tells the effective samples of each estimate") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 5, 1, 8), folder / "m.npz");
  REQUIRE(run({"compare", model, "--methods", "ais", "--sweeps", "30", "--repeats", "3", "--chains",
               "17", "--out", folder / "c", "--quiet"})
              .code == 0);
  std::istringstream rows(io_test::read_all(folder / "c/estimates.csv"));
  std::string line;
  std::getline(rows, line);
  std::vector<std::string> names;
  std::istringstream head(line);
  for (std::string name; std::getline(head, name, ',');) names.push_back(name);
  const auto place = std::find(names.begin(), names.end(), "effective_samples") - names.begin();
  REQUIRE(place < std::ssize(names));
  for (int r = 0; r < 3; ++r) {
    REQUIRE(std::getline(rows, line));
    std::istringstream fields(line);
    std::string field;
    for (std::ptrdiff_t k = 0; k <= place; ++k) std::getline(fields, field, ',');
    // (sum w)^2 / sum w^2 of weights of 17 chains, which are not equal.
    CHECK(std::stod(field) > 1);
    CHECK(std::stod(field) < 17);
    CHECK(std::stod(field) != std::floor(std::stod(field)));
  }
}
