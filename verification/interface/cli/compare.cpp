// What compare says of points that no estimate stands behind, and full disks.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "boltzmark/io/model_file.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/interface/cli/curves.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

namespace {

using namespace cli_test;

/// The last cell of each line of a CSV file, its head aside.
std::vector<std::string> last_cells_of(const std::string& csv) {
  std::vector<std::string> cells;
  std::istringstream text(csv);
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) cells.push_back(line.substr(line.rfind(',') + 1));
  return cells;
}

}  // namespace

TEST_CASE(
    "methods with chains of their own are compared beside others' replicas, of which there are fewer") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:6:5:1:1").model, folder / "m.npz");
  const Json told =
      json_of({"compare", model, "--methods", "bar,wang-landau,sams,ti-continuous", "--sweeps",
               "60", "--repeats", "2", "--sampler", "parallel", "--temperatures", "64", "--chains",
               "100", "--base", "uniform", "--out", folder / "out"});
  CHECK(told["cells"].size() == 4);
}

TEST_CASE("compare takes a log Z of a file that is off by no more than the file says") {
  const io_test::Folder folder;
  const boltzmark::KnownModel known = boltzmark::make_known_model("random:6:5:1:1");
  const auto compared = [&](double off, double error) {
    boltzmark::KnownLogZ said = known.known;
    said.log_z += off;
    said.error = error;
    const std::string model = folder / "m.npz";
    std::filesystem::remove(model);
    boltzmark::write_known_model(known.model, said, model);
    return run({"compare", model, "--methods", "bar", "--sweeps", "60", "--repeats", "2", "--base",
                "uniform", "--out", folder / fmt::format("out{}{}", off, error)});
  };
  CHECK(compared(-0.015, 0.05).code == 0);
  CHECK(compared(-0.015, 0.001).code == 2);
  CHECK(compared(0.015, 0.05).code == 0);
  CHECK_THAT(compared(0.3, 0.05).err, Catch::Contains("by enumeration"));
}

TEST_CASE("compare does not refuse by the truth where a bound is log Z itself") {
  const io_test::Folder folder;
  const std::string model = saved(boltzmark::make_known_model("random:6:4:1:3").model,
                                  folder / "m.npz"),
                    out = folder / "out";
  const Json compared = json_of(
      {"compare", model, "--methods", "ais", "--sweeps", "300", "--repeats", "100", "--out", out});
  const double truth = compared["truth"];
  std::istringstream text(io_test::read_all(out + "/estimates.csv"));
  std::string line;
  std::getline(text, line);
  REQUIRE(line ==
          "model,method,sweeps,repeat,log_z,std_error,lower,upper,effective_samples,status");
  int low = 0, covered = 0;
  while (std::getline(text, line)) {
    std::istringstream cells(line);
    std::string lower, upper;
    for (int c = 0; c < 7; ++c) std::getline(cells, lower, ',');
    std::getline(cells, upper, ',');
    low += std::stod(upper) < truth;
    covered += std::stod(lower) <= truth && truth <= std::stod(upper) && line.ends_with(",ok");
    CHECK(!line.ends_with("below_bound"));
  }
  CHECK(low >= 1);  // of 100 intervals of 95 %
  CHECK(compared["cells"][0]["covered"] == covered);
  CHECK(covered > 50);
}

TEST_CASE("what compare sums up is of the estimates that it lists, each number in its column") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 4, 0.5, 3), folder / "m.npz"), out = folder / "out";
  const Json told = json_of(
      {"compare", model, "--methods", "ais", "--sweeps", "50", "--repeats", "5", "--out", out});
  const auto numbers = [&](const std::string& file, const std::string& column) {
    const auto rows = csv_rows(out + file);
    const auto at = std::find(rows[0].begin(), rows[0].end(), column) - rows[0].begin();
    Eigen::ArrayXd all(static_cast<Eigen::Index>(rows.size()) - 1);
    for (Eigen::Index i = 0; i < all.size(); ++i) all[i] = std::stod(rows[i + 1].at(at));
    return all;
  };
  const Eigen::ArrayXd log_z = numbers("/estimates.csv", "log_z"),
                       errors = log_z - told["truth"].get<double>();
  REQUIRE(log_z.size() == 5);
  const std::map<std::string, double> expected = {
      {"mean", log_z.mean()},
      {"bias", errors.mean()},
      {"std_dev", std::sqrt((log_z - log_z.mean()).square().sum() / 4)},
      {"rmse", std::sqrt(errors.square().mean())},
      {"mean_std_error", numbers("/estimates.csv", "std_error").mean()}};
  for (const auto& [name, value] : expected) {
    INFO(name);
    CHECK(told["cells"][0][name].get<double>() == Approx(value).epsilon(1e-9));
    CHECK(numbers("/compare.csv", name)[0] == Approx(value).epsilon(1e-9));
  }
}

