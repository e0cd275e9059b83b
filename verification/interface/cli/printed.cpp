// What commands print for people is what they print as JSON, number by number.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

#include "boltzmark/io/formats/npz.hpp"
#include "boltzmark/learn/initial.hpp"
#include "experiments/kit/claims.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/well_models.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

using namespace cli_test;

namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

TEST_CASE("describe prints the range of weights and of values from the lower end to the upper") {
  const io_test::Folder folder;
  const Eigen::MatrixXd weights = Eigen::Vector2d(std::log(3.0), std::log(2.0));
  const std::string model =
      saved(boltzmark::Layered::rbm(weights, Eigen::VectorXd::Zero(2), Eigen::VectorXd::Zero(1)),
            folder / "m.npz");
  CHECK_THAT(run({"describe", model}).out,
             Catch::Contains("2 x 1, from 0.6931 to 1.099, root mean square 0.9185") &&
                 Catch::Contains(", 2 states, about 1 us\n"));
  const std::string data = folder.write("d.csv", "0,1,1\n1,0.5,-2\n");
  CHECK_THAT(run({"describe", data}).out, Catch::Contains("from -2 to 1, not binary"));
}

TEST_CASE("describe tells how many classes there are where cases have labels, and only there") {
  const auto line = [](const Arguments& data) {
    std::istringstream text(run(data).out);
    for (std::string row; std::getline(text, row);)
      if (row.starts_with("classes ")) return words(row).at(1);
    return std::string();
  };
  CHECK(line({"describe", "mnist:test"}) ==
        std::to_string(json_of({"describe", "mnist:test"})["classes"].get<int>()));
  CHECK(line({"describe", "mnist:test"}) == "10");
  CHECK(line({"describe", "bas"}).empty());
}

TEST_CASE("modes names the side of its marginal, and prints the climbs that ended in each") {
  const io_test::Folder folder;
  const std::string hole = saved(well_models::golf_hole(64, 8).model, folder / "hole.npz"),
                    well = saved(well_models::hidden_well(8, 40).model, folder / "well.npz");
  CHECK(json_of({"modes", hole})["side"] == "hidden");
  CHECK(json_of({"modes", well})["side"] == "visible");
  const std::string product =
      saved(boltzmark::make_known_model("glass:40:8:2:3").model, folder / "glass.npz");
  const Json found = json_of({"modes", product});
  REQUIRE(found["modes"].size() >= 3);
  CHECK(found["modes"][0]["basin"] != found["modes"][1]["basin"]);
  const std::string text = run({"modes", product}).out;
  std::istringstream rows(text.substr(text.find("climbs that ended there")));
  std::string row;
  std::getline(rows, row);
  for (int k = 0; k < 3; ++k) {
    std::getline(rows, row);
    CHECK(words(row).at(0) == std::to_string(k + 1));
    CHECK(words(row).at(1) == fmt::format("{:.4f}", found["modes"][k]["log_f"].get<double>()));
    CHECK(words(row).at(2) == std::to_string(found["modes"][k]["basin"].get<int>()));
  }
}

TEST_CASE("a file of samples holds the seed that they were drawn with") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(4, 3, 1, 9), folder / "m.npz"), out = folder / "s.npz";
  REQUIRE(run({"sample", model, "--sweeps", "20", "--seed", "3", "--out", out}).code == 0);
  boltzmark::Array seed = boltzmark::Npz(out).read("seed");
  REQUIRE(seed.count() == 1);
  seed.shape = {1};
  CHECK(seed.vector()[0] == 3);
}

TEST_CASE("estimate prints the interval that its JSON has") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(9, 5, 1, 4), folder / "m.npz");
  const Arguments command = {"estimate", model, "--sweeps", "400", "--chains", "20"};
  const Json found = json_of(command);
  REQUIRE(found["lower"].get<double>() < found["upper"].get<double>() - 0.001);
  CHECK_THAT(run(command).out,
             Catch::Contains(fmt::format("{:.4f} .. {:.4f}", found["lower"].get<double>(),
                                         found["upper"].get<double>())));
}

