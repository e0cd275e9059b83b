// Training that is seen where log Z is tracked: against enumeration, without a trace in the model,
// marked where it cannot be trusted.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/estimate/held/log_z_tracker.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "verification/interface/cli/curves.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"

using namespace cli_test;

namespace {

// 60 cases of 41 units, of three groups.
std::string wide_data(const io_test::Folder& folder) {
  std::string text;
  for (int c = 0; c < 60; ++c)
    for (int i = 0; i < 41; ++i) {
      const bool on = (i / 14 == c % 3) != ((i * 7 + c * 11) % 13 < 2);
      text += fmt::format("{}{}", on ? 1 : 0, i < 40 ? "," : "\n");
    }
  return folder.write("wide.csv", text);
}

}  // namespace

TEST_CASE("tracked log-likelihoods are near the exact ones, and leave no trace in the model") {
  const io_test::Folder folder;
  const std::string valid = folder.write("valid.csv",
                                         "1,1,1,1,0,0,0,0,1,1,1,1,0,0,0,0\n"
                                         "1,0,0,1,1,0,0,1,1,0,1,1,1,0,0,1\n");
  const Arguments base = {
      "train",     "bas",  "--hidden",        "8",   "--out",      folder / "exact.npz",
      "--updates", "1500", "--learning-rate", "0.2", "--negative", "pcd:1"};
  const auto seen = [&](const std::string& out, const Arguments& more) {
    Arguments all = with(base, with({"--evaluate", "500", "--validate", valid}, more));
    all[5] = folder / out;
    return json_of(all);
  };
  REQUIRE(run(base).code == 0);
  const Json exact = seen("seen.npz", {}),
             tracked = seen("tracked.npz", {"--evaluate-sweeps", "1500", "--curves", folder / "c"});
  CHECK(io_test::read_all(folder / "exact.npz") == io_test::read_all(folder / "tracked.npz"));
  const Json &truth = exact["evaluations"], &found = tracked["evaluations"];
  REQUIRE(found.size() == 4);
  REQUIRE(truth.size() == 4);
  CHECK(truth[3]["mean_log_likelihood"].get<double>() >
        truth[0]["mean_log_likelihood"].get<double>() + 1);
  const auto rows = csv_rows(folder / "c/curves.csv");
  for (std::size_t i = 0; i < 4; ++i) {
    INFO(found[i].dump());
    CHECK(found[i]["status"] == "ok");
    CHECK(found[i]["round_trips"].get<int>() >= 64);
    const double error = found[i]["log_z_std_error"];
    CHECK(error > 0);
    CHECK(error < 0.2);  // what was hardly met of phases is in it
    // Eight standard errors of 32 chains: never by chance.
    for (const char* of : {"mean_log_likelihood", "validation_mean_log_likelihood"})
      CHECK(std::abs(found[i][of].get<double>() - truth[i][of].get<double>()) < 8 * error);
    REQUIRE(rows[i + 1].size() == 9);
    CHECK(std::stod(rows[i + 1][6]) == error);
    CHECK(rows[i + 1][7] == "ok");
    CHECK(std::stoi(rows[i + 1][8]) == found[i]["round_trips"].get<int>());
  }
  CHECK(tracked["warnings"].empty());
}

TEST_CASE("a model of more than 40 units a side is evaluated by a tracked log Z") {
  const io_test::Folder folder;
  const std::string data = wide_data(folder);
  const auto arguments = [&](const std::string& out, const Arguments& more) {
    return with({"train", data, "--hidden", "41", "--initial-sd", "0", "--updates", "0", "--out",
                 folder / out},
                more);
  };
  REQUIRE(run(arguments("plain.npz", {})).code == 0);
  const Json first = json_of(
      arguments("m.npz", {"--evaluate", "1", "--evaluate-sweeps", "1500"}))["evaluations"][0];
  CHECK(io_test::read_all(folder / "plain.npz") == io_test::read_all(folder / "m.npz"));
  // All parameters are 0: log Z is 82 log 2, and each case has the likelihood 2^-41.
  CHECK(first["status"] == "ok");
  const double room = 8 * first["log_z_std_error"].get<double>() + 1e-4;
  CHECK(room < 0.5);
  CHECK(std::abs(first["log_z"].get<double>() - 82 * std::log(2.0)) < room);
  CHECK(std::abs(first["mean_log_likelihood"].get<double>() + 41 * std::log(2.0)) < room);
}

