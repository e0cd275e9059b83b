// Estimates that are tried again, and exit codes that tell of refused ones.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/io/formats/npz.hpp"
#include "verification/checks/known/known_model.hpp"
#include "verification/exact/support/well_models.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/io/files.hpp"

namespace {

using namespace cli_test;

Json attempt(int sweeps, const char* status) { return {{"sweeps", sweeps}, {"status", status}}; }

Json without_seconds(Json result) {
  result.erase("seconds");
  return result;
}

}  // namespace

TEST_CASE("a refused estimate is tried again with more sweeps, and all attempts are told") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:30:6:0.1:1").model, folder / "m.npz");
  const Arguments small = {"estimate", model, "--chains", "10"};
  const auto with = [&](const Arguments& more) {
    Arguments all = small;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Json found = json_of(with({"--sweeps", "100", "--auto"}));
  INFO(found.dump());
  CHECK(found["attempts"] ==
        Json::array({attempt(100, "not_converged"), attempt(200, "not_converged"),
                     attempt(400, "not_converged"), attempt(800, "ok")}));
  CHECK(found["status"] == "ok");
  CHECK(found["sweeps"] == 800);
  CHECK(found["total_sweeps"] == 1500);
  CHECK(found["warnings"].empty());
  CHECK(found["log_z"].get<double>() == Approx(25.704843).margin(0.05).epsilon(0));
  CHECK(without_seconds(json_of(with({"--sweeps", "100", "--auto", "--threads", "1"}))) ==
        without_seconds(found));

  const Json once = json_of(with({"--sweeps", "100"}));
  CHECK(once["attempts"] == Json::array({attempt(100, "not_converged")}));
  CHECK(once["total_sweeps"] == 100);
  // The attempt that is ok has draws of its own: it is no run that was looked at before.
  CHECK(json_of(with({"--sweeps", "800"}))["log_z"] != found["log_z"]);
  // An ok first attempt is the run of as many sweeps.
  const Json first = json_of(small), plain = json_of(with({"--sweeps", "10000"}));
  CHECK(first["attempts"] == Json::array({attempt(10000, "ok")}));
  CHECK(without_seconds(first) == without_seconds(plain));

  // Whole ladders and stored samples have as many sweeps as were run.
  const Json ladders = json_of(with({"--method", "ss", "--sweeps", "100"}));
  CHECK(ladders["total_sweeps"] == ladders["sweeps"]);
  const std::string dump = folder / "d.npz";
  json_of(with({"--sweeps", "100", "--dump", dump}));
  const Json stored = json_of({"estimate", "--from", dump});
  CHECK(stored["total_sweeps"] == stored["sweeps"]);
  REQUIRE(stored["attempts"].size() == 1);
  CHECK(stored["attempts"][0]["status"] == stored["status"]);
  const Json reached = json_of(with({"--sweeps", "1000", "--target-error", "0.1"}));
  CHECK(reached["attempts"].size() >= 2);
  CHECK(reached["attempts"].back()["status"] == reached["status"]);

  const Run text = run(with({"--sweeps", "100", "--auto"}));
  CHECK_THAT(text.out, Catch::Contains("100 sweeps not_converged, 200 sweeps not_converged"));
}

TEST_CASE("no attempt starts that is foretold to end too late, or that cannot mend anything") {
  const io_test::Folder folder;
  const std::string hole = saved(well_models::golf_hole(60, 8).model, folder / "m.npz");
  const Json late = json_of({"estimate", hole, "--base", "uniform", "--max-seconds", "0.001"});
  INFO(late.dump());
  CHECK(late["attempts"].size() == 1);
  CHECK(late["status"] == "below_bound");
  CHECK_THAT(late["warnings"].back().get<std::string>(),
             Catch::Contains("not tried again") && Catch::Contains("--max-seconds"));
  CHECK(json_of({"estimate", hole, "--base", "uniform", "--sweeps", "100", "--auto"})["attempts"]
            .size() == 4);
  const std::string huge =
      saved(independent_rbm(Eigen::VectorXd::Constant(4, 1e36), Eigen::VectorXd::Zero(2)),
            folder / "h.npz");
  const Json never = json_of({"estimate", huge, "--sweeps", "100", "--auto"});
  CHECK(never["status"] != "ok");
  CHECK(never["attempts"].size() == 1);
  // Annealed chains are a sample each, tempered ones many.
  const std::string small =
      saved(boltzmark::make_known_model("random:8:5:0.5:1").model, folder / "s.npz");
  for (const char* method : {"ais", "smc", "raise"}) {
    const Json few = json_of({"estimate", small, "--method", method, "--chains", "50"});
    CHECK(few["attempts"].size() == 1);
    CHECK(few["status"] == "few_effective_samples");
    CHECK_THAT(few["warnings"].front().get<std::string>(),
               Catch::StartsWith("4") && Catch::Contains(" effective samples (fewer than 50)"));
    CHECK_THAT(few["warnings"].back().get<std::string>(), Catch::Contains("50 are too few"));
  }
  const Json tempered = json_of({"estimate", small, "--chains", "50"});
  CHECK(tempered["status"] == "ok");
}