TEST_CASE("verify prints the value of a check before its bound, and every claim that it decides") {
  const Run shown = run({"verify", "two-spins", "--cases", "1"});
  const Json checks = json_of({"verify", "two-spins", "--cases", "1"})["checks"];
  for (const Json& check : checks) {
    const double value = check["value"].get<double>(), bound = check["bound"].get<double>();
    std::istringstream rows(shown.out);
    int found = 0;
    for (std::string row; std::getline(rows, row);) {
      const auto cells = words(row);
      if (cells.size() < 6 || cells[0] != check["name"] || cells[1] != check["subject"]) continue;
      ++found;
      CHECK(cells.end()[-3] == fmt::format("{:.3g}", value));
      CHECK(cells.end()[-2] == fmt::format("{:.3g}", bound));
    }
    CHECK(found == 1);
  }
}

TEST_CASE("verify takes the name of every claim that a check decides, and runs those checks") {
  int shared = 0;
  std::map<std::string, int> claims_of_check;
  for (const auto& file : boltzmark::experiments::read_all_claims())
    for (const auto& claim : file.claims) {
      for (const std::string& check : claim.checks) shared += claims_of_check[check]++ > 0;
      if (claim.id != "S01" && claim.id != "S02" && claim.id != "S03") continue;
      const Json checks = json_of({"verify", claim.id, "--cases", "1"})["checks"];
      std::vector<std::string> ran;
      for (const Json& check : checks) {
        ran.push_back(check["name"].get<std::string>() + "/" + check["subject"].get<std::string>());
        CHECK_THAT(check["claim"].get<std::string>(), Catch::Contains(claim.id));
      }
      CHECK_THAT(ran, Catch::UnorderedEquals(claim.checks));
    }
  CHECK(shared > 0);
}

TEST_CASE("spectrum prints the SLEM, not the second eigenvalue, under that name") {
  const io_test::Folder folder;
  const std::string model = saved(
      independent_rbm(Eigen::Vector2d(0.5, -1.5), Eigen::Vector2d(0.25, 2)), folder / "m.npz");
  const std::string text = run({"spectrum", model, "--rule", "flip"}).out;
  const auto cells = words(text.substr(text.find("SLEM"), 80));
  CHECK(cells.at(1) == "0.7788007831");  // e^-0.25
  CHECK(cells.at(4) == "0.4723665527");  // e^-0.75, of the "second eigenvalue"
}

TEST_CASE("compare says of how many accepted estimates so many intervals hold log Z") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:30:6:0.1:1").model, folder / "m.npz");
  const Arguments command = {"compare",  model,     "--methods", "rts,ais",
                             "--sweeps", "20,2000", "--repeats", "4",
                             "--chains", "10",      "--out",     folder / "out"};
  const Json cells = json_of(command)["cells"];
  const std::string table = run(command).out;
  std::istringstream rows(table.substr(table.find("method")));
  std::string row;
  std::getline(rows, row);
  int refused = 0;
  for (const Json& cell : cells) {
    std::getline(rows, row);
    const int kept = cell["repeats"].get<int>() - cell["refused"].get<int>();
    refused += cell["refused"].get<int>();
    CHECK(words(row).at(6) == fmt::format("{}/{}", cell["covered"].get<int>(), kept));
    CHECK((cell["rank"].is_null() || cell["rank"].is_number_integer()));
  }
  CHECK(refused > 0);
}

TEST_CASE("score prints the mean and the bound that its JSON has, log Z taken off both") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::initial_network(std::vector{6, 5, 4}, 1, boltzmark::make_key(2, "printed")),
            folder / "m.npz");
  const Arguments command = {"score", model, folder.write("d.csv", "1,0,1,1,0,0\n0,0,1,0,1,1\n")};
  const Json found = json_of(command);
  const double mean = found["mean_log_likelihood"], bound = found["bound"];
  REQUIRE(bound < mean - 1e-6);
  CHECK_THAT(run(command).out,
             Catch::Contains(fmt::format("mean log-likelihood  {:.10g} nats per case\n", mean)) &&
                 Catch::Contains(fmt::format("{:.10g} nats per case, by mean field", bound)) &&
                 Catch::Contains(fmt::format("{:.3g} nats over 2 cases;",
                                             found["std_error_cases"].get<double>())));
}

