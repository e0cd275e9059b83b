// Training that can be seen: validation, curves, warnings, and where Ctrl-C leaves a run.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <sstream>

#include "boltzmark/io/model_file.hpp"
#include "verification/interface/cli/curves.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

using namespace cli_test;

TEST_CASE("validation and curves are exact, and change no byte of the trained model") {
  const io_test::Folder folder;
  const std::string plain = folder / "plain.npz", seen = folder / "seen.npz";
  const std::string valid = folder.write("valid.csv",
                                         "1,1,1,1,0,0,0,0,1,1,1,1,0,0,0,0\n"
                                         "1,0,0,1,1,0,0,1,1,0,1,1,1,0,0,1\n");
  REQUIRE(run(bas_training(plain, {"--rate-decay", "100"})).code == 0);
  const std::string curves = folder / "it's curves";
  const Json trained = json_of(bas_training(
      seen, {"--rate-decay", "100", "--evaluate", "100", "--validate", valid, "--curves", curves}));
  CHECK(io_test::read_all(plain) == io_test::read_all(seen));
  const Json& last = trained["evaluations"].back();
  REQUIRE(trained["evaluations"].size() == 4);
  CHECK(
      last["mean_log_likelihood"].get<double>() ==
      Approx(json_of({"score", seen, "bas"})["mean_log_likelihood"].get<double>()).epsilon(1e-10));
  CHECK(
      last["validation_mean_log_likelihood"].get<double>() ==
      Approx(json_of({"score", seen, valid})["mean_log_likelihood"].get<double>()).epsilon(1e-10));
  const auto rows = csv_rows(curves + "/curves.csv");
  REQUIRE(rows.size() == 5);
  CHECK(rows[0] == std::vector<std::string>{"update", "learning_rate", "weight_norm",
                                            "mean_log_likelihood", "validation_mean_log_likelihood",
                                            "log_z", "log_z_std_error", "status", "round_trips",
                                            "negative_round_trips"});
  CHECK(rows[4][0] == "300");
  CHECK(std::stod(rows[1][1]) == 0.05);
  CHECK(std::stod(rows[4][1]) == Approx(0.05 * 100 / 400));
  CHECK(std::stod(rows[4][2]) ==
        Approx(boltzmark::read_model(seen).weights(0).norm()).epsilon(1e-12));
  CHECK(std::stod(rows[4][3]) == last["mean_log_likelihood"].get<double>());
  CHECK(std::stod(rows[4][4]) == last["validation_mean_log_likelihood"].get<double>());
  CHECK(std::stod(rows[4][5]) == Approx(json_of({"exact", seen})["log_z"].get<double>()));
  CHECK(rows[4][6] == "0");
  CHECK(rows[4][7] == "ok");
  REQUIRE(rows[4].size() == 9);
  CHECK(rows[4][8].empty());  // no ladder, no trips
  const std::string drawn = io_test::read_all(curves + "/curves.svg");
  CHECK(drawn.find("validation") != std::string::npos);
  CHECK(drawn.find("not to be trusted") == std::string::npos);
}

TEST_CASE("a data set that validation names alone means its validation cases") {
  const io_test::Folder folder;
  const auto validated = [&](const std::string& split) {
    const Json told = json_of({"train", "artificial-modes-0.1:fit", "--hidden", "2", "--updates",
                               "0", "--evaluate", "1", "--validate", "artificial-modes-0.1" + split,
                               "--out", folder / "m.npz", "--force"});
    return told["evaluations"][0]["validation_mean_log_likelihood"].get<double>();
  };
  CHECK(validated("") == validated(":valid"));
  CHECK(validated("") != validated(":test"));
}

