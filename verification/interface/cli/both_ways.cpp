// `estimate --both-ways`: what is told, what is refused, and what it changes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/cli/program.hpp"

namespace {

using namespace cli_test;

Json estimated(const std::string& path, const std::string& method, const Arguments& more = {}) {
  return json_of(with({"estimate", path, "--method", method, "--sweeps", "6000"}, more));
}

}  // namespace

TEST_CASE("an estimate both ways tells what each found, of all its sweeps together") {
  const io_test::Folder folder;
  const auto model = random_rbm(10, 6, 1, 3);
  const std::string path = saved(model, folder / "m.npz");
  const double truth = brute_log_z(model);
  for (const std::string method : {"ais", "raise", "smc", "rts", "ti", "ss"}) {
    const Json plain = estimated(path, method), both = estimated(path, method, {"--both-ways"});
    INFO(method << both.dump());
    CHECK_FALSE(plain.contains("both_ways"));
    CHECK(both["sweeps"] == 6000);
    CHECK(plain["sweeps"] == 6000);
    const Json& ways = both["both_ways"];
    CHECK(keys(ways) == Keys{"forward", "reverse", "gap", "gap_error"});
    CHECK(keys(ways["forward"]) == Keys{"log_z", "std_error", "status"});
    const double forward = ways["forward"]["log_z"], reverse = ways["reverse"]["log_z"],
                 forward_error = ways["forward"]["std_error"],
                 reverse_error = ways["reverse"]["std_error"];
    CHECK(ways["gap"] == reverse - forward);
    CHECK(ways["gap_error"] == std::hypot(forward_error, reverse_error));
    CHECK(std::abs(forward - truth) < 5 * forward_error);  // as of every method, see estimate.cpp
    CHECK(std::abs(reverse - truth) < 5 * reverse_error);
    CHECK(both["log_z"] == (method == "raise" ? reverse : forward));
    CHECK(both["status"] == "ok");
    CHECK(estimated(path, method, {"--both-ways", "--threads", "1"})["both_ways"] == ways);
    CHECK(estimated(path, method, {"--both-ways", "--seed", "2"})["both_ways"] != ways);
    // The other way has draws of its own, or the gap would have another error.
    CHECK(forward != reverse);
    if (method == "raise")
      CHECK(forward != json_of({"estimate", path, "--method", "ais", "--sweeps", "3000"})["log_z"]);
    // Half of the sweeps are the method's own: as many are a run of their own.
    CHECK(both["log_z"] ==
          json_of({"estimate", path, "--method", method, "--sweeps", "3000"})["log_z"]);
  }
}

TEST_CASE("both ways are printed as the JSON has them, each under its own end") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(10, 6, 1, 3), folder / "m.npz");
  const Arguments command = {"estimate", path,   "--method",   "ais",
                             "--sweeps", "6000", "--both-ways"};
  const Json ways = json_of(command)["both_ways"];
  const auto told = [&](const char* way, const char* end) {
    return fmt::format("{:.4f} +- {:.3g} {} ({})", ways[way]["log_z"].get<double>(),
                       ways[way]["std_error"].get<double>(), end,
                       ways[way]["status"].get<std::string>());
  };
  CHECK_THAT(run(command).out, Catch::Contains(told("forward", "from the base")) &&
                                   Catch::Contains(told("reverse", "from b = 1")));
}

TEST_CASE("an estimate both ways is refused where chains from the base never met a mode") {
  const io_test::Folder folder;
  const std::string path = folder / "votes.npz";
  REQUIRE(run({"make", "votes:200:60:8:10:1", "--out", path}).code == 0);
  const Json json = estimated(path, "ais", {"--both-ways", "--base", "uniform"});
  INFO(json.dump());
  CHECK(json["status"] != "ok");
  CHECK(json["both_ways"]["gap"].get<double>() > 5);
  CHECK(json["warnings"].dump().find("these never met those") != std::string::npos);
  const Run told = run({"estimate", path, "--method", "ais", "--sweeps", "6000", "--both-ways",
                        "--base", "uniform", "--quiet"});
  CHECK(told.out.find("both ways") != std::string::npos);
  CHECK(told.out.find("from b = 1") != std::string::npos);
}

TEST_CASE("tempered chains both ways are refused where those from the base never met a mode") {
  const io_test::Folder folder;
  const std::string path = folder / "votes.npz";
  REQUIRE(run({"make", "votes:200:60:8:10:1", "--out", path}).code == 0);
  const auto both = [&](const Arguments& more) {
    return estimated(path, "ti", with({"--both-ways", "--base", "uniform"}, more));
  };
  const Json replicas = both({"--sampler", "parallel"});
  INFO(replicas.dump());
  CHECK(replicas["status"] != "ok");
  CHECK(replicas["both_ways"]["gap"].get<double>() > 3);
  CHECK(replicas["warnings"].dump().find("these never met those") != std::string::npos);
  // By the weights of the run from the base chains at b = 1 do not come down: a rung is left without any.
  const Json simulated = both({"--states", "joint"});
  INFO(simulated.dump());
  CHECK(simulated["status"] != "ok");
  CHECK(simulated["both_ways"]["reverse"]["status"] == "unvisited_rung");
  CHECK(simulated["both_ways"]["gap"].is_null());
  CHECK(simulated["warnings"].dump().find(
            "chains from b = 1 find no number to hold the estimate to") != std::string::npos);
}

