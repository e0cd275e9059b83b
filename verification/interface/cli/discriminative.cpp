#include "boltzmark/learn/classes/discriminative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <sstream>
#include <vector>

#include "boltzmark/io/model_file.hpp"
#include "verification/interface/cli/json.hpp"

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
  CHECK(keys(trained) == Keys{"out", "inputs", "hidden", "classes", "hidden_units", "binarise",
                              "optimiser", "learning_rate", "batch", "updates", "resumed_at",
                              "seed", "evaluations", "seconds", "warnings"});
  CHECK(trained["warnings"].empty());
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
                             "mean_log_likelihood", "std_error_cases", "binarise", "seconds",
                             "warnings"});
  CHECK(scored["errors"] == 0);
  CHECK(scored["errors"].is_number_integer());
  CHECK(scored["cases"] == 40);
  CHECK(scored["lower"] == 0);
  // As many cases without an error have less than 2.5 % beyond it.
  CHECK(scored["upper"].get<double>() == Approx(1 - std::pow(0.025, 1 / 40.0)).epsilon(1e-9));
  // The 40 cases are the 4, ten times.
  CHECK(scored["mean_log_likelihood"].get<double>() ==
        Approx(score.mean_log_likelihood).epsilon(1e-12));
  CHECK(run({"score", folder / "m.npz", cases(folder), "--labels", classes(folder)})
            .out.find("error rate") == 0);

  const Json described = json_of({"describe", folder / "m.npz"});
  CHECK(described["kind"] == "discriminative");
  CHECK(described["hidden_units"] == "continuous");
  CHECK(described["inputs"] == 2);
  const auto ranges = [&](const char* key, const auto& values) {
    INFO(key);
    CHECK(described[key]["lowest"] == values.minCoeff());
    CHECK(described[key]["highest"] == values.maxCoeff());
    CHECK(described[key]["root_mean_square"].get<double>() ==
          Approx(values.norm() / std::sqrt(static_cast<double>(values.size()))).epsilon(1e-12));
  };
  ranges("input_weights", model.input_weights());
  ranges("class_weights", model.class_weights());
  ranges("hidden_biases", model.hidden_bias());
  ranges("class_biases", model.class_bias());
}

TEST_CASE("describe tells how a discriminative model's inputs were binarised, if its file does") {
  const io_test::Folder folder;
  const std::string bits = folder / "bits.npz";
  REQUIRE(run(training(folder, "bits.npz", {"--updates", "1"})).code == 0);
  CHECK(json_of({"describe", bits})["binarise"].is_null());  // there was nothing to binarise
  const Run refused = run(training(folder, "x.npz", {"--binarise", "sample:7"}));
  CHECK(refused.code == 2);
  CHECK(refused.err.find("has no grey levels") != std::string::npos);
  boltzmark::write_discriminative(boltzmark::read_discriminative(bits), folder / "m.npz",
                                  boltzmark::parse_binarise("sample:7"));
  CHECK(json_of({"describe", folder / "m.npz"})["binarise"] == "sample:7");
  const std::string text = run({"describe", folder / "m.npz"}).out;
  CHECK(text.find("discriminative") != std::string::npos);
  CHECK(text.find("2, grey levels of images by sample:7") != std::string::npos);
  boltzmark::write_discriminative(boltzmark::read_discriminative(folder / "m.npz"),
                                  folder / "other.npz");
  CHECK(json_of({"describe", folder / "other.npz"})["binarise"].is_null());
  CHECK(run({"describe", folder / "other.npz"}).out.find("grey levels") == std::string::npos);
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
  // A name means the cases that were not trained on.
  const Json named = json_of({"score", path, "artificial-modes-0.01"}),
             trained = json_of({"score", path, "artificial-modes-0.01:train"});
  CHECK(named["mean_log_likelihood"] == scored["mean_log_likelihood"]);
  CHECK(named["mean_log_likelihood"] != trained["mean_log_likelihood"]);
}

