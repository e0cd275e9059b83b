// What the experiment on predictors takes from runs, and how it ranks them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "experiments/calibration/support/run_evidence.hpp"
#include "experiments/calibration/support/shown_runs.hpp"
#include "experiments/calibration/support/zoo.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/experiments/made_trials.hpp"
#include "verification/interface/io/files.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kPredictors = "calibration/predictors";

/// What a trial says of one method's run: by how much it is off, what it shows, and what refuses it.
struct Said {
  double error = 0;
  double gap = 0, trips = 0, own_error = 0;
  std::vector<std::string> refused = {};
};

Trial trial_of(const std::string& model, int seed, const Said& said) {
  Json refused = Json::object();
  for (const StatusRule& rule : status_rules()) refused[rule.key] = false;
  for (const std::string& rule : said.refused) refused[rule] = true;
  const bool ok = std::none_of(said.refused.begin(), said.refused.end(),
                               [](const std::string& rule) { return rule != "gap"; });
  const Json rts = {
      {"log_z", 10 + said.error},
      {"std_error", 0.1},
      {"lower", 9.8 + said.error},
      {"upper", 10.2 + said.error},
      {"status", ok ? "ok" : "not_converged"},
      {"sweeps", 100},
      {"numbers", {{"gap", said.gap}, {"trips", said.trips}, {"std_error", said.own_error}}},
      {"refused", refused}};
  return {.inputs = {{"model", model}, {"base", "auto"}, {"seed", seed}},
          .outputs = {{"log_z", 10.0}, {"methods", {{"rts", rts}}}}};
}

std::string model_of(bool training, int number) {
  for (const ZooModel& model : zoo())
    if (model.training == training && !model.unfindable && number-- == 0) return model.name;
  throw InvalidArgument("no such model");
}

std::map<std::string, std::vector<std::int64_t>> counts_of(const Table& table) {
  std::map<std::string, std::vector<std::int64_t>> counts;
  for (const std::vector<Cell>& row : table.rows)
    for (std::size_t i = 1; i < row.size(); ++i)
      counts[std::get<std::string>(row[0])].push_back(
          std::holds_alternative<std::int64_t>(row[i]) ? std::get<std::int64_t>(row[i]) : -1);
  return counts;
}

}  // namespace

TEST_CASE("predictors are ranked on one half and judged on the other, by hand") {
  std::vector<Trial> trials;
  for (int i = 0; i < 5; ++i) {
    const double few = i < 2 ? 5 : 2;
    trials.push_back(
        trial_of(model_of(true, i), 1, {.error = 3, .gap = 1, .trips = 5.0 + i, .own_error = 1}));
    trials.push_back(
        trial_of(model_of(false, i), 1,
                 {.error = -3, .gap = 4, .trips = few, .own_error = 2, .refused = {"bound"}}));
  }
  trials.push_back(
      trial_of(model_of(true, 5), 1, {.error = 0.1, .gap = 1, .trips = 2, .own_error = 2}));
  for (const double trips : {5.0, 2.0})
    trials.push_back(trial_of(model_of(false, 5), trips > 2 ? 1 : 2,
                              {.error = 0.1, .gap = 0, .trips = trips, .own_error = 1}));
  // No run of an unfindable well counts, nor one without a number or an error.
  for (const ZooModel& model : zoo())
    if (model.unfindable) trials.push_back(trial_of(model.name, 1, {.error = 9, .gap = -9}));
  for (const char* lacks : {"log_z", "std_error"}) {
    trials.push_back(trial_of(model_of(false, 0), lacks[0], {.error = 3, .gap = -9}));
    trials.back().outputs["methods"]["rts"][lacks] = nullptr;
  }
  const Summary summary = made::sum_up(kPredictors, trials);
  const auto claims = made::claims_of(summary);
  CHECK(claims.count("K08 rts") == 0);
  // Of the training half trips are the best, of the models held out the method's own error is.
  REQUIRE(claims.count("K09 rts") == 1);
  CHECK(claims.at("K09 rts").estimate == Approx(1 - 0.45).epsilon(1e-12));
  CHECK(claims.at("K09 rts").n == 6);
  CHECK_THAT(claims.at("K09 rts").note, Catch::Contains("wrong estimates of 5 models"));
  const Table& table = made::table_of(summary, "predictors");
  REQUIRE(table.rows.size() == 3);
  CHECK(std::get<std::string>(table.rows[0][1]) == "round trips a chain, fewer");
  CHECK(std::get<double>(table.rows[0][2]) == 1);
  CHECK(std::get<WithInterval>(table.rows[0][3]).value == Approx(0.45).epsilon(1e-12));
  // From 5 on, that of all wrong ones of the training half.
  CHECK(std::get<double>(table.rows[0][4]) == Approx(40));
  CHECK(std::get<double>(table.rows[0][5]) == 50);
  CHECK(std::get<double>(table.rows[1][2]) == 0.5);
  CHECK(std::get<WithInterval>(table.rows[1][3]).value == 1);
  CHECK(std::get<double>(table.rows[1][4]) == 100);  // from 1 on
  CHECK(std::get<double>(table.rows[1][5]) == 0);
  CHECK(std::get<double>(table.rows[2][2]) == 0);
  const Figure& figure = std::get<Figure>(summary.items().back());
  REQUIRE(figure.panels.size() == 1);
  const std::vector<Series>& series = figure.panels[0].series;
  REQUIRE(series.size() == 4);
  CHECK(series[0].x.at(1) == 0.5);  // right ones
  CHECK(series[0].y.at(1) == 0.4);
  CHECK(series[3].label == "status");
  CHECK(series[3].x.at(0) == 0);
  CHECK(series[3].y.at(0) == 1);
  // With wrong estimates of four models of a half there is nothing to rank by.
  trials.erase(trials.begin());
  CHECK(made::claims_of(made::sum_up(kPredictors, trials)).empty());
}

