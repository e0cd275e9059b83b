#include <csignal>

#include "boltzmark/io/discriminative_file.hpp"
#include "boltzmark/learn/discriminative.hpp"
#include "cli_json.hpp"

namespace {

using namespace cli_test;

/// Two inputs and their exclusive or, 40 times.
std::string cases(const io_test::Folder& folder) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += i % 2 != 0 ? (i % 4 == 1 ? "1,0\n" : "0,1\n") : (i % 4 == 0 ? "0,0\n" : "1,1\n");
  return folder.write("xor.csv", text);
}

std::string classes(const io_test::Folder& folder) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += i % 2 != 0 ? "1\n" : "0\n";
  return folder.write("xor.labels", text);
}

Arguments training(const io_test::Folder& folder, const std::string& out,
                   const Arguments& more = {}) {
  Arguments all = {
      "train", cases(folder),    "--discriminative", "--labels", classes(folder), "--hidden",
      "8",     "--hidden-units", "continuous",       "--out",    folder / out,    "--learning-rate",
      "0.05"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("a discriminative RBM is trained, described and scored from the command line") {
  const io_test::Folder folder;
  const Json trained =
      json_of(training(folder, "m.npz", {"--updates", "400", "--evaluate", "150"}));
  CHECK(keys(trained) == Keys{"out", "inputs", "hidden", "classes", "hidden_units", "optimiser",
                              "learning_rate", "batch", "updates", "resumed_at", "seed",
                              "evaluations", "seconds"});
  CHECK(trained["hidden_units"] == "continuous");
  CHECK(trained["optimiser"] == "adamax");
  CHECK(trained["classes"] == 2);
  CHECK(trained["evaluations"].size() == 4);
  CHECK(trained["evaluations"].back()["update"] == 400);
  CHECK(trained["evaluations"].back()["error_rate"] == 0);

  const auto model = boltzmark::read_discriminative(folder / "m.npz");
  Eigen::MatrixXf inputs(2, 4);
  inputs << 0, 1, 0, 1, 0, 0, 1, 1;
  const auto score =
      boltzmark::score_classes(model, boltzmark::LabelledCases(inputs, {0, 1, 1, 0}, 2));
  const Json scored =
      json_of({"score", folder / "m.npz", cases(folder), "--labels", classes(folder)});
  CHECK(keys(scored) == Keys{"method", "error_rate", "lower", "upper", "errors", "cases",
                             "mean_log_likelihood", "std_error_cases", "seconds"});
  CHECK(scored["errors"] == 0);
  CHECK(scored["cases"] == 40);
  CHECK(scored["lower"] == 0);
  // The 40 cases are the 4, ten times.
  CHECK(scored["mean_log_likelihood"].get<double>() ==
        Approx(score.mean_log_likelihood).epsilon(1e-12));
  CHECK(run({"score", folder / "m.npz", cases(folder), "--labels", classes(folder)})
            .out.find("error rate") == 0);

  const Json described = json_of({"describe", folder / "m.npz"});
  CHECK(described["kind"] == "discriminative");
  CHECK(described["hidden_units"] == "continuous");
  CHECK(described["inputs"] == 2);
  CHECK(run({"describe", folder / "m.npz"}).out.find("discriminative") != std::string::npos);
}

TEST_CASE("a data set that carries labels needs no file of them") {
  const io_test::Folder folder;
  const std::string path = folder / "modes.npz";
  REQUIRE(run({"train", "artificial-modes-0.01", "--discriminative", "--hidden", "4", "--updates",
               "300", "--learning-rate", "0.02", "--out", path})
              .code == 0);
  // Four modes, pixels flipped once in a hundred: almost every case tells its own.
  const Json scored = json_of({"score", path, "artificial-modes-0.01:test"});
  CHECK(scored["cases"] == 10000);
  CHECK(scored["error_rate"].get<double>() < 0.05);
}

TEST_CASE("discriminative training gives the same bytes for any threads, and after Ctrl-C") {
  const io_test::Folder folder;
  const Arguments more = {"--updates", "40000", "--batch", "7", "--evaluate", "10000"};
  REQUIRE(run(training(folder, "one.npz", more)).code == 0);
  Arguments two = training(folder, "two.npz", more);
  two.insert(two.end(), {"--threads", "1", "--checkpoint", folder / "part"});
  Process process(two);
  REQUIRE(process.wait_for("\n         0  "));  // the first evaluation: training has begun
  process.signal(SIGINT);
  CHECK(process.wait().code == 1);
  CHECK_FALSE(std::filesystem::exists(folder / "two.npz"));
  REQUIRE(std::filesystem::exists(folder / "part"));
  two.emplace_back("--json");
  const Run finished = run(two);
  REQUIRE(finished.code == 0);
  CHECK(Json::parse(finished.out)["resumed_at"].get<int>() > 0);
  CHECK(io_test::read_all(folder / "one.npz") == io_test::read_all(folder / "two.npz"));
}

TEST_CASE("what a discriminative RBM cannot do is refused with one line, leaving nothing behind") {
  const io_test::Folder folder;
  const std::string data = cases(folder), labels = classes(folder), out = folder / "out.npz";
  const std::string model = folder / "m.npz", part = folder / "part";
  REQUIRE(run(training(folder, "m.npz", {"--updates", "3", "--checkpoint", part})).code == 0);
  REQUIRE(
      run({"train", data, "--hidden", "2", "--updates", "1", "--out", folder / "rbm.npz"}).code ==
      0);
  const std::string short_labels = folder.write("short", "0\n1\n"),
                    wrong_labels = folder.write("wrong", "0\n0.5\n"),
                    many_labels = folder.write("many", [] {
                      std::string text;
                      for (int i = 0; i < 40; ++i) text += std::to_string(i) + "\n";
                      return text;
                    }());
  const Arguments train = {"train", data, "--discriminative", "--hidden", "2", "--out", out};
  const auto with = [&](const Arguments& more) {
    Arguments all = train;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  struct Case {
    Arguments arguments;
    std::string file;
    std::string reason;
  };
  const Case all[] = {
      {with({}), data, "no classes"},
      {with({"--labels", short_labels}), short_labels, "2 classes (must have 40"},
      {with({"--labels", wrong_labels}), wrong_labels, "0.5"},
      {with({"--labels", folder / "none"}), "none", "must"},
      {with({"--labels", labels, "--hidden-units", "0"}), "units = 0", "continuous"},
      {with({"--labels", labels, "--hidden-units", "gaussian"}), "gaussian", "continuous"},
      {with({"--labels", labels, "--negative", "cd:1"}), "--negative", "exact"},
      {with({"--labels", labels, "--rule", "flip"}), "--rule", "exact"},
      {with({"--labels", labels, "--initial", "normal"}), "--initial normal", "xavier"},
      {with({"--labels", labels, "--batch", "41"}), "--batch = 41", "40"},
      {with({"--labels", labels, "--optimiser", "rprop"}), "rprop", "adamax"},
      {with({"--labels", labels, "--checkpoint", part}), part, "other inputs"},
      {{"train", data, "--discriminative", "--labels", labels, "--hidden", "2", "--out",
        folder / "m.mat"},
       "m.mat",
       ".npz"},
      {{"train", data, "--labels", labels, "--hidden", "2", "--out", out},
       "--labels",
       "--discriminative"},
      {{"train", data, "--discriminative", "--labels", labels, "--visible-units", "4", "--hidden",
        "2", "--out", out},
       "--visible-units",
       "inputs are no units"},
      {{"train", data, "--hidden-units", "4", "--hidden", "2", "--out", folder / "m.mat"},
       "m.mat",
       ".npz"},
      {{"score", model, data}, data, "no classes"},
      {{"score", model, data, "--labels", many_labels}, data, "label = 2"},
      {{"score", model, "bas", "--labels", labels}, "bas", "has 40 classes"},
      {{"score", model, "artificial-modes-0.1"}, "artificial-modes-0.1", "16 units"},
      {{"score", model, data, "--labels", labels, "--method", "rts"}, "--method = rts", "exact"},
      {{"score", folder / "rbm.npz", data, "--labels", labels}, "--labels", "discriminative"},
      {{"exact", model}, model, "discriminative"},
      {{"sample", model, "--out", out}, model, "discriminative"},
      {{"convert", model, folder / "m.mat"}, model, "discriminative"},
  };
  const auto before = listing(folder / "");
  for (const Case& bad : all) {
    const Run result = run(bad.arguments);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    CHECK(lines(result.err) == 1);
    CHECK(result.err.find(bad.file) != std::string::npos);
    CHECK(result.err.find(bad.reason) != std::string::npos);
    CHECK(listing(folder / "") == before);
  }
}