TEST_CASE("predictions are a file of each case's likeliest class and all probabilities") {
  const io_test::Folder folder;
  REQUIRE(run(training(folder, "m.npz", {"--updates", "50"})).code == 0);
  const std::string path = folder / "classes.csv";
  json_of({"score", folder / "m.npz", cases(folder), "--labels", classes(folder), "--predictions",
           path});
  const auto model = boltzmark::read_discriminative(folder / "m.npz");
  Eigen::MatrixXf inputs(2, 4);
  inputs << 0, 1, 1, 0, 0, 0, 1, 1;  // of the cases 1, 2, 3 and 4
  const boltzmark::LabelledCases four(inputs, {0, 1, 0, 1}, 2);
  const Eigen::MatrixXd log_p = boltzmark::log_class_probabilities(model, four);
  const std::vector<int> likeliest = boltzmark::predict(model, four);
  std::istringstream lines(io_test::read_all(path));
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(line == "case,class,p0,p1");
  for (int c = 0; c < 40; ++c) {
    REQUIRE(std::getline(lines, line));
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream fields(line);
    int number = 0, predicted = 0;
    double p0 = 0, p1 = 0;
    fields >> number >> predicted >> p0 >> p1;
    CAPTURE(line);
    CHECK(number == c + 1);
    CHECK(predicted == likeliest[c % 4]);
    CHECK(predicted == (p1 > p0 ? 1 : 0));
    CHECK(p0 == Approx(std::exp(log_p(0, c % 4))).epsilon(1e-12));
    CHECK(p0 + p1 == Approx(1).epsilon(1e-12));
  }
  CHECK_FALSE(std::getline(lines, line));
  // The same without the classes, which are not used.
  const std::string blind = folder / "blind.csv";
  const Json told = json_of({"score", folder / "m.npz", cases(folder), "--predictions", blind});
  CHECK(told["cases"] == 40);
  CHECK(told["error_rate"].is_null());
  CHECK(io_test::read_all(blind) == io_test::read_all(path));
  CHECK(run({"score", folder / "m.npz", cases(folder)}).code == 2);
  // An existing file stays, unless --force is given.
  Arguments again = {"score",         folder / "m.npz", cases(folder), "--labels",
                     classes(folder), "--predictions",  path};
  CHECK(run(again).code == 2);
  again.emplace_back("--force");
  CHECK(run(again).code == 0);
  again[6] = folder / "p.txt";
  check_refused(run(again), {"p.txt: ", "must end in .csv"});
}

TEST_CASE("a discriminative RBM keeps how its images were binarised, and is scored likewise") {
  const io_test::Folder folder;
  std::string images = {0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 2};  // IDX: 40 of 1 x 2
  for (int i = 0; i < 40; ++i) images += {static_cast<char>(6 * i), static_cast<char>(250 - 6 * i)};
  const std::string data = folder.write("images.idx", images), labels = classes(folder);
  const std::string grey = folder / "grey.npz", bits = folder / "bits.npz";
  const auto train = [&](const std::string& out, const Arguments& more) {
    Arguments all = {"train",    data, "--discriminative", "--labels", labels,
                     "--hidden", "3",  "--updates",        "50",       "--out",
                     out};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all);
  };
  CHECK(train(grey, {"--binarise", "grey"})["binarise"] == "grey");
  CHECK(train(bits, {})["binarise"] == "threshold:127");
  CHECK(boltzmark::read_binarise(grey)->kind == boltzmark::BinariseOptions::Kind::grey);
  CHECK(boltzmark::read_binarise(bits)->threshold == 127);

  const auto score = [&](const std::string& model, const Arguments& more) {
    Arguments all = {"score", model, data, "--labels", labels};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all);
  };
  const Json kept = score(grey, {}), asked = score(grey, {"--binarise", "grey"}),
             other = score(grey, {"--binarise", "threshold:50"});
  CHECK(kept["binarise"] == "grey");
  CHECK(kept["mean_log_likelihood"] == asked["mean_log_likelihood"]);
  CHECK(kept["warnings"].empty());
  CHECK(asked["warnings"].empty());
  CHECK(other["mean_log_likelihood"] != asked["mean_log_likelihood"]);
  REQUIRE(other["warnings"].size() == 1);
  CHECK(other["warnings"][0].get<std::string>().find("trained with grey") != std::string::npos);
  CHECK(score(bits, {})["binarise"] == "threshold:127");
}

