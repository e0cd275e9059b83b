// Gaussian visible units and the stereo pairs that they are for, on the command line.

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "boltzmark/io/formats/idx.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/datasets/norb.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

// Two groups of cases in the units of the data: about (100, -0.5) and (140, 0.5).
std::string two_groups() {
  boltzmark::Stream stream(boltzmark::make_key(3, "cli"), boltzmark::Purpose::test);
  std::string text;
  for (int n = 0; n < 300; ++n) {
    const double group = n % 3 == 0 ? 1 : -1;
    text += fmt::format("{},{}\n", 120 + 20 * group + 3 * stream.normal(),
                        group / 2 + 0.1 * stream.normal());
  }
  return text;
}

Arguments training(const std::string& data, const std::string& out, const std::string& negative,
                   int updates, const Arguments& more = {}) {
  Arguments all = {"train",           data,
                   "--hidden",        "2",
                   "--visible-units", "gaussian",
                   "--negative",      negative,
                   "--updates",       std::to_string(updates),
                   "--learning-rate", "0.02",
                   "--seed",          "5",
                   "--out",           out,
                   "--force"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// log p of the one Gaussian unit pair without weights, by hand.
double log_density(double x, double a, double sigma) {
  return -0.5 * std::pow((x - a) / sigma, 2) - std::log(sigma * std::sqrt(2 * M_PI));
}

}  // namespace

TEST_CASE("score of Gaussian units is the log density of the cases as they are") {
  const io_test::Folder folder;
  const boltzmark::Layered model(
      {{.unit = boltzmark::Unit::gaussian(),
        .bias = Eigen::Vector2d(3, -1),
        .sigma0 = Eigen::Vector2d(2, 0.25)},
       {.unit = boltzmark::Unit::bernoulli(), .bias = Eigen::VectorXd::Ones(1), .sigma0 = {}}},
      {Eigen::MatrixXd::Zero(2, 1)});
  const std::string data = folder.write("d.csv", "4,-1.5\n-2,-0.75\n");
  const Json score = json_of({"score", saved(model, folder / "m.npz"), data});
  const double expected = (log_density(4, 3, 2) + log_density(-1.5, -1, 0.25) +
                           log_density(-2, 3, 2) + log_density(-0.75, -1, 0.25)) /
                          2;
  CHECK(score["mean_log_likelihood"].get<double>() == Approx(expected).epsilon(1e-12));
  CHECK(score["std_error"] == 0);
}

TEST_CASE("estimate --method exact sums a Gaussian layer out, as exact does") {
  const io_test::Folder folder;
  const boltzmark::Layered model(
      {{.unit = boltzmark::Unit::gaussian(),
        .bias = Eigen::Vector2d(3, -1),
        .sigma0 = Eigen::Vector2d(2, 0.25)},
       {.unit = boltzmark::Unit::bernoulli(), .bias = Eigen::VectorXd::Ones(1), .sigma0 = {}}},
      {Eigen::MatrixXd::Zero(2, 1)});
  const std::string path = saved(model, folder / "m.npz");
  const Json estimate = json_of({"estimate", path, "--method", "exact"});
  // Without weights: sqrt(2 pi) sigma of each Gaussian unit, and 1 + e.
  const double expected = std::log(2 * M_PI * 2 * 0.25 * (1 + std::exp(1.0)));
  CHECK(estimate["log_z"].get<double>() == Approx(expected).epsilon(1e-12));
  CHECK(estimate["log_z"] == json_of({"exact", path})["log_z"]);
  CHECK(estimate["status"] == "ok");
  // What cannot be enumerated is refused by what is wrong with it.
  const boltzmark::Layer none{.unit = boltzmark::Unit::gaussian(),
                              .bias = Eigen::VectorXd::Zero(1),
                              .sigma0 = Eigen::VectorXd::Ones(1)};
  const boltzmark::Layer smooth{
      .unit = boltzmark::Unit::continuous(), .bias = Eigen::VectorXd::Zero(1), .sigma0 = {}};
  check_refused(
      run({"estimate", saved({{none, smooth}, {Eigen::MatrixXd::Zero(1, 1)}}, folder / "n.npz"),
           "--method", "exact"}),
      {"n.npz: ", "not discrete"});
}

TEST_CASE(
    "cases of which single precision tells too little are refused, not scored or trained on") {
  const io_test::Folder folder;
  const auto model = [&](double offset) {
    return saved(boltzmark::Layered({{.unit = boltzmark::Unit::gaussian(),
                                      .bias = Eigen::VectorXd::Constant(1, offset),
                                      .sigma0 = Eigen::VectorXd::Constant(1, 0.01)},
                                     {.unit = boltzmark::Unit::bernoulli(),
                                      .bias = Eigen::VectorXd::Ones(1),
                                      .sigma0 = {}}},
                                    {Eigen::MatrixXd::Zero(1, 1)}),
                 folder / fmt::format("{}.npz", offset));
  };
  const auto data = [&](double offset) {
    std::string text;
    for (int n = 0; n < 40; ++n) text += fmt::format("{}\n", offset + 0.01 * (n % 3 - 1));
    return folder.write(fmt::format("{}.csv", offset), text);
  };
  // 2^-23 of 500 is 6e-5, of 5000 6e-4: a hundredth of the spread is 1e-4.
  const double near =
      Json::parse(run({"score", model(500), data(500), "--json"}).out)["mean_log_likelihood"];
  CHECK(near ==
        Approx(2.0 / 3 * log_density(0.01, 0, 0.01) + log_density(0, 0, 0.01) / 3).margin(0.01));
  // Half of it, thrice for the slope, is told of every unit together where it is a thousandth of a nat.
  CHECK_THAT(run({"score", model(500), data(500)}).err,
             Catch::Contains("500.csv: single precision holds its values") &&
                 Catch::Contains("may be off by 0.0089 nats a case"));
  CHECK(run({"score", model(5), data(5)}).err.empty());
  check_refused(run({"score", model(5000), data(5000)}),
                {"5000.csv: unit 1", "take an offset off"});
  CHECK(run(training(data(500), folder / "t.npz", "cd:1", 1)).code == 0);
  check_refused(run(training(data(5000), folder / "u.npz", "cd:1", 1)), {"5000.csv: unit 1"});
  // Of validation cases by the training cases' sigma.
  check_refused(run(training(data(5), folder / "u.npz", "cd:1", 1,
                             {"--evaluate", "1", "--validate", data(5000)})),
                {"5000.csv: unit 1"});
}

TEST_CASE("what train tells of Gaussian units on the way is what score tells of the model") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", two_groups());
  const std::string valid = folder.write("v.csv", "138,0.4\n141,0.6\n150,0.5\n");
  const Json result = json_of(
      training(data, folder / "m.npz", "pcd:2", 4000, {"--evaluate", "2000", "--validate", valid}));
  CHECK(result["visible_units"] == "Gaussian");
  const Json score = json_of({"score", folder / "m.npz", data});
  const double told = result["evaluations"].back()["mean_log_likelihood"].get<double>();
  // The cases are standardised in float32, of values within 40 of their standard deviations.
  CHECK(score["mean_log_likelihood"].get<double>() == Approx(told).margin(1e-4));
  CHECK(told > result["evaluations"][0]["mean_log_likelihood"].get<double>() + 0.2);
  // Validated cases are brought to the training cases' mean and variance, not to their own.
  CHECK(json_of({"score", folder / "m.npz", valid})["mean_log_likelihood"].get<double>() ==
        Approx(result["evaluations"].back()["validation_mean_log_likelihood"].get<double>())
            .margin(1e-4));
  // Another run goes on from the model as it is written.
  const Json longer = json_of(training(data, folder / "n.npz", "pcd:2", 200,
                                       {"--start", folder / "m.npz", "--evaluate", "200"}));
  CHECK(longer["evaluations"][0]["mean_log_likelihood"].get<double>() == Approx(told).margin(1e-4));
}