TEST_CASE("a truth that is given counts before what the model's file says") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz";
  const double known = json_of({"make", "random:20:18:0.1:3", "--out", model})["log_z"];
  const auto compared = [&](const std::string& out, const Arguments& truth) {
    Arguments all = {"compare", model,       "--methods", "ais",   "--sweeps",
                     "20",      "--repeats", "2",         "--out", folder / out};
    all.insert(all.end(), truth.begin(), truth.end());
    return json_of(all);
  };
  const Json told = compared("a", {}), given = compared("b", {"--truth", "40"});
  CHECK(told["truth"] == known);
  CHECK(given["truth"] == 40);
  CHECK(given["cells"][0]["bias"].get<double>() ==
        Approx(told["cells"][0]["bias"].get<double>() + known - 40).epsilon(1e-9));
}

TEST_CASE("covered are the accepted estimates alone whose intervals hold log Z") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:30:6:0.1:1").model, folder / "m.npz");
  const std::string out = folder / "compared";
  json_of({"compare", model, "--methods", "rts,ti", "--sweeps", "700,900", "--repeats", "8",
           "--chains", "10", "--out", out});
  // Counted anew from all of them.
  const auto sums = csv_rows(out + "/compare.csv"), all = csv_rows(out + "/estimates.csv");
  const auto column = [](const auto& rows, const std::string& name) {
    return std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin();
  };
  int partly = 0;
  for (std::size_t r = 1; r < sums.size(); ++r) {
    int ok = 0, covered = 0;
    for (std::size_t e = 1; e < all.size(); ++e) {
      const auto text = [&](const char* name) { return all[e].at(column(all, name)); };
      if (text("method") != sums[r].at(column(sums, "method")) ||
          text("sweeps") != sums[r].at(column(sums, "sweeps")) || text("status") != "ok")
        continue;
      const double truth = std::stod(sums[r].at(column(sums, "truth")));
      ok += 1;
      covered += std::stod(text("lower")) <= truth && truth <= std::stod(text("upper"));
    }
    partly += ok > 0 && ok < 8;
    INFO(sums[r].at(column(sums, "method")) << " " << sums[r].at(column(sums, "sweeps")));
    if (ok > 0)
      CHECK(std::stod(sums[r].at(column(sums, "covered"))) == Approx(covered / (1.0 * ok)));
  }
  CHECK(partly > 0);
}

