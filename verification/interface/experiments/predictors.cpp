// What the experiment on predictors takes from runs, and how it ranks them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "experiments/calibration/support/evidence.hpp"
#include "experiments/calibration/support/shown_runs.hpp"
#include "experiments/calibration/support/zoo.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {
namespace {

constexpr const char* kPredictors = "calibration/predictors";

/// What a trial says of one method's run: by how much it is off, its gap, and what refuses it.
struct Said {
  double error = 0;
  double gap = 0;
  double trips = 0;
  std::vector<std::string> refused = {};
};

Trial trial_of(const std::string& model, int seed, const Said& said) {
  Json refused = Json::object();
  for (const StatusRule& rule : status_rules()) refused[rule.key] = false;
  for (const std::string& rule : said.refused) refused[rule] = true;
  const bool ok = std::none_of(said.refused.begin(), said.refused.end(),
                               [](const std::string& rule) { return rule != "gap"; });
  const Json rts = {{"log_z", 10 + said.error},
                    {"std_error", 0.1},
                    {"lower", 9.8 + said.error},
                    {"upper", 10.2 + said.error},
                    {"status", ok ? "ok" : "not_converged"},
                    {"sweeps", 100},
                    {"numbers", {{"gap", said.gap}, {"trips", said.trips}}},
                    {"refused", refused}};
  return {.inputs = {{"model", model}, {"base", "auto"}, {"seed", seed}},
          .outputs = {{"log_z", 10.0}, {"methods", {{"rts", rts}}}}};
}

Summary summary_of(const std::vector<Trial>& trials) {
  std::vector<Json> planned;
  for (const Trial& trial : trials) planned.push_back(trial.inputs);
  Summary summary;
  for (const Experiment& experiment : experiments())
    if (experiment.id == kPredictors)
      experiment.summarise(Results(Profile::quick, planned, trials), summary);
  return summary;
}

std::map<std::string, Measure> claims_of(const Summary& summary) {
  std::map<std::string, Measure> found;
  for (const Measure& measure : summary.measures()) found[measure.claim + measure.part] = measure;
  return found;
}

const Table& table_of(const Summary& summary, const std::string& name) {
  for (const auto& item : summary.items())
    if (const auto* table = std::get_if<Table>(&item); table != nullptr && table->name == name)
      return *table;
  throw InvalidArgument("no table " + name);
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
  for (int seed = 1; seed <= 5; ++seed) {
    // Training: trips tell all, the gap one half. Held out: the gap tells all, trips nothing.
    trials.push_back(trial_of(model_of(true, 0), seed, {.error = 3, .gap = 1, .trips = 5}));
    trials.push_back(trial_of(model_of(true, 1), seed, {.error = 0.1, .gap = 1, .trips = 2}));
    trials.push_back(trial_of(model_of(false, 0), seed, {.error = -3, .gap = 4, .trips = 5}));
    trials.push_back(trial_of(model_of(false, 0), seed + 5, {.error = 0.1, .gap = 0, .trips = 5}));
    trials.push_back(trial_of(model_of(false, 1), seed, {.error = 3, .gap = 4, .trips = 2}));
    trials.push_back(trial_of(model_of(false, 1), seed + 5, {.error = 0.1, .gap = 0, .trips = 2}));
  }
  // No run of an unfindable well counts, nor one without a number.
  for (const ZooModel& model : zoo())
    if (model.unfindable) trials.push_back(trial_of(model.name, 1, {.error = 9, .gap = -9}));
  trials.push_back(trial_of(model_of(false, 0), 99, {.error = 3, .gap = -9}));
  trials.back().outputs["methods"]["rts"]["log_z"] = nullptr;
  const Summary summary = summary_of(trials);
  const auto claims = claims_of(summary);
  CHECK(claims.count("K08") == 0);
  REQUIRE(claims.count("K09rts") == 1);
  CHECK(claims.at("K09rts").estimate == 0.5);
  CHECK(claims.at("K09rts").lower == 0.5);
  CHECK(claims.at("K09rts").n == 2);
  const Table& table = table_of(summary, "predictors");
  REQUIRE(table.rows.size() == 2);
  CHECK(std::get<std::string>(table.rows[0][1]) == "round trips a chain, fewer");
  CHECK(std::get<double>(table.rows[0][2]) == 1);
  CHECK(std::get<Estimate>(table.rows[0][3]).value == 0.5);
  // From 5 on, that of all wrong ones of the training half, half of the others are refused, of either kind.
  CHECK(std::get<double>(table.rows[0][4]) == 50);
  CHECK(std::get<double>(table.rows[0][5]) == 50);
  CHECK(std::get<double>(table.rows[1][2]) == 0.5);
  CHECK(std::get<Estimate>(table.rows[1][3]).value == 1);
  CHECK(std::get<double>(table.rows[1][4]) == 100);  // from 1 on
  CHECK(std::get<double>(table.rows[1][5]) == 0);
  // Chains from b = 1 without a number are suspected most; tours without a tail are not.
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
  const std::vector<Trial> trials = {
      trial_of(first, 1, {.error = 3, .refused = {"trips"}}),
      trial_of(first, 2, {.error = 0.1, .refused = {"trips", "gap"}}),
      trial_of(first, 3, {.error = 0.1, .refused = {"trips", "effective_samples"}}),
      trial_of(second, 1, {.error = 3, .refused = {"effective_samples", "bound"}}),
      trial_of(second, 2, {.error = 0.1, .refused = {"gap"}}),
      trial_of(second, 3, {.error = 0.1}),
      trial_of(second, 4, {.error = 0.3, .refused = {"trips"}}),  // neither right nor wrong
      trial_of(model_of(true, 0), 1, {.error = 3, .refused = {"trips"}})};
  const Summary summary = summary_of(trials);
  const auto counts = counts_of(table_of(summary, "rules"));
  using Counts = std::vector<std::int64_t>;
  CHECK(counts.at("fewer than 20 round trips, or 2 a chain") == Counts{1, 1, 2, 1});
  CHECK(counts.at("fewer than 50 effective samples") == Counts{1, 0, 1, 0});
  CHECK(counts.at("lower bound") == Counts{1, 0, 0, 0});
  CHECK(counts.at("chains from b = 1 differ (--both-ways)") == Counts{0, 0, 2, 1});
  CHECK(counts.at("the status, without --both-ways") == Counts{2, -1, 2, -1});
  CHECK(counts.at("all estimates") == Counts{2, -1, 4, -1});
  CHECK(counts_of(table_of(summary, "training-rules")).at("all estimates") == Counts{1, -1, 0, -1});
  // Counts alone refuse four, of which two are right.
  const Measure measure = claims_of(summary).at("K08");
  CHECK(measure.estimate == 0.5);
  CHECK(measure.n == 4);
  CHECK_THAT(measure.note, Catch::Contains("1 of 4 are wrong"));
}

TEST_CASE(
    "evidence is of the run that the command line makes, and some rule refuses what it refuses") {
  int refused = 0, gaps = 0;
  for (const char* text : {"random:30:6:0.1:1", "well:60:10:4:3", "votes:60:20:8:4:1"}) {
    const KnownModel made = make_known_model(text);
    for (const bool uniform : {false, true}) {
      const auto base = uniform ? std::optional<Base>(Base::uniform(made.model)) : std::nullopt;
      const Ground ground(made.model, 100, 200, 7, base);
      for (const std::string& method : evidence_methods()) {
        INFO(text << " " << method << " " << uniform);
        const RunEvidence evidence = find_evidence(ground, method, 100, 200, 7);
        if (method != "bar") {  // which the command line reads from simulated tempering by default
          const auto held = HeldRuns(made.model, 100, 200, 7, base).estimate(method, 1).estimate;
          CHECK(evidence.estimate.log_z == held.log_z);
          CHECK(evidence.estimate.std_error == held.std_error);
          CHECK(evidence.estimate.status == held.status);
        }
        const bool any =
            std::any_of(status_rules().begin(), status_rules().end(), [&](const StatusRule& rule) {
              const auto found = evidence.refused.find(rule.key);
              return !rule.on_request && found != evidence.refused.end() && found->second;
            });
        if (evidence.estimate.status != Status::ok) CHECK(any);
        refused += any ? 1 : 0;
        gaps += evidence.numbers.count("gap") > 0 && evidence.numbers.at("gap") > 0 ? 1 : 0;
        for (const auto& [key, number] : evidence.numbers)
          CHECK(std::any_of(predictors().begin(), predictors().end(),
                            [&](const Predictor& predictor) { return predictor.key == key; }));
        CHECK(evidence.numbers.count("pareto_k") == (method == "ais" ? 1 : 0));
        CHECK(evidence.numbers.count("trips") == (method == "ais" ? 0 : 1));
        CHECK(evidence.numbers.count("split_chains") == (method == "bar" ? 0 : 1));
      }
    }
  }
  CHECK(refused > 0);
  CHECK(refused < 18);
  CHECK(gaps > 9);
  const KnownModel made = make_known_model("random:30:6:0.1:1");
  CHECK_THROWS_AS(find_evidence(Ground(made.model, 20, 60, 7), "smc", 20, 60, 7), InvalidArgument);
}

}  // namespace boltzmark::experiments
