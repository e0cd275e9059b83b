// What part of the trials decides a claim of bruegge2013, and what the notes and tables then say.
#include <catch2/catch.hpp>

#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

/// Steps before the first class change, of RBMs of one set: quartiles alike.
void add_first_changes(const char* set, const std::vector<double>& gibbs,
                       const std::vector<double>& flip, std::vector<Trial>& trials) {
  for (std::size_t i = 0; i < gibbs.size(); ++i)
    trials.push_back({.inputs = {{"set", set}, {"model", i}, {"starts", 10}, {"most_steps", 200}},
                      .outputs = {{"gibbs", {gibbs[i], gibbs[i], gibbs[i]}},
                                  {"gibbs_censored", 0},
                                  {"flip", {flip[i], flip[i], flip[i]}},
                                  {"flip_censored", 0}}});
}

}  // namespace

// 4 of 10 + 30 chains of two RBMs by G, 1 by T: 10 % and 2.5 %, whatever the shares of each RBM are.
TEST_CASE("Table 4 tells how many of a hundred chains had no change, of all RBMs' chains") {
  std::vector<Trial> trials;
  add_first_changes("modes-0.1-cd", {10, 20}, {5, 6}, trials);
  trials[1].inputs["starts"] = 30;
  trials[0].outputs["gibbs_censored"] = 3;
  trials[1].outputs["gibbs_censored"] = 1;
  trials[1].outputs["flip_censored"] = 1;
  const Summary summary = made::sum_up("bruegge2013/table4", trials, Profile::smoke);
  const Table& table = made::table_of(summary, "first-change");
  REQUIRE(table.columns.back().key == "censored_percent");
  REQUIRE(table.rows.size() == 2);
  CHECK(made::text(table.rows[0][1]) == "G");
  CHECK(made::real(table.rows[0].back()) == Approx(10));
  CHECK(made::text(table.rows[1][1]) == "T");
  CHECK(made::real(table.rows[1].back()) == Approx(2.5));
}

TEST_CASE("B32 decides nothing where a median is no more than the most steps") {
  std::vector<Trial> trials;
  add_first_changes("modes-0.1-cd", {10, 20, 30}, {5, 6, 7}, trials);
  add_first_changes("modes-0.01-cd", {10, 200, 200}, {5, 100, 150}, trials);
  const Summary summary = made::sum_up("bruegge2013/table4", trials);
  CHECK(made::measure_of(summary, "B32", "p_mut 0.1").decidable);
  CHECK_FALSE(made::measure_of(summary, "B32", "p_mut 0.01").decidable);
}

TEST_CASE("B33 takes the most steps for a bound of the modes that are far apart alone") {
  const std::vector<double> few = {20, 21, 22}, most = {200, 200, 200};
  for (const bool far_is_bound : {true, false}) {
    std::vector<Trial> trials;
    add_first_changes("modes-0.1-cd", far_is_bound ? few : most, few, trials);
    add_first_changes("modes-0.01-cd", far_is_bound ? most : few, few, trials);
    const Summary summary = made::sum_up("bruegge2013/table4", trials);
    CHECK(made::measure_of(summary, "B33", "first change, G").decidable == far_is_bound);
    CHECK(made::measure_of(summary, "B33", "first change, T").decidable);
  }
}

TEST_CASE("one pair of operators decides B13 before all are run, none does not") {
  for (const double largest : {0.2, -0.3}) {
    const std::vector<Json> planned = {
        {{"case", "random"}, {"size", 2}, {"c", 1.0}, {"models", 1}},
        {{"case", "random"}, {"size", 3}, {"c", 1.0}, {"models", 1}}};
    const Trial trial{
        .inputs = planned[0],
        .outputs = {
            {"periodic", {-0.1, largest}}, {"random_scan", {-0.1, -0.1}}, {"more_zeros", {1}}}};
    Summary summary;
    made::find_experiment("bruegge2013/random-scan")
        .summarise(Results(Profile::paper, planned, {trial}), summary);
    const auto found = std::count_if(summary.measures().begin(), summary.measures().end(),
                                     [](const Measure& m) { return m.claim == "B13"; });
    CHECK(found == (largest > 0 ? 1 : 0));
    if (found > 0) CHECK(made::measure_of(summary, "B13").estimate == 0.5);
  }
}

TEST_CASE("the note of B35 has the mean norm at the least c and at the largest") {
  std::vector<Trial> trials;
  for (const double c : {1.0, 2.0}) {
    Json outputs = {{"gibbs-1", c == 1 ? std::vector<double>{1, 3} : std::vector<double>{4, 6}}};
    for (const char* other : {"gibbs-5", "flip-1", "flip-5"}) outputs[other] = {7, 9};
    trials.push_back({.inputs = {{"c", c}}, .outputs = outputs});
  }
  const Summary summary = made::sum_up("bruegge2013/cd-bias", trials);
  CHECK_THAT(made::measure_of(summary, "B35").note,
             Catch::EndsWith("mean norm 2 at c = 1, 5 at c = 2"));
}

TEST_CASE("the table of blends counts the runs that there are") {
  const Trial trial{.inputs = {{"part", "training"}, {"schedule", "blend:0.5"}, {"repeat", 1}},
                    .outputs = {{"log_likelihood", {-9.0, -4.0}}}};
  const Summary summary = made::sum_up("bruegge2013/blend", {trial});
  for (const auto& row : made::table_of(summary, "training").rows)
    CHECK(made::count(row[1]) == (made::text(row[0]) == "blend:0.5" ? 1 : 0));
}

}  // namespace boltzmark::experiments