TEST_CASE("a tracked log Z is held to what the cases of validation prove, too") {
  // On flat ground of 60 log 2 = 41.59 each of 3,000 hidden units holds one random state of 35.2 nats, all
  // together 43.2: neither chains nor searches come near enough to many of them.
  constexpr int kUnits = 60, kHeld = 3000;
  constexpr double kWeight = 6, kHeight = 35.2;
  const io_test::Folder folder;
  boltzmark::Stream draws(boltzmark::make_key(4), boltzmark::Purpose::test);
  Eigen::MatrixXd weights(kUnits, kHeld);
  Eigen::VectorXd above(kHeld);
  std::string all, few;
  for (int j = 0; j < kHeld; ++j) {
    int on = 0;
    for (int i = 0; i < kUnits; ++i) {
      const bool bit = draws.below(2) == 1;
      weights(i, j) = bit ? kWeight : -kWeight;
      on += bit ? 1 : 0;
      all += fmt::format("{}{}", bit ? 1 : 0, i + 1 < kUnits ? "," : "\n");
    }
    above[j] = kHeight - kWeight * on;
  }
  for (int c = 0; c < 4; ++c)
    for (int i = 0; i < kUnits; ++i)
      few += fmt::format("{}{}", (i * 7 + c * 11) % 13 < 6 ? 1 : 0, i + 1 < kUnits ? "," : "\n");
  const std::string start = saved(
      boltzmark::Layered::rbm(weights, Eigen::VectorXd::Zero(kUnits), above), folder / "start.npz");
  const std::string elsewhere = folder.write("few.csv", few), held = folder.write("all.csv", all);
  const auto status = [&](const std::string& validation) {
    return json_of({"train", elsewhere, "--hidden", std::to_string(kHeld), "--start", start,
                    "--updates", "0", "--validate", validation, "--evaluate", "1",
                    "--evaluate-sweeps", "250", "--out", folder / "m.npz",
                    "--force"})["evaluations"][0]["status"];
  };
  CHECK(status(elsewhere) ==
        "not_converged");  // units tell that more is elsewhere, but prove nothing
  CHECK(status(held) == "below_bound");
}

TEST_CASE("a tracked log Z is held to modes that neither its chains nor any case met") {
  // One state of hidden units that each of 200 visible ones votes for holds almost all of Z, 10 nats
  // above what chains from elsewhere find.
  const io_test::Folder folder;
  const std::string start = folder / "votes.npz";
  REQUIRE(run({"make", "votes:200:30:8:10:1", "--out", start}).code == 0);
  std::string text;
  for (int c = 0; c < 4; ++c)
    for (int i = 0; i < 200; ++i)
      text += fmt::format("{}{}", (i * 7 + c * 11) % 13 < 6 ? 1 : 0, i < 199 ? "," : "\n");
  const Json found = json_of({"train", folder.write("cases.csv", text), "--hidden", "38", "--start",
                              start, "--updates", "0", "--evaluate", "1", "--evaluate-sweeps",
                              "1000", "--out", folder / "m.npz"})["evaluations"][0];
  const double truth = json_of({"describe", start})["log_z"];
  CHECK((found["status"] != "ok" || std::abs(found["log_z"].get<double>() - truth) < 0.5));
}

TEST_CASE("a model of which neither side can be enumerated is evaluated by a tracked log Z") {
  const io_test::Folder folder;
  const Json found =
      json_of({"train", "bas", "--hidden", "2", "--visible-units", "continuous", "--hidden-units",
               "continuous", "--initial-sd", "0", "--updates", "0", "--evaluate", "1",
               "--evaluate-sweeps", "1500", "--out", folder / "m.npz"})["evaluations"][0];
  // Without parameters log Z is the volume of 18 units on [-1, 1], and log f(v) that of two.
  CHECK(found["status"] == "ok");
  CHECK(found["log_z"].get<double>() == Approx(18 * std::log(2.0)).margin(1e-3));
  CHECK(found["mean_log_likelihood"].get<double>() == Approx(-16 * std::log(2.0)).margin(1e-3));
}

TEST_CASE("an evaluation whose log Z cannot be trusted is marked wherever it stands") {
  const io_test::Folder folder;
  const Arguments few = {"--evaluate", "150", "--evaluate-sweeps", "2", "--force"};
  const Run told = run(bas_training(folder / "m.npz", with(few, {"--curves", folder / "c"})));
  REQUIRE(told.code == 0);
  CHECK_THAT(told.out, Catch::Contains("  not_converged\n") &&
                           Catch::Contains("log Z of 3 of 3 evaluations is not to be trusted"));
  for (const auto& row : csv_rows(folder / "c/curves.csv"))
    if (row[0] != "update") CHECK(row[7] == "not_converged");
  CHECK_THAT(io_test::read_all(folder / "c/curves.svg"),
             Catch::Contains("training, log Z not to be trusted"));
  const Json json = json_of(bas_training(folder / "m.npz", few));
  CHECK(json["evaluations"].back()["status"] == "not_converged");
  CHECK(json["warnings"].size() == 1);
}