TEST_CASE("compare marks points whose estimates were refused, and ranks the others by RMSE") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:30:6:0.1:1").model, folder / "m.npz");
  const std::string out = folder / "compared";
  const Arguments command = {"compare",  model,          "--methods", "rts,ais,ti",
                             "--sweeps", "20,2000,3000", "--repeats", "4",
                             "--chains", "10",           "--out",     out};
  const Json cells = json_of(command)["cells"];
  const std::string table = run(command).out;
  int marked = 0;
  std::map<int, std::map<double, int>> ranks;  // sweeps -> RMSE -> rank
  std::vector<std::string> told;
  for (const Json& cell : cells) {
    INFO(cell.dump());
    const bool refused = 2 * cell["refused"].get<int>() >= cell["repeats"].get<int>();
    CHECK(cell["rank"].is_null() == refused);
    marked += refused;
    told.push_back(refused ? "" : std::to_string(cell["rank"].get<int>()));
    if (!refused)
      ranks[cell["sweeps"].get<int>()][cell["rmse"].get<double>()] = cell["rank"].get<int>();
    CHECK((table.find(std::to_string(cell["refused"].get<int>()) + "*") != std::string::npos ||
           !refused));
  }
  CHECK(marked >= 1);
  // The table's rows, word by word, are the cells of the JSON.
  std::istringstream rows(table.substr(table.find("method")));
  std::string row;
  std::getline(rows, row);
  for (const Json& cell : cells) {
    const auto error = [&](const char* key) {
      return cell[key].is_null() ? "-" : fmt::format("{:.4g}", cell[key].get<double>());
    };
    std::getline(rows, row);
    std::istringstream words(row);
    std::vector<std::string> found{std::istream_iterator<std::string>(words), {}};
    REQUIRE(found.size() == 10);
    found.resize(6);
    CHECK(found == std::vector<std::string>{
                       cell["method"], std::to_string(cell["sweeps"].get<int>()), error("bias"),
                       error("std_dev"), error("rmse"), error("mean_std_error")});
  }
  CHECK(ranks[3000].size() >= 2);
  CHECK(ranks[2000].size() >= 2);
  for (const auto& [sweeps, by_rmse] : ranks) {
    int expected = 0;
    for (const auto& [rmse, rank] : by_rmse) CHECK(rank == ++expected);
  }
  CHECK(last_cells_of(io_test::read_all(out + "/compare.csv")) == told);
  for (const char* figure : {"/rmse.svg", "/bias.svg"})
    CHECK_THAT(io_test::read_all(out + figure), Catch::Contains("refused"));

  const std::string sound = folder / "sound";
  json_of({"compare", model, "--methods", "rts", "--sweeps", "3000", "--repeats", "2", "--chains",
           "10", "--out", sound});
  CHECK_THAT(io_test::read_all(sound + "/rmse.svg"), !Catch::Contains("refused"));
}

TEST_CASE("methods that compare finds the same, but for rounding, share a rank") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:30:6:0.1:1").model, folder / "m.npz");
  std::map<std::string, Json> cells;
  const Json told = json_of({"compare", model, "--methods", "rts,rts-mixed,ais", "--sweeps", "1000",
                             "--repeats", "3", "--out", folder / "compared"});
  for (const Json& cell : told["cells"]) cells[cell["method"]] = cell;
  // One number by sums in another order.
  const double rts = cells["rts"]["rmse"], mixed = cells["rts-mixed"]["rmse"];
  REQUIRE(rts != mixed);
  REQUIRE(rts == Approx(mixed).epsilon(1e-10));
  REQUIRE(cells["rts"]["rank"].is_number());
  CHECK(cells["rts-mixed"]["rank"] == cells["rts"]["rank"]);
  CHECK(cells["ais"]["rank"] != cells["rts"]["rank"]);
}

TEST_CASE("the repeats of compare are estimates of the seeds that follow the first") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(20, 6, 0.3, 2), folder / "m.npz");
  const Arguments options = {"--sweeps", "100", "--chains", "12", "--base", "uniform"};
  const auto with = [&](Arguments first) {
    first.insert(first.end(), options.begin(), options.end());
    return first;
  };
  const std::string out = folder / "compared";
  json_of(
      with({"compare", model, "--methods", "ais", "--repeats", "6", "--seed", "7", "--out", out}));
  std::istringstream text(io_test::read_all(out + "/estimates.csv"));
  std::string line;
  std::getline(text, line);
  REQUIRE(line.starts_with("model,method,sweeps,repeat,log_z,"));
  for (int repeat = 0; repeat < 6; ++repeat) {
    REQUIRE(std::getline(text, line));
    const double log_z = json_of(with(
        {"estimate", model, "--method", "ais", "--seed", std::to_string(7 + repeat)}))["log_z"];
    INFO(line);
    const std::string head = "m.npz,ais,100," + std::to_string(repeat) + ",";
    REQUIRE(line.starts_with(head));
    CHECK(std::stod(line.substr(head.size())) == log_z);
  }
}

