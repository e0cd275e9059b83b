// The RBMs that Table 2 and Fig. 4 of bruegge2013 sample: committed, or trained inside a trial.
#include <catch2/catch.hpp>
#include <string>

#include "experiments/bruegge2013/support/sampling.hpp"
#include "verification/interface/experiments/made_trials.hpp"

namespace boltzmark::experiments {
namespace {

Json short_trial(int model, int lags = 4) {
  return autocorrelation_trial(
      TrainedRbm{.data = "bas", .hidden = 3, .negative = "pt:3:2", .rate = 0.5, .updates = 40},
      model, {.chains = 2, .steps = 40, .burn_in = 5}, lags);
}

/// A trial of two autocorrelation times, and of functions that are 1, r, 0, ...
Trial sampled(Json inputs, int model, double gibbs, double flip) {
  const auto series = [](double tau) {
    std::vector<double> acf(101, 0);
    acf[0] = 1;
    acf[1] = (tau - 1) / 2;
    return Json{{"acf", acf},      {"tau", tau},    {"tau_ar", tau}, {"order_at_maximum", false},
                {"decided", true}, {"status", "ok"}};
  };
  inputs["model"] = model;
  return {.inputs = std::move(inputs),
          .outputs = {{"gibbs", series(gibbs)}, {"flip", series(flip)}, {"rms_weight", 1}}};
}

}  // namespace

TEST_CASE("a trial that trains its RBM goes on from where it was stopped") {
  int looks = 0;
  const Json whole = made::run_stopped("bruegge2013/table2", short_trial(0), {}, looks);
  REQUIRE(looks > 40);  // before the first update and after each
  const int all = looks;
  CHECK(made::run_stopped("bruegge2013/table2", short_trial(0), {5, 25}, looks) == whole);
  CHECK(looks <= all + 4);  // no update is made twice
}

TEST_CASE("an RBM of a recipe is the same whatever is done with it, and each is another") {
  const auto weight = [](const Json& inputs) {
    return number(made::run_trial("bruegge2013/table2", inputs).outputs.at("rms_weight"));
  };
  CHECK(weight(short_trial(0, 4)) == weight(short_trial(0, 9)));
  CHECK(weight(short_trial(0)) != weight(short_trial(1)));
  Json slow = short_trial(0);
  slow["rate"] = 0.01;
  CHECK(weight(slow) < 0.5 * weight(short_trial(0)));  // it starts at 0.01, and hardly moves
}

TEST_CASE("the weights of an RBM that is not trained are those it starts from") {
  Json none = short_trial(0);
  none["hidden"] = 400;
  none["updates"] = 0;
  // 6,400 draws of N(0, 0.01^2): within five errors of 0.01 / sqrt(12,800).
  CHECK(number(made::run_trial("bruegge2013/table2", none).outputs.at("rms_weight")) ==
        Approx(0.01).margin(4.5e-4));
}

TEST_CASE("Table 2 and Fig. 4 judge RBMs of the paper's recipe, the committed ones where none is") {
  const SampledProblem& large = sampled_problems().back();
  const Json committed = {{"set", "mnist-500-pt"}}, recipe = recipe_inputs(large.recipe);
  Json fast = recipe;
  fast["rate"] = 0.1;
  std::vector<Trial> trials;
  for (int model = 0; model < 3; ++model)
    trials.push_back(sampled(committed, model, 2, 1.5 + 0.001 * model));
  const auto gain = [&]() -> Measure {
    const Summary summary = made::sum_up("bruegge2013/table2", trials);
    return made::measure_of(summary, "B29", "value");
  };
  const auto area = [&] {
    const Summary summary = made::sum_up("bruegge2013/fig4", trials);
    return made::measure_of(summary, "B30").estimate;
  };
  CHECK(gain().estimate == Approx(0.2495));
  CHECK(area() == Approx(0.2495));
  for (int model = 0; model < 2; ++model) {
    trials.push_back(sampled(fast, model, 2, 0.2));
    trials.push_back(sampled(recipe, model, 2, 1 + 0.002 * model));
  }
  CHECK(gain().estimate == Approx(0.4995));
  CHECK(gain().n == 2);
  CHECK(area() == Approx(0.4995));
  // Each of its own row, the recipe's first, with what was not run in between.
  const Summary summary = made::sum_up("bruegge2013/table2", trials);
  const Table& table = made::table_of(summary, "autocorrelation-times");
  std::vector<std::string> rows;
  for (const auto& row : table.rows)
    if (std::get<std::string>(row[0]) == "MNIST 500")
      rows.push_back(std::get<std::string>(row[1]) + ": " +
                     std::to_string(std::get<std::int64_t>(row[2])));
  CHECK(rows == std::vector<std::string>{
                    "20-PT10, 2000 updates, η 0.05: 2", "20-PT10, 2000 updates, η 0.01: 0",
                    "20-PT10, 2000 updates, η 0.1: 2", "20-PT1, 2000 updates: 3"});
}

TEST_CASE(
    "RBMs that are refused are left out of Table 2's gain, and more than a tenth decide none") {
  const auto judged = [](int refused) {
    const Json committed = {{"set", "mnist-500-pt"}};
    std::vector<Trial> trials;
    for (int model = 1; model <= 11; ++model) {
      const bool sound = model <= 11 - refused;
      trials.push_back(sampled(committed, model, 2, sound ? 1.5 + 0.001 * model : 0.2));
      if (!sound) trials.back().outputs["flip"]["decided"] = false;
    }
    return made::sum_up("bruegge2013/table2", trials);
  };
  const Summary one = judged(1), two = judged(2);
  CHECK(made::measure_of(one, "B28", "MNIST 500").decidable);
  CHECK_FALSE(made::measure_of(two, "B28", "MNIST 500").decidable);
  for (const char* part : {"value", "direction"}) {
    const Measure& measure = made::measure_of(one, "B29", part);
    CHECK(measure.decidable);
    CHECK(measure.estimate == Approx(0.25 - 0.0005 * 5.5));  // of the first ten
    CHECK(measure.n == 10);
    CHECK_FALSE(made::measure_of(two, "B29", part).decidable);
    CHECK(made::measure_of(two, "B29", part).n == 11);  // shown, not judged
  }
}

TEST_CASE("Table 2 plans the paper's RBMs at the paper's lengths") {
  int large = 0, other_rates = 0, small = 0, steps = 0;
  for (const Json& trial : made::find_experiment("bruegge2013/table2").trials(Profile::paper)) {
    if (!trial.contains("updates")) continue;
    CHECK(trial.at("negative") == "pt:20:10");
    CHECK(trial.at("chains").get<int>() * trial.at("steps").get<int>() >= 1000000);
    const bool is_large = trial.at("hidden") == 500;
    CHECK(trial.at("updates") == (is_large ? 2000 : 20000));
    CHECK(trial.at("lags") == (is_large ? 500 : 100));
    (is_large ? trial.at("rate") == 0.05 ? large : other_rates : small) += 1;
    if (trial.at("hidden") == 10) steps = trial.at("steps");
  }
  CHECK(large == 24);
  CHECK(other_rates == 12);
  CHECK(small == 100);
  CHECK(steps == 625000);  // of chains whose times are in the thousands
}

}  // namespace boltzmark::experiments