TEST_CASE("a run that lacks a number that it needs is suspected most, another least") {
  const ShownRun bare{.numbers = {{"gap", std::nan("")}, {"tour_shape", std::nan("")}}};
  const auto score = [&](const char* key) {
    for (const Predictor& predictor : predictors())
      if (predictor.key == key) return bare.score(predictor);
    throw InvalidArgument(key);
  };
  CHECK(score("gap") == HUGE_VAL);
  CHECK(score("tour_shape") == -HUGE_VAL);
  CHECK(score("bound") == -HUGE_VAL);
  CHECK(score("std_error") == HUGE_VAL);
}

TEST_CASE("rules are told with what they alone refuse, and K08 is about the counts") {
  const std::string first = model_of(false, 0), second = model_of(false, 1);
  Trial as_default = trial_of(first, 9, {.error = 0.1, .refused = {"trips"}});
  as_default.outputs["methods"]["rts"]["sweeps"] = 10000;
  const std::vector<Trial> trials = {
      trial_of(first, 1, {.error = 3, .refused = {"trips"}}),
      trial_of(first, 2, {.error = 0.1, .refused = {"trips", "gap"}}),
      trial_of(first, 3, {.error = 0.1, .refused = {"trips", "effective_samples"}}),
      trial_of(second, 1, {.error = 3, .refused = {"effective_samples", "bound"}}),
      trial_of(second, 2, {.error = 0.1, .refused = {"gap"}}),
      trial_of(second, 3, {.error = 0.1}),
      trial_of(second, 4, {.error = 0.3, .refused = {"trips"}}),  // neither right nor wrong
      trial_of(model_of(true, 0), 1, {.error = 3, .refused = {"trips"}}),
      as_default};
  const Summary summary = made::sum_up(kPredictors, trials);
  const auto counts = counts_of(made::table_of(summary, "rules"));
  using Counts = std::vector<std::int64_t>;
  CHECK(counts.at("fewer than 20 round trips, or 2 a chain") == Counts{1, 1, 2, 1});
  CHECK(counts.at("fewer than 50 effective samples") == Counts{1, 0, 1, 0});
  CHECK(counts.at("certain bounds") == Counts{1, 0, 0, 0});
  CHECK(counts.at("chains from b = 1 differ (--both-ways)") == Counts{0, 0, 2, 1});
  CHECK(counts.at("the status, without --both-ways") == Counts{2, -1, 2, -1});
  CHECK(counts.at("the status, --both-ways in the place of both counts") == Counts{1, -1, 2, -1});
  CHECK(counts.at("all estimates") == Counts{2, -1, 4, -1});
  CHECK(counts_of(made::table_of(summary, "training-rules")).at("all estimates") ==
        Counts{1, -1, 0, -1});
  CHECK(counts_of(made::table_of(summary, "long-rules")).at("all estimates") ==
        Counts{0, -1, 1, -1});
  // Counts alone refuse four, of which two are right.
  const Measure measure = made::claims_of(summary).at("K08 rts");
  CHECK(measure.estimate == 0.5);
  CHECK(measure.n == 4);
  CHECK_THAT(measure.note, Catch::Contains("1 of 4 are wrong"));
}