TEST_CASE("of a deep model with a tracked log Z a bound is told, and called one") {
  const io_test::Folder folder;
  const auto deep = [&](const Arguments& more) {
    return json_of(
        with({"train", "bas", "--hidden", "6", "--hidden", "4", "--updates", "400",
              "--learning-rate", "0.05", "--evaluate", "400", "--out", folder / "m.npz", "--force"},
             more))["evaluations"];
  };
  const Json exact = deep({}),
             bound = deep({"--evaluate-sweeps", "1500", "--curves", folder / "c"});
  REQUIRE(bound.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_FALSE(bound[i].contains("mean_log_likelihood"));
    const double room = 8 * bound[i]["log_z_std_error"].get<double>();
    const double truth = exact[i]["mean_log_likelihood"];
    CHECK(bound[i]["mean_log_likelihood_bound"].get<double>() < truth + room);
    CHECK(bound[i]["mean_log_likelihood_bound"].get<double>() > truth - room - 1);
  }
  CHECK(csv_rows(folder / "c/curves.csv")[0][3] == "mean_log_likelihood_bound");
}

TEST_CASE("a tracked bound is by as many updates of mean field as training makes") {
  const io_test::Folder folder;
  const auto model =
      boltzmark::initial_network(std::vector{16, 6, 4}, 1, boltzmark::make_key(3, "tracked bound"));
  const std::string start = saved(model, folder / "start.npz");
  const Eigen::MatrixXf cases = boltzmark::experiments::load_dataset("bas").values.matrix();
  std::vector<double> bounds;
  for (const int updates : {1, 50}) {
    const Json told =
        json_of({"train", "bas", "--hidden", "6", "--hidden", "4", "--start", start, "--updates",
                 "0", "--evaluate", "1", "--evaluate-sweeps", "50", "--mean-field",
                 std::to_string(updates), "--out", folder / "m.npz", "--force"})["evaluations"][0];
    const auto log_f = boltzmark::variational_bounds(model, cases, {.updates = updates}).log_f;
    bounds.push_back(Eigen::Map<const Eigen::VectorXd>(log_f.data(), cases.cols()).mean());
    CHECK(told["mean_log_likelihood_bound"].get<double>() + told["log_z"].get<double>() ==
          Approx(bounds.back()).margin(1e-9).epsilon(0));
  }
  CHECK(bounds[1] > bounds[0] + 1e-4);
}

TEST_CASE("a tracked log Z is by the rates of the cases, five added for each hundred begun") {
  const io_test::Folder folder;
  const auto model = random_rbm(6, 4, 0.5, 3);
  std::string text;
  for (int i = 0; i < 250 * 6; ++i)
    text += fmt::format("{}{}", i * 7 % 13 < 5 ? 1 : 0, i % 6 < 5 ? ',' : '\n');
  const std::string data = folder.write("d.csv", text);
  const Json told = json_of({"train", data, "--hidden", "4", "--start",
                             saved(model, folder / "start.npz"), "--updates", "0", "--evaluate",
                             "1", "--evaluate-sweeps", "200", "--out", folder / "m.npz"});
  const auto key = boltzmark::derive_key(boltzmark::make_key(1, "train"), "evaluation");
  const auto looked = [&](double count) {
    const auto base =
        boltzmark::Base::from_data(model, boltzmark::experiments::load_dataset(data).values, count);
    return boltzmark::LogZTracker(base, {.sweeps = 200, .key = key}).look(model).estimate.log_z;
  };
  CHECK(told["evaluations"][0]["log_z"] == looked(15));
  CHECK(looked(15) != looked(5));
}

TEST_CASE("the round trips of the negative phase's ladder stand beside the likelihoods") {
  const io_test::Folder folder;
  for (const std::string negative : {"pt:4:1", "tt:4:0.5", "st:3:0.5", "cast:3:0.5"}) {
    INFO(negative);
    REQUIRE(run(bas_training(folder / "m.npz", {"--negative", negative, "--evaluate", "150",
                                                "--curves", folder / "c", "--force"}))
                .code == 0);
    const auto rows = csv_rows(folder / "c/curves.csv");
    REQUIRE(rows.size() == 4);
    CHECK(rows[1][9] == "0");
    CHECK(std::stoi(rows[2][9]) > 0);
    CHECK(std::stoi(rows[3][9]) > std::stoi(rows[2][9]));
  }
}

TEST_CASE("a tracked log Z that cannot be is refused before any update") {
  const io_test::Folder folder;
  const std::string data = wide_data(folder), out = folder / "m.npz";
  check_refused(run(bas_training(out, {"--evaluate-sweeps", "50"})),
                {"--evaluate-sweeps is given (must come with --evaluate)"});
  check_refused(run(bas_training(out, {"--evaluate", "5", "--evaluate-sweeps", "1"})),
                {"--evaluate-sweeps = 1"});
  const Arguments gaussian = {"train", data, "--visible-units", "gaussian", "--updates", "2",
                              "--out", out,  "--evaluate",      "1",        "--hidden"};
  check_refused(run(with(gaussian, {"41"})), {"--evaluate would enumerate 41 units"});
  check_refused(run(with(gaussian, {"3", "--evaluate-sweeps", "9"})),
                {"--evaluate-sweeps is given (must not be, with --visible-units gaussian"});
  CHECK(folder.entries() == 1);
}