TEST_CASE("shares that a discriminative RBM learned from as they are are scored as they are") {
  const io_test::Folder folder;
  std::string rows, classes;  // the class is whether the first share is the larger one
  for (int n = 0; n < 200; ++n) {
    const double x = (n * 37 % 200) / 410.0, y = (n * 91 % 200) / 410.0;  // all below a half
    rows += fmt::format("{},{}\n", x, y);
    classes += x > y ? "1\n" : "0\n";
  }
  const std::string data = folder.write("x.csv", rows), labels = folder.write("y.txt", classes),
                    model = folder / "m.npz";
  const Json trained =
      json_of({"train", data, "--labels", labels, "--discriminative", "--hidden", "4", "--updates",
               "400", "--learning-rate", "0.05", "--evaluate", "400", "--out", model});
  CHECK(trained["binarise"].is_null());
  CHECK_FALSE(boltzmark::read_binarise(model).has_value());
  const Json last = trained["evaluations"].back(),
             scored = json_of({"score", model, data, "--labels", labels});
  CHECK(last["error_rate"].get<double>() < 0.1);
  CHECK(scored["error_rate"] == last["error_rate"]);
  CHECK(scored["mean_log_likelihood"].get<double>() ==
        Approx(last["mean_log_likelihood"].get<double>()).epsilon(1e-12));
  CHECK(scored["binarise"].is_null());
  CHECK(scored["warnings"].empty());
  const Run told = run({"score", model, data, "--labels", labels});
  CHECK(told.out.find("values as they are") != std::string::npos);
  CHECK(told.out.find("threshold") == std::string::npos);
}

TEST_CASE("the spread over one case is unknown, not zero") {
  const io_test::Folder folder;
  const std::string model = folder / "m.npz", one = folder.write("one.csv", "1,0,1,0,1,0\n"),
                    label = folder.write("one", "1\n"),
                    two = folder.write("two.csv", "1,0,1,0,1,0\n0,0,1,1,1,0\n"),
                    labels = folder.write("two", "1\n0\n");
  REQUIRE(run({"train", two, "--discriminative", "--labels", labels, "--hidden", "2", "--updates",
               "1", "--batch", "2", "--out", model})
              .code == 0);
  const Json score = json_of({"score", model, one, "--labels", label});
  CHECK(score["std_error_cases"].is_null());
  CHECK(score["mean_log_likelihood"].get<double>() < 0);
  CHECK_THAT(score["warnings"].dump(), Catch::Contains("one case: its spread is unknown"));
  const std::string told = run({"score", model, one, "--labels", label}).out;
  CHECK_THAT(told, !Catch::Contains("standard error") && Catch::Contains("one case"));
  CHECK(json_of({"score", model, two, "--labels", labels})["std_error_cases"].get<double>() >= 0);
}