TEST_CASE("evidence is of the run that the command line makes, and tells what its status is of") {
  const io_test::Folder folder;
  std::map<std::string, int> fired;
  for (const char* text :
       {"random:30:6:0.1:1", "well:60:10:4:3", "votes:60:20:8:4:1",
        "votes:80:24:5:-3:3"}) {  // whose phases widen an error that its bound refutes
    const KnownModel made = make_known_model(text);
    const std::string path = cli_test::saved(made.model, folder / "m.npz");
    for (const std::string base : {"auto", "uniform"}) {
      const auto given = base == "auto" ? std::nullopt : std::optional(Base::uniform(made.model));
      const Ground ground(made.model, 100, 200, 7, given);
      for (const std::string& method : evidence_methods()) {
        INFO(text << " " << method << " " << base);
        const auto [estimate, lowest, numbers, refused] =
            find_evidence(ground, method, 100, 200, 7);
        std::vector<std::string> command = {"estimate", path,       "--method", method,   "--base",
                                            base,       "--sweeps", "200",      "--seed", "7"};
        if (method == "bar") command.insert(command.end(), {"--sampler", "parallel"});
        const cli_test::Json told = cli_test::json_of(command);
        CHECK(told["log_z"].get<double>() == estimate.log_z);
        CHECK(told["std_error"].get<double>() == estimate.std_error);
        CHECK(told["status"] == std::string(name(estimate.status)));
        CHECK(told["lower_bound"].get<double>() - told["lower_bound_error"].get<double>() ==
              lowest);
        bool any = false;
        for (const StatusRule& rule : status_rules())
          any = any || (!rule.on_request && refused.count(rule.key) > 0 && refused.at(rule.key));
        CHECK(any == (estimate.status != Status::ok));
        for (const auto& [rule, is] : refused) fired[rule] += is ? 1 : 0;
        CHECK(refused.at("effective_samples") == (-numbers.at("effective_samples") < 50));
        CHECK(refused.at("gap") == (numbers.at("gap") > 3 && numbers.at("gap_nats") > 0.5));
        if (method == "ais") {
          CHECK(refused.at("pareto_k") == (numbers.at("pareto_k") > 0.5));
          CHECK(std::isfinite(numbers.at("upper_half")));
        } else {
          CHECK(refused.at("trips") == (-numbers.at("trips") < 2));
          CHECK(refused.at("visitors") == (-numbers.at("visitors") < 0.2));
          CHECK(refused.at("tour_shape") == (numbers.at("tour_shape") > 1));
        }
        for (const auto& number : numbers)
          CHECK(std::any_of(
              predictors().begin(), predictors().end(),
              [&](const Predictor& predictor) { return predictor.key == number.first; }));
        CHECK(numbers.count("trips") == (method == "ais" ? 0 : 1));
        CHECK(numbers.count("split_chains") == (method == "bar" ? 0 : 1));
      }
    }
  }
  for (const char* rule : {"trips", "gap", "bound", "phases"}) {
    INFO(rule << " " << fired[rule]);
    CHECK(fired[rule] > 0);
    CHECK(fired[rule] < 24);
  }
  const KnownModel made = make_known_model("random:30:6:0.1:1");
  CHECK_THROWS_AS(find_evidence(Ground(made.model, 20, 60, 7), "smc", 20, 60, 7), InvalidArgument);
}

}  // namespace boltzmark::experiments
