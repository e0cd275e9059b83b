// `estimate --both-ways`: what is told, what is refused, and what it changes.
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
  for (const char* method : {"ais", "raise"}) {
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
    CHECK(both["log_z"] == (method == std::string("ais") ? forward : reverse));
    CHECK(both["status"] == "ok");
    CHECK(estimated(path, method, {"--both-ways", "--threads", "1"})["both_ways"] == ways);
    CHECK(estimated(path, method, {"--both-ways", "--seed", "2"})["both_ways"] != ways);
    // The other way has draws of its own, or the gap would have another error.
    CHECK(both["both_ways"]["forward"]["log_z"] !=
          (method == std::string("ais")
               ? reverse
               : json_of({"estimate", path, "--method", "ais", "--sweeps", "3000"})["log_z"]
                     .get<double>()));
    // Half of the sweeps are the method's own: as many are a run of their own.
    CHECK(both["log_z"] ==
          json_of({"estimate", path, "--method", method, "--sweeps", "3000"})["log_z"]);
  }
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
  CHECK(told.out.find("from modes") != std::string::npos);
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

TEST_CASE("both ways are refused of methods that go no one way, of samples, and of nine sweeps") {
  const io_test::Folder folder;
  const std::string path = saved(random_rbm(6, 4, 1, 3), folder / "m.npz");
  const auto refused = [&](const Arguments& words, const char* why) {
    check_refused(run(words), {why});
  };
  for (const char* method : {"rts", "smc", "ss", "exact"})
    refused({"estimate", path, "--method", method, "--both-ways"},
            "must be ais or raise for --both-ways");
  refused({"estimate", path, "--both-ways"}, "--method = rts (must be ais or raise");
  refused({"estimate", path, "--method", "ais", "--sweeps", "9", "--both-ways"},
          "--sweeps = 9 (must be at least 10 for --both-ways)");
  CHECK(run({"estimate", path, "--method", "raise", "--sweeps", "10", "--both-ways"}).code == 0);
  refused({"compare", path, "--methods", "ais", "--both-ways"}, "--both-ways");
}