TEST_CASE("a model that no precision resolves is refused both ways as it is without") {
  const io_test::Folder folder;
  const auto shape = random_rbm(8, 5, 0.3, 4);
  std::vector<boltzmark::Layer> layers = {shape.layer(0), shape.layer(1)};
  layers[1].bias[2] = 8e14;
  const std::string path = saved(boltzmark::Layered(layers, shape.weights()), folder / "m.npz");
  const auto refused = [&](const Arguments& more) {
    return json_of(
        with({"estimate", path, "--method", "ais", "--sweeps", "400", "--base", "uniform"}, more));
  };
  const Json both = refused({"--both-ways"});
  CHECK(both["status"] == refused({})["status"]);
  CHECK(both["status"] != "ok");
}

TEST_CASE(
    "both ways are refused of methods that begin at no one end, of samples, and of nine sweeps") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 4, 1, 3), folder / "m.npz");
  const auto refused = [&](const Arguments& words, const char* why) {
    check_refused(run(words), {why});
  };
  for (const char* method : {"wang-landau", "sams", "ti-continuous", "exact"})
    refused({"estimate", path, "--method", method, "--both-ways"},
            "ais, raise, smc, ss for --both-ways)");
  refused({"estimate", path, "--method", "ss", "--sampler", "tempering", "--both-ways"},
          "--sampler = tempering (must be parallel for --both-ways of ss)");
  refused({"estimate", path, "--method", "ais", "--sweeps", "9", "--both-ways"},
          "--sweeps = 9 (must be at least 10 for --both-ways)");
  CHECK(run({"estimate", path, "--method", "raise", "--sweeps", "10", "--both-ways"}).code == 0);
  refused({"compare", path, "--methods", "ais", "--both-ways"}, "--both-ways");
}

TEST_CASE(
    "replicas both ways make do with ten sweeps, and what is too little is refused as given") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 4, 1, 3), folder / "m.npz");
  for (const char* sweeps : {"10", "15", "19"}) {
    const Json both = json_of({"estimate", path, "--method", "bar", "--sampler", "parallel",
                               "--sweeps", sweeps, "--both-ways"});
    CHECK(both["both_ways"]["reverse"]["log_z"].is_number());
    CHECK(json_of({"estimate", path, "--method", "ss", "--sweeps", sweeps,
                   "--both-ways"})["sweeps"] == std::stoi(sweeps));
  }
  // Of 60 chains 10 sweeps are 6 of each of 100, and 3 each way: 2 to come down in and 2 to keep.
  check_refused(
      run({"estimate", path, "--method", "ss", "--chains", "60", "--sweeps", "10", "--both-ways"}),
      {"--sweeps = 10 with --both-ways, half of them each way",
       "must be worth 4 sweeps of a chain on each of 100 rungs"});
  check_refused(run({"estimate", path, "--method", "bar", "--sampler", "parallel", "--sweeps", "20",
                     "--burn-in", "19"}),
                {"burn-in = 19 (must leave 2 of the 20 sweeps that each chain of 100 makes)"});
}

TEST_CASE(
    "sweeps of replicas both ways are those that each chain makes, however many chains there are") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(8, 5, 0.5, 3), folder / "m.npz");
  const auto sweeps = [&](const Arguments& more) {
    return json_of(with({"estimate", path, "--method", "ss", "--chains", "20", "--sweeps", "2000"},
                        more))["sweeps"];
  };
  CHECK(sweeps({}) == 400);  // 20 x 2,000 are 100 x 400
  CHECK(sweeps({"--both-ways"}) == 400);
  for (const std::string burn_in : {"0", "1"})  // before anything is run
    check_refused(run({"estimate", path, "--method", "ss", "--burn-in", burn_in, "--both-ways"}),
                  {"with --both-ways", "burn-in = " + burn_in + " (must be at least 2"});
}

TEST_CASE("an ok says that a mode may be missed, but where all states are summed") {
  const io_test::Folder folder;
  const std::string small = saved(random_rbm(8, 5, 0.5, 3), folder / "s.npz"),
                    large = folder / "l.npz";
  REQUIRE(run({"make", "product:5:10:5:1:1", "--out", large}).code == 0);
  const auto says = [&](const Arguments& words) {
    const Run told = run(words);
    CHECK(told.out.find("status             ok") != std::string::npos);
    return told.out.find("no sampler can exclude a mode") != std::string::npos;
  };
  CHECK(says({"estimate", large, "--sweeps", "2000"}));
  CHECK_FALSE(says({"estimate", small, "--sweeps", "2000"}));
  CHECK_FALSE(says({"estimate", small, "--method", "exact"}));
}