TEST_CASE("a number is not broken over lines, and a line is at words") {
  const io_test::Folder folder;
  std::vector<std::uint8_t> by;
  for (int n = 0; n < 40; ++n)
    for (const char c : "by 40 000 " + std::string(static_cast<std::size_t>(n % 7), 'x') + " ")
      by.push_back(static_cast<std::uint8_t>(c));
  boltzmark::NpzWriter out(folder / "m.npz");
  out.add("W", Eigen::MatrixXd(Eigen::MatrixXd::Zero(2, 1)));
  out.add("b", Eigen::VectorXd(Eigen::VectorXd::Zero(2)));
  out.add("c", Eigen::VectorXd(Eigen::VectorXd::Zero(1)));
  out.add("log_z", Eigen::VectorXd(Eigen::VectorXd::Constant(1, 3 * std::log(2))));
  out.add("log_z_by", by, {by.size()});
  out.commit();
  const Run text = run({"describe", folder / "m.npz"});
  INFO(text.out);
  CHECK_THAT(text.out, Catch::Contains("40 000 x by 40 000 xx by"));
  CHECK_FALSE(std::regex_search(text.out, std::regex("40 *\\n *000")));
  CHECK(std::regex_search(text.out, std::regex("\\n +40 000")));
}

TEST_CASE("a search for an error ends before the run that is foretold to end too late") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:8:5:0.5:1").model, folder / "m.npz");
  const Arguments search = {"estimate", model, "--sweeps", "200", "--target-error", "1e-3"};
  const Json stopped = json_of(with(search, {"--max-seconds", "1e-6"}));
  CHECK(stopped["attempts"].size() == 1);
  CHECK_THAT(stopped["warnings"].back().get<std::string>(),
             Catch::Contains("the target error was not reached: with ") &&
                 Catch::Contains("--max-seconds"));
  // By itself it has no end: these would take more than a default minute.
  const Json longer = json_of(with(search, {"--max-seconds", "1000"}));
  CHECK(longer["attempts"].size() > 2);
  CHECK(without_seconds(json_of(search)) == without_seconds(longer));
}

TEST_CASE("a refused estimate ends with exit code 4 where that is asked for, its numbers printed") {
  const io_test::Folder folder;
  const std::string hole = saved(well_models::golf_hole(60, 8).model, folder / "m.npz");
  const std::string gentle =
      saved(boltzmark::make_known_model("random:30:6:0.1:1").model, folder / "g.npz");
  const Arguments refused = {"--base", "uniform", "--sweeps", "200"};
  const auto of = [&](const Arguments& first, const Arguments& more) {
    Arguments all = first;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CHECK(json_of(of({"estimate", hole}, refused))["status"] == "below_bound");
  CHECK(json_of(of({"estimate", hole, "--strict"}, refused), 4)["status"] == "below_bound");
  CHECK(json_of({"estimate", gentle, "--strict"})["status"] == "ok");
  const std::string row = [] {
    std::string ones = "1";
    for (int i = 1; i < 60; ++i) ones += ",1";
    return ones + "\n";
  }();
  const std::string cases = folder.write("c.csv", row);
  CHECK(json_of(of({"score", hole, cases, "--method", "ais"}, refused))["status"] != "ok");
  json_of(of({"score", hole, cases, "--method", "ais", "--strict"}, refused), 4);
  CHECK(json_of({"score", hole, cases, "--strict"})["status"] == "ok");  // exact
}

TEST_CASE(
    "attempts are held to all seconds that they would take, foretold in proportion to sweeps") {
  const io_test::Folder folder;
  const std::string hole = saved(well_models::golf_hole(60, 8).model, folder / "m.npz");
  const auto with = [&](double seconds, const Arguments& more = {}) {
    return json_of(cli_test::with({"estimate", hole, "--base", "uniform", "--sweeps", "200",
                                   "--auto", "--max-seconds", fmt::format("{}", seconds)},
                                  more));
  };
  const Json none = with(1e-6);
  REQUIRE(none["attempts"].size() == 1);
  std::smatch said;
  const std::string warning = none["warnings"].back();
  INFO(warning);
  for (const char* threads : {"1", "2"})  // of two cores, whatever it may use
    CHECK(with(1e-6, {"--threads", threads})["warnings"].back() == warning);
  REQUIRE(std::regex_search(warning, said,
                            std::regex("with 400 sweeps it would be ([0-9.]+) (us|ms|s) ")));
  const double two = std::stod(said[1]) * (said[2] == "us" ? 1e-6 : said[2] == "ms" ? 1e-3 : 1);
  // 200 + 400 sweeps; of 1,400 all are made, of 3,000 the last 1,600 are not although they would fit.
  CHECK(with(two * 2000 / 600)["attempts"].size() == 3);
  CHECK(with(two * 3200 / 600)["attempts"].size() == 4);
  CHECK(with(two * 1300 / 600)["attempts"].size() == 2);
}

TEST_CASE("the bound of all attempts is no lower than that of the first") {
  const io_test::Folder folder;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::string model = saved(random_rbm(50, 50, 1, seed), folder / "m.npz");
    const Arguments options = {"estimate", model, "--base",   "uniform",
                               "--sweeps", "30",  "--chains", "20"};
    Arguments all = options;
    all.emplace_back("--auto");
    const Json first = json_of(options), last = json_of(all);
    REQUIRE(last["attempts"].size() >= 3);
    CHECK(last["lower_bound"].get<double>() >= first["lower_bound"].get<double>());
  }
}

