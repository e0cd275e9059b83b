// Studies of cost time what their rows are named after: told by bytes, and by times that are many times apart.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

TEST_CASE("each negative phase whose update is timed keeps what is its own") {
  const Json outputs =
      made::run_trial("salakhutdinov2010/update-cost", {{"layers", {64, 20, 30}}, {"rounds", 2}})
          .outputs;
  const std::vector<double> bytes = outputs.at("bytes");
  REQUIRE(bytes.size() == 6);
  const double sap = bytes[0], fast = bytes[1], transitions = bytes[2], tempered = bytes[3],
               coupled = bytes[4], coupled_twice = bytes[5];
  CHECK(fast - sap >= 4 * (64 * 20 + 20 * 30));  // a fast weight of each
  CHECK(transitions == Approx(sap).epsilon(0.01));
  CHECK(tempered > 2 * sap);   // the last states at b = 1 beside those now
  CHECK(coupled > 1.5 * sap);  // of half of the chains
  CHECK(coupled < tempered);
  CHECK(coupled_twice == Approx(2 * coupled).epsilon(0.01));
  const auto median_of = [&](std::size_t phase) {
    std::vector<double> seconds = outputs.at("sampling").at(phase);
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  };
  CHECK(median_of(2) > 2 * median_of(0));  // some forty sweeps for one
}

TEST_CASE(
    "whole updates by parallel tempering are timed, with a ladder's chains for SAP's or as many in all") {
  const Json outputs =
      made::run_trial("salakhutdinov2010/update-cost",
                      {{"layers", {64, 20, 30}}, {"rounds", 2}, {"phases", "other"}})
          .outputs;
  const std::vector<double> bytes = outputs.at("bytes");
  REQUIRE(bytes.size() == 4);
  CHECK(bytes[1] ==
        Approx(bytes[0]).epsilon(0.6));  // half of the chains, their last states, weights
  CHECK(bytes[2] == Approx(bytes[0]).epsilon(0.2));  // ten ladders of ten are a hundred chains
  CHECK(bytes[3] == Approx(50 * bytes[0]).epsilon(0.2));
  const auto fastest = [&](const char* what, std::size_t phase) {
    const std::vector<double> seconds = outputs.at(what).at(phase);
    return *std::min_element(seconds.begin(), seconds.end());
  };
  for (const char* what : {"sampling", "updates"}) CHECK(fastest(what, 3) > 3 * fastest(what, 2));
  CHECK(fastest("updates", 3) > fastest("sampling", 3));
}

TEST_CASE("parallel tempering of fifty temperatures keeps fifty times the states") {
  const Json outputs = made::run_trials("salakhutdinov2010/cost")[0].outputs;
  const double ratio =
      outputs.at("ladder_bytes").get<double>() / outputs.at("reference_bytes").get<double>();
  CHECK(ratio > 45);
  CHECK(ratio < 60);
}

TEST_CASE("RTS is timed apart from MBAR, which solves for all rungs at once") {
  const Json outputs =
      made::run_trial("carlson2016/cost", {{"rungs", 40}, {"samples", 4000}, {"repeats", 5}})
          .outputs;
  const double rts = outputs.at("rts"), mbar = outputs.at("mbar");
  CHECK(outputs.at("iterations") > 1);
  CHECK(rts < mbar / 1.5);
  CHECK(outputs.at("mbar_iteration").get<double>() ==
        Approx(mbar / outputs.at("iterations").get<double>()));
}

}  // namespace
}  // namespace boltzmark::experiments