TEST_CASE("compare runs on an adaptive ladder as estimate does") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(20, 6, 0.3, 2), folder / "m.npz"),
                    out = folder / "compared";
  const auto shared = [](Arguments first, const std::string& ladder) {
    return with(std::move(first), {"--sweeps", "200", "--chains", "12", "--temperatures", "8",
                                   "--base", "uniform", "--seed", "7", "--ladder", ladder});
  };
  json_of(
      shared({"compare", model, "--methods", "rts", "--repeats", "2", "--out", out}, "adaptive"));
  const auto estimated = [&](const std::string& ladder) {
    return json_of(shared({"estimate", model, "--method", "rts"}, ladder))["log_z"].get<double>();
  };
  const auto rows = csv_rows(out + "/estimates.csv");
  REQUIRE(rows.at(0).at(4) == "log_z");
  CHECK(std::stod(rows.at(1).at(4)) == estimated("adaptive"));
  CHECK(estimated("adaptive") != estimated("linear"));
}

TEST_CASE("bars of the mean error are its own interval, not that of the RMSE") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(8, 4, 0.5, 3), folder / "m.npz"), out = folder / "out";
  const Run told = run({"compare", model, "--methods", "ais", "--sweeps", "50", "--repeats", "5",
                        "--out", out, "--json"},
                       keeping_scripts(folder));
  REQUIRE(told.code == 0);
  const Json cell = Json::parse(told.out)["cells"][0];
  const double bias = cell["bias"], student = 2.776445105,  // of four degrees of freedom
      half = student * cell["std_dev"].get<double>() / std::sqrt(5.0);
  const auto points = drawn_points(out + "/bias.gp.txt", 0);
  REQUIRE(points.size() == 1);
  CHECK(points[0].at(1) == Approx(bias).epsilon(1e-9));
  CHECK(points[0].at(2) == Approx(bias - half).epsilon(1e-6));
  CHECK(points[0].at(3) == Approx(bias + half).epsilon(1e-6));
  const auto rmse = drawn_points(out + "/rmse.gp.txt", 0);
  REQUIRE(rmse.size() == 1);
  CHECK(rmse[0].at(1) == Approx(cell["rmse"].get<double>()).epsilon(1e-9));
  CHECK(rmse[0].at(2) == Approx(cell["rmse_lower"].get<double>()).epsilon(1e-9));
  CHECK(rmse[0].at(3) == Approx(cell["rmse_upper"].get<double>()).epsilon(1e-9));
}

TEST_CASE("compare of several models gives of each what it gives of it alone, in one figure too") {
  const io_test::Folder folder;
  const std::string one = saved(random_rbm(12, 5, 0.5, 1), folder / "one.npz"),
                    two = folder / "two.npz";
  json_of({"make", "ising:4:0.3", "--out", two});
  const auto compared = [&](Arguments models, const std::string& out) {
    Arguments command = {"compare"};
    command.insert(command.end(), models.begin(), models.end());
    for (const char* option : {"--methods", "rts,ais", "--sweeps", "50,200", "--repeats", "3",
                               "--chains", "10", "--out"})
      command.emplace_back(option);
    command.push_back(folder / out);
    return json_of(command);
  };
  const Json both = compared({one, two}, "both");
  CHECK(both["truth"].is_null());
  CHECK(both["summed"].is_null());
  CHECK(both["files"] == Json({"compare.csv", "estimates.csv", "rmse-1.svg", "rmse-2.svg",
                               "bias-1.svg", "bias-2.svg", "models.svg"}));
  REQUIRE(both["models"].size() == 2);
  REQUIRE(both["cells"].size() == 8);
  std::string lines;
  for (std::size_t m = 0; m < 2; ++m) {
    const std::string name = m == 0 ? "one.npz" : "two.npz";
    const Json alone = compared({m == 0 ? one : two}, name + "-alone");
    CHECK(both["models"][m] ==
          Json({{"model", name}, {"truth", alone["truth"]}, {"summed", alone["summed"]}}));
    for (std::size_t c = 0; c < 4; ++c) {
      Json cell = both["cells"][4 * m + c], own = alone["cells"][c];
      CHECK(cell["model"] == name);
      cell.erase("seconds"), own.erase("seconds");
      CHECK(cell == own);
    }
    const std::string csv = io_test::read_all(folder / (name + "-alone/compare.csv"));
    lines += csv.substr(m == 0 ? 0 : csv.find('\n') + 1);
  }
  CHECK(io_test::read_all(folder / "both/compare.csv") == lines);
  const double truth = both["models"][0]["truth"];
  CHECK(truth == json_of({"exact", one})["log_z"]);
  const std::string figure = io_test::read_all(folder / "both/models.svg");
  for (const char* word : {">one.npz<", ">two.npz<", ">rts<", ">ais<", ">200 sweeps of 10 chains"})
    CHECK_THAT(figure, Catch::Contains(word));
  CHECK_THAT(io_test::read_all(folder / "both/rmse-2.svg"), Catch::Contains("two.npz"));
  CHECK_THAT(run({"compare", one, two, "--sweeps", "20", "--repeats", "2", "--chains", "4", "--out",
                  folder / "text"})
                 .out,
             Catch::Contains("one.npz: True log Z") && Catch::Contains("two.npz: True log Z"));
}