TEST_CASE("an evaluation is printed and drawn with the training value, then that of validation") {
  const io_test::Folder folder;
  const std::string valid = folder.write("valid.csv", "1,0,0,1,1,0,0,1,1,0,1,1,1,0,0,1\n"),
                    curves = folder / "curves";
  const Arguments command =
      bas_training(folder / "m.npz", {"--evaluate", "150", "--validate", valid, "--force"});
  const Run told = run(with(command, {"--curves", curves}), keeping_scripts(folder));
  REQUIRE(told.code == 0);
  const Json evaluations = json_of(command)["evaluations"];
  REQUIRE(evaluations.size() == 3);
  const auto training = drawn_points(curves + "/curves.gp.txt", 0),
             validation = drawn_points(curves + "/curves.gp.txt", 1);
  REQUIRE(training.size() == 3);
  REQUIRE(validation.size() == 3);
  std::istringstream lines(told.out);
  std::string line;
  std::getline(lines, line);  // the heading
  for (std::size_t i = 0; i < 3; ++i) {
    const double of_training = evaluations[i]["mean_log_likelihood"],
                 of_validation = evaluations[i]["validation_mean_log_likelihood"];
    std::getline(lines, line);
    CHECK(line == fmt::format("{:>10}  {:.6f}  {:.6f}", 150 * i, of_training, of_validation));
    CHECK(training[i].at(1) == Approx(of_training).epsilon(1e-12));
    CHECK(validation[i].at(1) == Approx(of_validation).epsilon(1e-12));
    CHECK(std::abs(of_training - of_validation) > 1e-4);
  }
}

TEST_CASE("the norm in the curves of a deep model is that of all its weights") {
  const io_test::Folder folder;
  const std::string path = folder / "m.npz", curves = folder / "curves";
  REQUIRE(run({"train", "bas", "--hidden", "5", "--hidden", "4", "--initial-sd", "1", "--updates",
               "3", "--evaluate", "3", "--curves", curves, "--out", path})
              .code == 0);
  const boltzmark::Layered model = boltzmark::read_model(path);
  CHECK(std::stod(csv_rows(curves + "/curves.csv").back()[2]) ==
        Approx(std::hypot(model.weights(0).norm(), model.weights(1).norm())).epsilon(1e-12));
}

TEST_CASE("a likelihood far below its start is told once, and one that rises is not") {
  const io_test::Folder folder;
  const auto trained = [&](const char* rate) {
    return run(
        bas_training(folder / "m.npz", {"--evaluate", "50", "--learning-rate", rate, "--force"}));
  };
  const Run wrong = trained("20");
  CHECK(wrong.code == 0);
  CHECK(lines(wrong.err) == 1);
  CHECK(wrong.err.find("far below") != std::string::npos);
  CHECK(wrong.err.find("--learning-rate") != std::string::npos);
  CHECK(wrong.out.find("training has gone wrong") != std::string::npos);
  CHECK(trained("0.05").err.empty());
}

TEST_CASE("validation and curves that cannot be are refused before any update") {
  const io_test::Folder folder;
  const std::string out = folder / "m.npz";
  const auto refused = [&](const Arguments& more, const std::string& said) {
    check_refused(run(bas_training(out, more)), {said});
  };
  refused({"--validate", "bas"}, "--validate is given (must come with --evaluate)");
  refused({"--curves", folder / "c"}, "--curves is given (must come with --evaluate)");
  refused({"--evaluate", "50", "--validate", folder.write("d.csv", "0,1\n")},
          "has 2 units (must have 16");
  refused({"--discriminative", "--evaluate", "5", "--curves", folder / "c"}, "--curves is given");
  folder.write("file", "");
  refused({"--evaluate", "50", "--curves", folder / "file"}, "file");
  CHECK(folder.entries() == 2);
  std::filesystem::create_directory(folder / "c");
  folder.write("c/curves.csv", "mine");
  refused({"--evaluate", "50", "--curves", folder / "c"}, "curves.csv");
  CHECK(io_test::read_all(folder / "c/curves.csv") == "mine");
}

TEST_CASE("Ctrl-C during training says where the run is saved, or that it is not") {
  const io_test::Folder folder;
  const auto stopped = [&](const Arguments& more) {
    Arguments all = {"train",      "bas",        "--hidden",   "12",    "--updates",
                     "2000000000", "--evaluate", "1000000000", "--out", folder / "m.npz"};
    all.insert(all.end(), more.begin(), more.end());
    Process process(all);
    REQUIRE(process.wait_for("\n         0  "));
    process.signal(SIGINT);
    const Run ended = process.wait();
    CHECK(ended.code == 1);
    return ended.err.substr(ended.err.find("boltzmark: interrupted"));  // behind the plan
  };
  CHECK(stopped({"--checkpoint", folder / "part"}).find("saved in " + (folder / "part")) !=
        std::string::npos);
  CHECK(std::filesystem::exists(folder / "part"));
  CHECK(stopped({}).find("--checkpoint FILE keeps them") != std::string::npos);
}
