// How the experiments of salakhutdinov2010 train on MNIST and judge curves of training.
#include <catch2/catch.hpp>
#include <cmath>

#include "boltzmark/core/parallel.hpp"
#include "experiments/salakhutdinov2010/support/curves.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

Json short_run(const char* negative, int seed) {
  return {
      {"layers", "784-6-4"}, {"method", "any"},    {"negative", negative},
      {"seed", seed},        {"updates", 250},     {"record", 100},
      {"epochs", {1, 1}},    {"temperatures", 20}, {"last", {{"cases", 50}, {"temperatures", 20}}}};
}

Json trained(const Json& inputs, const std::vector<int>& stops, int& looks) {
  return made::run_stopped("salakhutdinov2010/mnist", inputs, stops, looks);
}

}  // namespace

TEST_CASE("the errors of records are taken from a curve's deviation and its falls") {
  const std::vector<double> zigzag = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
                                      7, 7, 7, 7, 7, 7, 7, 0, 1, 0, 1, 0};
  // 1.2 / 3 about the line, and a mean square of 0.1 from errors of the last five alone.
  std::vector<double> errors(25, 9);
  for (std::size_t i = 20; i < 25; ++i) errors[i] = std::sqrt(0.1);
  CHECK(late_deviation(zigzag) == Approx(std::sqrt(0.4)));
  CHECK(late_deviation(zigzag, errors) == Approx(std::sqrt(0.3)));
  errors[22] = 3;
  CHECK(late_deviation(zigzag, errors) == 0);
  const std::vector<double> rising = {0, 1, 0.9, 0.9, 0.5};
  CHECK(share_not_falling(rising) == 0.5);
  CHECK(share_not_falling(rising, std::vector<double>(5, 0.1)) == 0.75);  // 2 sqrt(.02) = .28
  CHECK(last_half_trend({9, 9, 0, 1, 2}) == Approx(2));
  CHECK(last_half_trend({9, 9, 2, 2}) == 0);
}

TEST_CASE(
    "differences and ratios are of paired seeds, and none is made of chains that never moved") {
  Summary summary;
  // Seed 2 of ours and 4 of theirs are missing.
  add_difference({.claim = "A"}, {{1, 3}, {3, 5}, {4, 9}}, {{1, 1}, {2, 7}, {3, 2}}, summary);
  add_ratio({.claim = "B"}, {{0, 2}, {1, 8}}, {{0, 1}, {1, 1}}, summary);
  add_ratio({.claim = "C"}, {{0, 2}, {1, HUGE_VAL}}, {{0, 1}, {1, 1}}, summary);
  add_difference({.claim = "D"}, {{0, 1}, {1, 5}}, {{0, 2}, {2, 5}}, summary);
  add_ratio({.claim = "E"}, {{0, 1}, {1, 2}}, {{0, 1}, {1, 2}}, summary, 3);
  REQUIRE(summary.measures().size() == 3);
  CHECK(summary.measures()[0].estimate == Approx(2.5));
  CHECK(summary.measures()[1].estimate == Approx(4));
  CHECK(summary.measures()[1].decidable);
  CHECK_FALSE(summary.measures()[2].decidable);
}

TEST_CASE("training by the bound that is stopped anywhere goes on to the same numbers") {
  const Json inputs = short_run("cast:3:0.9 --chains 100", 0);
  int looks = 0;
  const Json whole = trained(inputs, {}, looks);
  REQUIRE(looks > 1250);                 // 1,000 updates of pretraining, 250 of training, records
  CHECK(whole.at("train").size() == 4);  // at 0, 100, 200 and the end
  // In either RBM's pretraining, in training before and after a record, and in the last fifth.
  CHECK(trained(inputs, {100, 700, 1010, 1150, looks - 45, looks - 20}, looks) == whole);
  const ThreadLimit one(1);
  CHECK(trained(inputs, {}, looks) == whole);
}

TEST_CASE("a short run by the bound has four overlaps, the fewest that a time is made of") {
  Json inputs = short_run("pcd:1 --chains 100", 0);
  inputs.update({{"updates", 40}, {"record", 20}});
  int looks = 0;
  const Json outputs = trained(inputs, {}, looks);
  CHECK(outputs.at("train").size() == 3);
  CHECK(outputs.contains("overlap_time"));
  CHECK_FALSE(outputs.at("overlap_supported").get<bool>());
}

TEST_CASE("methods of a seed share start and images, seeds do not") {
  int looks = 0;
  const auto curve = [&](const char* negative, int seed) {
    return trained(short_run(negative, seed), {}, looks);
  };
  const Json sap = curve("pcd:1 --chains 100", 0), st = curve("st:3:0.9 --chains 50", 0),
             other = curve("pcd:1 --chains 100", 1);
  for (const char* what : {"train", "test", "log_z"}) {
    CHECK(sap.at(what)[0] == st.at(what)[0]);
    CHECK(sap.at(what)[0] != other.at(what)[0]);
    CHECK(sap.at(what)[1] != st.at(what)[1]);
  }
  CHECK(sap.at("train").back() > sap.at("train").front());
  CHECK(number(sap.at("last").at("bound")) < -50);
}

}  // namespace boltzmark::experiments