TEST_CASE("compare refuses models named twice, a number for several, and one that has no truth") {
  const io_test::Folder folder;
  const std::string one = saved(random_rbm(12, 5, 0.5, 1), folder / "one.npz"),
                    two = saved(random_rbm(9, 4, 0.5, 2), folder / "two.npz"),
                    large = saved(random_rbm(60, 60, 0.1, 3), folder / "large.npz"),
                    out = folder / "out";
  check_refused(run({"compare", one, two, one, "--out", out}), {one, "must be named once"});
  check_refused(run({"compare", one, folder / "./one.npz", "--out", out}), {"must be named once"});
  check_refused(run({"compare", one, two, "--truth", "5", "--out", out}),
                {"--truth = 5", "there are 2 models"});
  check_refused(run({"compare", one, large, "--out", out}), {large, "cannot be enumerated"});
  check_refused(run({"compare", "--out", out}), {"MODEL is missing"});
  check_refused(run({"compare", one, "", "--out", out}), {"MODEL is empty"});
  CHECK_FALSE(std::filesystem::exists(out));
  const std::string inner = folder / "inner";
  std::filesystem::create_directory(inner);
  const std::string same = saved(random_rbm(9, 4, 0.5, 2), inner + "/one.npz");
  const Json cells = json_of({"compare", one, same, "--methods", "ais", "--sweeps", "20",
                              "--repeats", "2", "--chains", "4", "--out", out})["cells"];
  REQUIRE(cells.size() == 2);
  CHECK(cells[0]["model"] == one);
  CHECK(cells[1]["model"] == same);
}

TEST_CASE("compare refuses runs that were too seldom in the states that a search found") {
  // Half of the mass is one state in 2^20: annealed chains say Z of the other half, which the sum over
  // the well's states does not refute.
  const io_test::Folder folder;
  const std::string well = folder / "well.npz";
  json_of({"make", "well:60:20:0:4", "--out", well});
  const std::string out = folder / "out";
  const Json cells = json_of({"compare", well, "--methods", "ais", "--sweeps", "1000", "--repeats",
                              "4", "--base", "uniform", "--out", out})["cells"];
  REQUIRE(cells.size() == 1);
  CHECK(double{cells[0]["bias"]} < -0.5);
  CHECK(double{cells[0]["mean_std_error"]} < 0.5);
  CHECK(cells[0]["refused"] == 4);
  CHECK(cells[0]["rank"].is_null());
}

TEST_CASE("compare holds its runs to a bound that is not of all states, as estimate does") {
  // A well e^3 times as heavy as all other states, which annealing from the uniform base does not
  // find. It is among the states that are listed, some 2^14 of 2^20.
  const io_test::Folder folder;
  const std::string well = folder / "well.npz", out = folder / "out";
  json_of({"make", "well:60:20:3:4", "--out", well});
  json_of({"compare", well, "--methods", "ais", "--sweeps", "20", "--repeats", "3", "--chains",
           "20", "--base", "uniform", "--out", out});
  CHECK(last_cells_of(io_test::read_all(out + "/estimates.csv")) ==
        std::vector<std::string>(3, "below_bound"));
}