TEST_CASE("score of classes prints the ends of its interval in their order") {
  const io_test::Folder folder;
  const std::string cases = folder.write("x.csv", "0,0\n1,0\n0,1\n1,1\n"),
                    labels = folder.write("y.csv", "0\n1\n0\n1\n"), model = folder / "m.npz";
  REQUIRE(run({"train", cases, "--discriminative", "--labels", labels, "--hidden", "4", "--updates",
               "5", "--out", model})
              .code == 0);
  const Json found = json_of({"score", model, cases, "--labels", labels});
  REQUIRE(found["lower"].get<double>() < found["upper"].get<double>());
  CHECK_THAT(
      run({"score", model, cases, "--labels", labels}).out,
      Catch::Contains(fmt::format("95 % interval {:.4g} to {:.4g}", found["lower"].get<double>(),
                                  found["upper"].get<double>())));
}

TEST_CASE("score of classes prints how many of all cases are errors") {
  const io_test::Folder folder;
  const std::string cases = folder.write("x.csv", "0,0\n1,0\n0,1\n1,1\n"),
                    labels = folder.write("y.csv", "0\n0\n0\n1\n"), model = folder / "m.npz";
  REQUIRE(run({"train", cases, "--discriminative", "--labels", labels, "--hidden", "1", "--updates",
               "1", "--out", model})
              .code == 0);
  // After one update all are taken for the class that most are of.
  CHECK_THAT(run({"score", model, cases, "--labels", labels}).out,
             Catch::Contains("0.25 (1 of 4 cases), "));
}

TEST_CASE(
    "what cannot be enumerated is told by its states where these are too many, not its units") {
  const io_test::Folder folder;
  std::string rows;
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 30; ++c)
      rows += fmt::format("{}{}", c > 0 ? "," : "", (r + c) % 5 / 2.0 - 1);
    rows += '\n';
  }
  const std::string data = folder.write("d.csv", rows), model = folder / "m.npz";
  REQUIRE(run({"train", data, "--visible-units", "4", "--hidden-units", "4", "--hidden", "30",
               "--updates", "1", "--out", model})
              .code == 0);
  CHECK_THAT(run({"describe", model}).out, Catch::Contains("has 2^69.7 states, at most 2^62 can"));
  const auto refused = [](const Arguments& arguments, const std::string& text) {
    const Run found = run(arguments);
    CHECK(found.code == 2);
    CHECK_THAT(found.err, Catch::Contains(text));
  };
  refused({"exact", model},
          "has 2^69.7 states of its smaller side, hidden (must have at most 2^62");
  refused({"score", model, data, "--method", "exact"}, "2^69.7 states (must be at most 2^62");
  refused({"compare", model, "--methods", "rts", "--out", folder / "c"},
          "must have a side of at most 40 units and 2^62 states");
  refused({"train", data, "--visible-units", "gaussian", "--hidden-units", "4", "--hidden", "30",
           "--updates", "1", "--evaluate", "1", "--out", folder / "g.npz"},
          "--evaluate would enumerate 2^69.7 states (must be at most 2^62");
}

TEST_CASE("a ladder whose last word is no number is refused, not cut short") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(4, 3, 1, 9), folder / "m.npz");
  for (const char* end : {"1 1e", "1 -", "1 .", "1 1e999", "1 x", "1,,", "1 nan"}) {
    const std::string ladder = folder.write("ladder.txt", std::string("0 0.5 ") + end);
    const Run found = run({"estimate", model, "--sweeps", "20", "--ladder", ladder});
    INFO(end << ": " << found.err);
    CHECK(found.code == 2);
    CHECK_THAT(found.err, Catch::Contains("not a ladder"));
  }
  for (const char* text : {"0 0.5 1", "0,0.5,1\n", "0, 0.5, 1", "0\n0.5\n1\n\n"}) {
    const std::string ladder = folder.write("ladder.txt", text);
    INFO(text);
    CHECK(json_of({"estimate", model, "--sweeps", "400", "--ladder", ladder})["temperatures"] == 3);
  }
}