TEST_CASE("classes that no case has are told after training") {
  const io_test::Folder folder;
  std::string from_1, gaps;
  for (int i = 0; i < 40; ++i) {
    from_1 += i % 2 != 0 ? "1\n" : "2\n";
    gaps += i % 2 != 0 ? "1\n" : "5\n";
  }
  const auto warning = [&](const std::string& labels, const std::string& out) {
    const Json trained = json_of({"train", cases(folder), "--discriminative", "--labels", labels,
                                  "--hidden", "2", "--updates", "1", "--out", folder / out});
    REQUIRE(trained["warnings"].size() == 1);
    return trained["warnings"][0].get<std::string>();
  };
  CHECK(warning(folder.write("from1", from_1), "a.npz") ==
        "1 of the 3 classes has no cases, class 0 (labels count classes from 0)");
  CHECK(warning(folder.write("gaps", gaps), "b.npz") ==
        "4 of the 6 classes have no cases, class 0 the first (labels count classes from 0)");
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

TEST_CASE("a discriminative run that goes on tells all evaluations of one that was never stopped") {
  const io_test::Folder folder;
  const auto told = [&](const char* updates, const char* every, const char* part) {
    const Run result = run(training(folder, "m.npz",
                                    {"--updates", updates, "--evaluate", every, "--checkpoint",
                                     folder / part, "--json", "--force"}));
    INFO(result.err);
    REQUIRE(result.code == 0);
    return std::pair(Json::parse(result.out)["evaluations"], result.err);
  };
  const Json whole = told("90", "20", "whole").first;
  CHECK(whole.size() == 6);
  const Json part = told("50", "20", "part").first;
  CHECK(part.back()["update"] == 50);
  CHECK(told("50", "20", "part").first == part);
  CHECK(told("90", "20", "part").first == whole);
  const auto [other, said] = told("100", "25", "part");
  CHECK(other.front()["update"] == 100);
  CHECK_THAT(said, Catch::Contains("evaluations begin at update 90"));
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
                    great_labels = folder.write("great", "0\n2000000000\n"),
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
      {with({"--labels", labels, "--hidden-units", "0"}), "--hidden-units = 0",
       "must be bernoulli, continuous, or the s of X(s), 1..65535:"},
      {with({"--labels", labels, "--hidden-units", "gaussian"}), "gaussian", "continuous"},
      {with({"--labels", labels, "--negative", "cd:1"}), "--negative", "its gradient is exact"},
      {with({"--labels", labels, "--rule", "flip"}), "--rule", "exact"},
      {with({"--labels", labels, "--every", "5"}), "--every", "its gradient is exact"},
      {with({"--labels", labels, "--initial", "normal"}), "--initial normal", "xavier"},
      {with({"--labels", labels, "--initial-sd", "0.1"}), "--initial-sd", "xavier"},
      {with({"--labels", labels, "--batch", "41"}), "--batch = 41", "40"},
      {with({"--labels", great_labels}), great_labels, "from 0 to 1048575"},
      {with({"--labels", labels, "--optimiser", "rprop"}), "rprop", "adamax"},
      {with({"--labels", labels, "--momentum", "0.5"}), "--momentum", "--discriminative"},
      {with({"--labels", labels, "--weight-decay", "0.1"}), "--weight-decay", "--discriminative"},
      {with({"--labels", labels, "--rate-decay", "9"}), "--rate-decay", "--discriminative"},
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
      {{"score", model, data, "--labels", many_labels}, many_labels, "label of case 3 = 2"},
      {{"score", model, "bas", "--labels", labels}, "bas", "has 40 classes"},
      {{"score", model, "artificial-modes-0.1"}, "artificial-modes-0.1", "16 units"},
      {{"score", model, data, "--labels", labels, "--method", "rts"}, "--method = rts", "exact"},
      {{"score", model, data, "--labels", labels, "--chains", "100"}, "--chains", "exact"},
      {{"score", model, data, "--labels", labels, "--prior", "uniform"}, "--prior", "exact"},
      {{"score", model, data, "--labels", labels, "--states", "joint"}, "--states", "exact"},
      {{"score", model, data, "--labels", labels, "--base", "bas"}, "--base", "exact"},
      {{"score", model, data, "--labels", labels, "--data", "bas"}, "--data", "exact"},
      {{"score", model, data, "--labels", labels, "--seed", "2"}, "--seed", "exact"},
      {{"score", model, data, "--labels", labels, "--predictions", model}, model, "must"},
      {{"score", folder / "rbm.npz", data, "--labels", labels}, "--labels", "discriminative"},
      {{"score", folder / "rbm.npz", data, "--predictions", out}, "--predictions", "discrimin"},
      {{"exact", model}, model, "discriminative"},
      {{"sample", model, "--out", out}, model, "discriminative"},
      {{"convert", model, folder / "m.mat"}, model, "discriminative"},
  };
  const auto before = listing(folder / "");
  for (const Case& bad : all) {
    check_refused(run(bad.arguments), {bad.file, bad.reason});
    CHECK(listing(folder / "") == before);
  }
}