TEST_CASE("compare refuses a number of sweeps that is named twice, and a truth that cannot be") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(10, 4, 0.5, 1), folder / "m.npz"),
                    out = folder / "out";
  const auto compared = [&](const std::string& sweeps, const Arguments& more) {
    Arguments command = {"compare",   model, "--methods", "ais", "--sweeps", sweeps,
                         "--repeats", "2",   "--chains",  "4",   "--out",    out};
    command.insert(command.end(), more.begin(), more.end());
    return run(command);
  };
  check_refused(compared("20,30,20", {}), {"--sweeps = 20,30,20", "20 once"});
  const double truth = json_of({"exact", model})["log_z"];
  check_refused(
      compared("20", {"--truth", std::to_string(truth - 0.01)}),
      {"--truth = ", "must be log Z, which is certainly " + std::to_string(truth).substr(0, 6)});
  CHECK(folder.entries() == 1);  // no folder of results without one
  CHECK(compared("20", {"--truth", std::to_string(truth)}).code == 0);
  // All states of four units are listed.
  check_refused(compared("20", {"--truth", std::to_string(truth + 0.01), "--quiet"}),
                {"--truth = ", "must be log Z, which is " + std::to_string(truth).substr(0, 6)});
  check_refused(compared("+20", {}), {"--sweeps = +20"});
  check_refused(compared("20", {"--truth", "0x10"}), {"--truth = 0x10"});
  check_refused(run({"compare", model, "--repeats", "2147483647", "--out", out}),
                {"runs", "lower --repeats"});
}

TEST_CASE("compare tells no spread of one estimate") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", out = folder / "out";
  json_of({"make", "random:10:6:1:3", "--out", model});
  // Two chains meet all of five rungs in ten sweeps in one of the two repeats.
  const Json one = json_of({"compare", model, "--methods", "ti,rts", "--sweeps", "10", "--chains",
                            "2", "--temperatures", "5", "--repeats", "2", "--out", out})["cells"];
  CHECK(one[0]["mean"].is_number());
  CHECK(one[0]["std_dev"].is_null());
  CHECK(one[1]["std_dev"].get<double>() > 0);
  const auto rows = csv_rows(out + "/compare.csv");
  const auto at = std::find(rows[0].begin(), rows[0].end(), "std_dev") - rows[0].begin();
  CHECK(rows[1].at(at).empty());
  CHECK_FALSE(rows[2].at(at).empty());
}

TEST_CASE("a full disk ends every command that writes with exit code 1 and one line") {
  const io_test::Folder folder;
  const std::string model = saved(random_rbm(60, 20, 0.2, 1), folder / "m.npz");
  std::string rows;
  for (int i = 0; i < 200; ++i) rows += i % 2 ? "0,1,0,1\n" : "1,0,1,0\n";
  const std::string data = folder.write("data.csv", rows);
  // No file may grow beyond one block: what a full disk looks like, whoever runs this.
  const std::string full = "trap '' XFSZ; ulimit -f 1";
  const std::vector<Arguments> commands = {
      {"make", "random:60:20:0.1:1", "--out", folder / "made.npz"},
      {"convert", model, folder / "copy.mat"},
      {"sample", model, "--out", folder / "drawn.npz"},
      {"train", data, "--hidden", "500", "--updates", "1", "--out", folder / "trained.npz"},
      {"estimate", model, "--sweeps", "500", "--dump", folder / "dump.npz"},
      {"compare", model, "--sweeps", "50", "--repeats", "20", "--out", folder / "compared"},
      {"reproduce", "bruegge2013/fig2", "--profile", "smoke", "--out", folder / "results"},
  };
  for (const Arguments& command : commands) {
    INFO(command.front());
    const Run result = run_under(full, command);
    INFO(result.err);
    CHECK(result.code == 1);
    CHECK(result.err.find("cannot be written") != std::string::npos);
  }
}