TEST_CASE("training of Gaussian units gives the same bytes for any threads, and when resumed") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", two_groups());
  for (const std::string negative : {"cd:2", "pcd:2"}) {
    const auto train = [&](const std::string& out, int updates, const Arguments& more) {
      const Run result = run(training(data, folder / out, negative, updates, more));
      INFO(result.err);
      REQUIRE(result.code == 0);
      return io_test::read_all(folder / out);
    };
    const std::string one = train("one.npz", 400, {"--threads", "1"});
    CHECK(train("two.npz", 400, {"--threads", "2"}) == one);
    const Arguments checkpoint = {"--checkpoint", folder / (negative.substr(0, 2) + ".part")};
    CHECK(train("half.npz", 150, checkpoint) != one);
    CHECK(train("whole.npz", 400, checkpoint) == one);
  }
}

TEST_CASE(
    "what cannot be done with Gaussian units is refused in one line, and nothing is written") {
  const io_test::Folder folder;
  const std::string data = folder.write("d.csv", "1,2\n3,4\n5,7\n");
  const std::string model = folder / "m.npz";
  REQUIRE(run(training(data, model, "cd:1", 3)).code == 0);
  for (const char* taken : {"t-dat.mat", "u-cat.mat", "w-info.mat"}) folder.write(taken, "kept");
  const std::size_t files = folder.entries();
  const std::string out = folder / "x.npz";
  struct Case {
    Arguments arguments;
    std::vector<std::string> said;
  };
  const Arguments train = {"train",           data,       "--hidden", "2",
                           "--visible-units", "gaussian", "--out",    out};
  const auto with = [&](const Arguments& more) {
    Arguments all = train;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Case cases[] = {
      {with({"--negative", "pt:5:1"}), {"pt:5:1", "tempered"}},
      {with({"--negative", "pt:1:1"}), {"pt:1:1", "tempered"}},
      {with({"--negative", "cast:5:0.5"}), {"cast", "tempered"}},
      {with({"--hidden", "3"}), {"--hidden", "mean field"}},
      {with({"--binarise", "fresh"}), {"fresh"}},
      {{"train", data, "--hidden", "2", "--hidden-units", "gaussian", "--out", out},
       {"--hidden-units", "gaussian"}},
      {{"estimate", model}, {"Gaussian", "tempered", "`boltzmark exact`"}},
      {{"compare", model}, {"Gaussian", "tempered", "`boltzmark exact`"}},
      {{"describe", model, "--base"}, {"Gaussian", "tempered", "`boltzmark exact`"}},
      {{"score", model, data, "--method", "ais"}, {"Gaussian", "tempered"}},
      {{"score", model, data, "--method", "rts"}, {"Gaussian", "tempered", "`boltzmark exact`"}},
      {{"sample", model, "--sampler", "st:5:0.5", "--out", out}, {"Gaussian", "tempered"}},
      {{"sample", model, "--given", data, "--out", out}, {".npy"}},
      {{"sample", model, "--given", data, "--chains", "3", "--out", folder / "h.npy"},
       {"--chains", "--given"}},
      {{"sample", saved(zero_dbm({2, 2, 2}), folder / "deep.npz"), "--given", data, "--out",
        folder / "h.npy"},
       {"deep"}},
      {{"convert", "norb-toy:fit", folder / "t.mat"}, {"norb-toy:fit", "train or test"}},
      {{"convert", "norb-toy", folder / "t.npz"}, {".mat"}},
      {{"convert", "norb-toy", folder / "t-dat.mat"}, {"t-dat.mat", "exists"}},
      {{"convert", "norb-toy", folder / "u-dat.mat"}, {"u-cat.mat", "exists"}},
      {{"convert", "norb-toy", folder / "w.mat"}, {"w-info.mat", "exists"}},
      {{"convert", "norb-toy", folder / "t.mat", "--precision", "float"}, {"--precision"}},
  };
  for (const Case& one : cases) {
    CAPTURE(one.arguments);
    check_refused(run(one.arguments), one.said);
  }
  CHECK(folder.entries() == files + 1);  // deep.npz
}

TEST_CASE("hidden units drawn given the cases of a data set are a data set") {
  const io_test::Folder folder;
  // Hidden unit j copies visible unit j, but the last, which is on in a third of the cases.
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(2, 3);
  weights(0, 0) = weights(1, 1) = 200;
  const auto model = boltzmark::Layered::rbm(weights, Eigen::Vector2d::Zero(),
                                             Eigen::Vector3d(-100, -100, -std::log(2.0)));
  std::string text;
  for (int n = 0; n < 3000; ++n) text += n % 2 == 0 ? "1,0\n" : "1,1\n";
  const std::string data = folder.write("d.csv", text), out = folder / "h.npy";
  const std::string path = saved(model, folder / "m.npz");
  const Json result = json_of({"sample", path, "--given", data, "--out", out, "--seed", "2"});
  CHECK(keys(result) == Keys{"out", "data", "cases", "units", "seed", "seconds"});
  const boltzmark::Dataset hidden = boltzmark::experiments::load_dataset(out);
  REQUIRE(hidden.values.rows() == 3);
  REQUIRE(hidden.values.cols() == 3000);
  for (int n = 0; n < 3000; ++n) {
    REQUIRE(hidden.values(0, n) == 1);
    REQUIRE(hidden.values(1, n) == static_cast<float>(n % 2));
  }
  // 3,000 draws at 1/3: 6.1 standard deviations of 26.
  CHECK(std::abs(hidden.values.matrix().row(2).sum() - 1000) < 6.1 * 26);
  const std::string bytes = io_test::read_all(out);
  REQUIRE(run({"sample", path, "--given", data, "--out", out, "--force", "--seed", "2", "--threads",
               "1"})
              .code == 0);
  CHECK(io_test::read_all(out) == bytes);
  REQUIRE(run({"sample", path, "--given", data, "--out", out, "--force"}).code == 0);
  CHECK(io_test::read_all(out) != bytes);
}

TEST_CASE("norb without its files, or with damaged ones, is refused in one line") {
  const io_test::Folder folder;
  const Environment here{{"BOLTZMARK_DATA", folder / ""}};
  check_refused(run({"describe", "norb"}, here), {"norb", "smallnorb-5x46789", "is missing"});
  check_refused(run({"train", "norb:fit", "--hidden", "5", "--visible-units", "gaussian", "--out",
                     folder / "m.npz"},
                    here),
                {"is missing"});
  std::vector<std::int32_t> categories;
  std::vector<boltzmark::experiments::NorbPose> poses;
  for (int i = 0; i < boltzmark::experiments::kNorbPairs; ++i) {
    categories.push_back(i % 5);
    poses.push_back(
        {boltzmark::experiments::norb_instances(true)[static_cast<std::size_t>(i / 5 % 5)],
         i / 25 % 9, 2 * (i / 225 % 18), i / 4050});
  }
  const boltzmark::experiments::NorbSet set =
      boltzmark::experiments::make_norb_set(categories, poses, 1);
  const std::string stem = folder / "smallnorb-5x01235x9x18x6x2x96x96-testing";
  boltzmark::experiments::write_norb(set, stem + "-dat.mat");  // of 1 x 1 pixels
  CHECK(folder.entries() == 3);
  check_refused(run({"describe", "norb:test"}, here), {"-dat.mat", "(24300, 2, 1, 1)", "96"});
  std::string header =
      boltzmark::binary_matrix_header(boltzmark::ElementType::uint8, {24300, 2, 96, 96});
  folder.write("smallnorb-5x01235x9x18x6x2x96x96-testing-dat.mat", header + "too short");
  check_refused(run({"describe", "norb:test"}, here), {"-dat.mat", "promises 447897600 bytes"});
  // Read as they are where nothing says that they are small NORB's.
  const Json info = json_of({"describe", stem + "-info.mat"});
  CHECK(info["cases"] == 24300);
  CHECK(info["units"] == 4);
}

TEST_CASE("cases whose spread is too small for a double to resolve the model are refused unread") {
  const io_test::Folder folder;
  const std::string out = folder / "m.npz";
  const auto trained = [&](const char* cases) {
    return run({"train", folder.write("d.csv", cases), "--hidden", "1", "--visible-units",
                "gaussian", "--updates", "3", "--out", out, "--force"});
  };
  check_refused(trained("1e-30,5\n2e-30,4\n"), {"d.csv: unit 1 has a standard deviation of 5e-31"});
  check_refused(trained("5,1e-17\n4,3e-17\n"), {"d.csv: unit 2 has a standard deviation of 1e-17"});
  CHECK(folder.entries() == 1);
  REQUIRE(trained("1e-14,5\n2e-14,4\n").code == 0);
  CHECK(run({"score", out, folder / "d.csv"}).code == 0);
}