TEST_CASE("the sweeps of an adaptive ladder's pilot are those of the run too") {
  const io_test::Folder folder;
  const Json found = json_of({"estimate", saved(random_rbm(8, 5, 0.5, 3), folder / "m.npz"),
                              "--ladder", "adaptive", "--sweeps", "1000"});
  CHECK(found["sweeps"] == 1000);
  CHECK(found["total_sweeps"] == 1000);
}

TEST_CASE("score says of log Z what estimate says of it, refusals included") {
  const io_test::Folder folder;
  const std::string hole = saved(well_models::golf_hole(60, 8).model, folder / "h.npz"),
                    gentle = saved(random_rbm(60, 6, 0.1, 2), folder / "g.npz");
  std::string two;
  for (int unit = 0; unit < 120; ++unit)
    two += fmt::format("{}{}", unit * unit % 3 == 1 ? 1 : 0, unit % 60 == 59 ? "\n" : ",");
  const std::string cases = folder.write("c.csv", two);
  std::set<std::string> statuses;
  for (const std::string& model : {hole, gentle})
    for (const char* method : {"rts", "ti", "ais"})
      for (const char* sweeps : {"60", "3000"}) {
        INFO(model << " " << method << " " << sweeps);
        const Arguments options = {"--method", method, "--sweeps", sweeps, "--base", "uniform"};
        Arguments estimate = {"estimate", model}, score = {"score", model, cases};
        estimate.insert(estimate.end(), options.begin(), options.end());
        score.insert(score.end(), options.begin(), options.end());
        const Json said = json_of(estimate), scored = json_of(score);
        CHECK(scored["log_z"] == said["log_z"]);
        CHECK(scored["std_error"] == said["std_error"]);
        CHECK(scored["status"] == said["status"]);
        CHECK(scored["warnings"] == said["warnings"]);
        statuses.insert(said["status"]);
      }
  CHECK(statuses.contains("ok"));
  CHECK(statuses.contains("below_bound"));
  CHECK(statuses.size() >= 3);
}

TEST_CASE("no method calls an estimate ok that passed by a well of most of the mass") {
  // 0.62 of the mass is one state in 2^22 of the hidden side; the rest is flat.
  const io_test::Folder folder;
  const std::string well = folder / "well.npz";
  const double log_z = json_of({"make", "well:60:22:0.5:2", "--out", well})["log_z"];
  int wrong = 0;
  const auto held = [&](Arguments options) {
    for (const char* seed : {"1", "2"}) {
      Arguments command = {"estimate", well, "--sweeps", "300", "--seed", seed};
      command.insert(command.end(), options.begin(), options.end());
      const Json said = json_of(command);
      INFO(said.dump());
      const double error = std::abs(double{said["log_z"]} - log_z);
      const bool off = error > 0.5 && error > 5 * double{said["std_error"]};
      wrong += off;
      CHECK((said["status"] != "ok" || !off));
    }
  };
  for (const boltzmark::Method& method : boltzmark::registered_methods())
    if (method.name != "mbar") held({"--method", method.name});  // reads what bar reads, for long
  held({"--states", "joint"});
  held({"--method", "bar", "--sampler", "parallel"});
  CHECK(wrong >= 3);  // some must be, for there to be something to refuse
}

TEST_CASE("attempts that nothing would make are refused in one line") {
  const io_test::Folder folder;
  const std::string model =
      saved(boltzmark::make_known_model("random:6:4:0.1:1").model, folder / "m.npz");
  check_refused(run({"estimate", model, "--auto", "--target-error", "0.1"}), {"--auto"});
  check_refused(run({"estimate", model, "--method", "exact", "--auto"}), {"--auto"});
  check_refused(run({"estimate", model, "--method", "exact", "--sweeps", "10000"}), {"--sweeps"});
  check_refused(run({"estimate", model, "--sweeps", "10", "--max-seconds", "9"}),
                {"--max-seconds", "--auto or --target-error"});
  check_refused(run({"estimate", model, "--max-seconds", "0"}), {"--max-seconds"});
  check_refused(run({"estimate", "--from", folder / "none.npz", "--auto"}), {"--auto"});
  check_refused(run({"estimate", "--from", folder / "none.npz", "--sweeps", "10000"}),
                {"--sweeps"});
}
