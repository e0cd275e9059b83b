// What the calibration experiment counts, and that it runs what the command line runs.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "experiments/calibration/support/costs.hpp"
#include "experiments/calibration/support/held_runs.hpp"
#include "experiments/calibration/support/outcomes.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/report/plot.hpp"
#include "experiments/kit/summary.hpp"
#include "verification/interface/cli/json.hpp"
#include "verification/interface/cli/models.hpp"
#include "verification/interface/experiments/made_trials.hpp"
#include "verification/interface/io/files.hpp"

namespace boltzmark::experiments {
namespace {

/// The first models of the zoo of a kind.
std::vector<const ZooModel*> zoo_models(bool training, std::size_t count) {
  std::vector<const ZooModel*> found;
  for (const ZooModel& model : zoo())
    if (model.training == training && !model.unfindable && found.size() < count)
      found.push_back(&model);
  return found;
}

std::vector<ZooOutcome> outcomes_of(const ZooModel* model, int runs, double error) {
  return std::vector<ZooOutcome>(static_cast<std::size_t>(runs),
                                 {.model = model,
                                  .method = "rts",
                                  .error = error,
                                  .std_error = 0.1,
                                  .ok = true,
                                  .covered = std::abs(error) < 0.2});
}

/// A trial of one method whose estimate is off by some nats.
Trial trial_of(const ZooModel& model, double error, const char* status) {
  const Json said = {{"log_z", 10 + error},       {"std_error", 0.1}, {"lower", 10 + error - 0.2},
                     {"upper", 10 + error + 0.2}, {"status", status}, {"sweeps", 100}};
  return {.inputs = {{"model", model.name}, {"seed", 1}},
          .outputs = {{"log_z", 10.0}, {"methods", {{"rts", said}}}}};
}

std::map<std::string, Measure> claims_of(const std::vector<Trial>& trials,
                                         const std::string& id = "calibration/estimators") {
  return made::claims_of(made::sum_up(id, trials));
}

/// Checks a power against a value that is so far from the estimate, by the interval that was found.
void check_power(const Measure& measure, double distance) {
  INFO(measure.claim << measure.part);
  REQUIRE(measure.upper > measure.lower);
  CHECK(measure.power ==
        Approx(interval_power({measure.estimate, measure.lower, measure.upper}, distance)));
  CHECK(measure.post_hoc);
}

}  // namespace

TEST_CASE(
    "a false estimate is 5 errors and half a nat off, a right one 2 errors and half a nat at most") {
  ZooOutcome outcome{.error = -0.51, .std_error = 0.1};
  CHECK(outcome.wrong());
  outcome.error = -0.49;  // within half a nat
  CHECK_FALSE(outcome.wrong());
  CHECK_FALSE(outcome.right());
  outcome.std_error = 0.25;
  CHECK(outcome.right());
  outcome = {.error = 0.9, .std_error = 0.5};
  CHECK_FALSE(outcome.right());
  CHECK_FALSE(outcome.wrong());
  outcome = {.error = std::nan(""), .std_error = 0.5};
  CHECK_FALSE(outcome.right());
}

TEST_CASE("a share's interval is that of a proportion, wider where models differ") {
  const auto models = zoo_models(false, 2);
  std::vector<ZooOutcome> all = outcomes_of(models[0], 10, 0);
  for (const ZooOutcome& outcome : outcomes_of(models[1], 10, 0)) all.push_back(outcome);
  const auto wrong = [](const ZooOutcome& outcome) { return outcome.wrong(); };
  // Clopper and Pearson: 1 - 0.025^(1/20).
  CHECK(share_of(all, wrong).estimate == 0);
  CHECK(share_of(all, wrong).lower == 0);
  CHECK(share_of(all, wrong).upper == Approx(1 - std::pow(0.025, 1.0 / 20)).epsilon(1e-9));
  // All of one model: of two models drawn, none may be that one, or both.
  for (std::size_t i = 10; i < 20; ++i) all[i].error = 4;
  CHECK(share_of(all, wrong).estimate == 0.5);
  CHECK(share_of(all, wrong).lower == 0);
  CHECK(share_of(all, wrong).upper == 1);
  CHECK(std::isnan(share_of({}, wrong).estimate));
}

TEST_CASE("the zoo holds out half of every family, each model once, and can be made") {
  std::map<std::string, int> balance;
  std::set<std::string> names;
  int mended = 0;
  for (const ZooModel& model : zoo()) {
    CHECK(names.insert(model.name).second);
    mended += model.mended ? 1 : 0;
    if (model.mended) CHECK(model.training);
    if (!model.unfindable) balance[model.family()] += model.training && !model.mended ? 1 : -1;
  }
  CHECK(names.size() >= 60);
  CHECK(mended == 3);
  for (const auto& [family, difference] : balance) {
    INFO(family);
    CHECK(std::abs(difference) <= 1);
  }
  CHECK(make_zoo_model("trained:mnist-10").model.size(1) == 10);
  CHECK_THROWS_AS(find_zoo_model("ising:8:0.30"), InvalidArgument);
}

TEST_CASE("claims of calibration are about the models held out, and no unfindable well") {
  std::vector<Trial> trials;
  for (const ZooModel& model : zoo())
    trials.push_back(trial_of(model, model.training || model.unfindable ? 7 : 0.1, "ok"));
  auto found = claims_of(trials);
  CHECK(found.at("K01").estimate == 0);
  CHECK(found.at("K02").estimate == 0);
  CHECK(found.at("K03 statistical limits").estimate == 1);
  CHECK(found.count("K03 thermodynamic integration") == 0);
  CHECK(found.at("K04").estimate == 0);
  // A family of false estimates, and as many right ones refused.
  int others = 0, glass = 0;
  for (Trial& trial : trials) {
    const ZooModel& model = find_zoo_model(trial.inputs.at("model"));
    if (model.training || model.unfindable) continue;
    if (model.family() == "glass")
      trial = trial_of(model, 7, "ok"), ++glass;
    else
      trial = trial_of(model, 0.1, "not_converged"), ++others;
  }
  found = claims_of(trials);
  CHECK(found.at("K01").estimate == 1);
  CHECK(found.at("K02").estimate == 1);
  CHECK_THAT(found.at("K02").note, Catch::Contains("glass"));
  CHECK(found.at("K04").estimate == Approx(static_cast<double>(others) / (others + glass)));
}

TEST_CASE("powers of calibration are against shares that are off by as much as each claim says") {
  std::vector<Trial> trials;
  for (const ZooModel* model : zoo_models(false, 100)) {
    const std::size_t place = trials.size();
    trials.push_back(
        trial_of(*model, place % 3 == 0 ? 7 : 0.1, place % 4 == 1 ? "below_bound" : "ok"));
    Json& methods = trials.back().outputs["methods"];
    methods["ti"] = methods["rts"];
  }
  const auto found = claims_of(trials);
  check_power(found.at("K01"), 0.003);
  check_power(found.at("K02"), 0.01);
  check_power(found.at("K03 statistical limits"), 0.01);
  check_power(found.at("K03 thermodynamic integration"), 0.01);
  check_power(found.at("K04"), 0.1);
}

TEST_CASE("unfindable wells have a row of their own, those of either half each once") {
  std::vector<Trial> trials;
  for (const ZooModel& model : zoo())
    trials.push_back(trial_of(model, model.unfindable && !model.training ? 7 : 0.1, "ok"));
  const Summary summary = made::sum_up("calibration/estimators", trials);
  const Table& families = std::get<Table>(summary.items().at(1));
  REQUIRE(families.name == "families");
  const std::vector<Cell>& wells = families.rows.back();
  CHECK(std::get<std::string>(wells.at(0)) == "unfindable wells");
  CHECK(std::get<std::int64_t>(wells.at(1)) == 4);
  CHECK(std::get<WithInterval>(wells.at(4)).value == 50);  // per cent
}

TEST_CASE("the median cost of the default is told with how many models count as the least") {
  // Of 0.1, 0.2 and 0.3 nats at 100 sweeps, which are 100, 400 and 900 to 0.1, and of AIS 100 each.
  std::vector<Trial> trials;
  for (const ZooModel* model : zoo_models(false, 9)) {
    const double std_error = 0.1 * static_cast<double>(1 + trials.size() / 3);
    trials.push_back(trial_of(*model, 0.01, "ok"));
    Json& methods = trials.back().outputs["methods"];
    methods["ais"] = methods["rts"];
    methods["rts"]["std_error"] = std_error;
  }
  const Measure cost = claims_of(trials).at("K07");
  CHECK(cost.estimate == Approx(4));
  CHECK(cost.lower == Approx(1));  // the second of nine and the last but one
  CHECK(cost.upper == Approx(9));
  check_power(cost, 1);
  CHECK_THAT(cost.note, Catch::StartsWith("on 3 of the 9 models"));
}

TEST_CASE("false estimates are counted by runs, of models whose log Z no bound is") {
  const auto held_out = zoo_models(false, 3);
  // Some read one tempered run; AIS and SMC make the same draws, and so do both adaptive ones; RAISE has its own.
  const auto of_model = [](const ZooModel& model, double error) {
    Trial trial = trial_of(model, error, "ok");
    Json& methods = trial.outputs["methods"];
    for (const char* method : {"bar", "ti", "ais", "smc", "raise", "sams", "wang-landau"})
      methods[method] = methods["rts"];
    return trial;
  };
  std::vector<Trial> trials = {of_model(*held_out[0], 0), of_model(*held_out[1], 0),
                               of_model(*held_out[2], 0)};
  trials[2].outputs["methods"]["ti"] = trial_of(*held_out[2], 7, "ok").outputs["methods"]["rts"];
  auto found = claims_of(trials);
  CHECK(found.at("K01").n == 12);
  CHECK(found.at("K01").estimate == Approx(1.0 / 12));  // the error of ti is its run's
  CHECK(found.at("K03 statistical limits").n == 21);
  CHECK(found.at("K03 thermodynamic integration").estimate == Approx(2.0 / 3));
  // Held to log Z itself, an estimate that is ok cannot be false, nor its interval miss log Z: it says nothing.
  for (Json& said : trials[0].outputs["methods"]) said["lower_bound"] = 10.0;
  for (Json& said : trials[1].outputs["methods"]) said["lower_bound"] = 9.999;
  found = claims_of(trials);
  CHECK(found.at("K01").n == 8);
  CHECK_THAT(found.at("K01").note, Catch::StartsWith("24 estimates are ok, 8 of them"));
  CHECK(found.at("K03 statistical limits").n == 14);
  CHECK(found.at("K03 thermodynamic integration").estimate == Approx(1.0 / 2));
  const Summary summary = made::sum_up("calibration/estimators", trials);
  const Table& families = std::get<Table>(summary.items().at(1));
  const auto all = std::find_if(
      families.rows.begin(), families.rows.end(),
      [](const std::vector<Cell>& row) { return std::get<std::string>(row[0]) == "all held out"; });
  REQUIRE(all != families.rows.end());
  CHECK(std::get<std::int64_t>(all->at(2)) == 24);
  CHECK(std::get<std::int64_t>(all->at(3)) == 16);
  CHECK(std::get<WithInterval>(all->at(4)).value == Approx(100.0 / 8));
  CHECK(std::get<WithInterval>(all->at(5)).value == Approx(100 * 15.0 / 16));
}

TEST_CASE("where no model lacks anything the limit is that of so many models") {
  std::vector<Trial> trials;
  for (const ZooModel* model : zoo_models(false, 10))
    for (const char* base : {"auto", "uniform"}) {
      trials.push_back(trial_of(*model, 0.1, "ok"));
      trials.back().inputs["base"] = base;
    }
  const auto found = claims_of(trials, "calibration/bases");
  CHECK(found.at("K05 others").estimate == 0);
  CHECK(found.at("K05 others").upper == Approx(1 - std::pow(0.025, 0.1)));
  CHECK(found.at("K05 others").power == 0);
}

TEST_CASE("the chosen base is held against the better of the others, model by model") {
  const ZooModel &first = find_zoo_model("trained:mnist-10"),
                 &second = find_zoo_model("trained:mnist-20");
  const auto held_out = zoo_models(false, 2);
  const auto from = [](const ZooModel& model, const char* base, double error, const char* status,
                       int seed = 1) {
    Trial trial = trial_of(model, error, status);
    trial.inputs["base"] = base;
    trial.inputs["seed"] = seed;
    return trial;
  };
  std::vector<Trial> trials = {
      // RMSE of 0.3 and 0.5, 0.4123, against 0.2 by data rates; half served against all. An ok that is
      // 9 off serves nobody.
      from(first, "auto", 0.3, "ok"), from(first, "auto", -0.5, "not_converged", 2),
      from(first, "mnist", 0.2, "ok"), from(first, "mnist", -0.2, "ok", 2),
      from(first, "uniform", -9, "ok"), from(first, "uniform", 9, "ok", 2),
      // The chosen one is better than the uniform one, the better of the others.
      from(second, "auto", 0.1, "ok"), from(second, "uniform", 0.2, "not_converged"),
      from(second, "mnist", 9, "ok"),
      // 0.8 against 0.1; and one that is better, and seeds that were not run from both.
      from(*held_out[0], "auto", 0.8, "not_converged"), from(*held_out[0], "uniform", 0.1, "ok"),
      from(*held_out[1], "auto", 0.01, "not_converged"), from(*held_out[1], "uniform", 8, "ok"),
      from(*held_out[1], "auto", 99, "ok", 2), from(*zoo_models(false, 3)[2], "auto", 99, "ok")};
  const double root = std::sqrt((0.09 + 0.25) / 2);
  auto found = claims_of(trials, "calibration/bases");
  CHECK(found.at("K05 trained models").estimate == Approx(0.5 / 2).epsilon(1e-12));
  CHECK_THAT(found.at("K05 trained models").note, Catch::Contains("trained:mnist-10: 0.50"));
  CHECK(found.at("K05 others").estimate == Approx(1.0 / 2).epsilon(1e-12));
  CHECK(found.at("K05 others").n == 2);
  CHECK(found.at("K06 trained models").estimate ==
        Approx(std::log2(root / 0.2) / 2).epsilon(1e-12));
  CHECK(found.at("K06 others").estimate == Approx(3.0 / 2).epsilon(1e-12));
  const Summary summary = made::sum_up("calibration/bases", trials);
  const Table& totals = std::get<Table>(summary.items().at(0));
  REQUIRE(totals.rows.size() == 2 + 3);
  // Of both trained models: auto 2 and 1 runs, of which 1 and 1 are ok.
  const std::vector<Cell>& chosen_of_trained = totals.rows[2];
  CHECK(std::get<std::string>(chosen_of_trained[0]) == "trained models");
  CHECK(std::get<std::string>(chosen_of_trained[1]) == "auto");
  CHECK(std::get<std::int64_t>(chosen_of_trained[2]) == 3);
  CHECK(std::get<std::int64_t>(chosen_of_trained[3]) == 2);
  CHECK(std::get<std::int64_t>(totals.rows[3][4]) == 1);  // mnist's 9 off
  CHECK(std::get<std::int64_t>(totals.rows[4][4]) == 2);  // the uniform one's
  const Table& table = std::get<Table>(summary.items().at(1));
  REQUIRE(table.rows.size() == 3 + 3 + 2 + 2);
  for (const std::vector<Cell>& row : table.rows) {
    if (std::get<std::string>(row[0]) != first.name) continue;
    const bool chosen = std::get<std::string>(row[1]) == "auto";
    if (!chosen && std::get<std::string>(row[1]) != "uniform") continue;
    CHECK(std::get<std::int64_t>(row[2]) == 2);
    CHECK(std::get<std::int64_t>(row[3]) == (chosen ? 1 : 2));
    CHECK(std::get<std::int64_t>(row[4]) == (chosen ? 0 : 2));  // false though ok
    CHECK(std::get<double>(row[6]) == Approx(chosen ? 0.1 : 0).epsilon(1e-12).margin(1e-12));
    CHECK(std::get<double>(row[7]) == Approx(chosen ? root : 9).epsilon(1e-12));
  }
  const Figure& figure = std::get<Figure>(summary.items().at(2));
  REQUIRE(figure.panels.size() == 2);
  CHECK(figure.panels[1].series.at(0).x.at(0) == Approx(0.2).epsilon(1e-12));
  CHECK(figure.panels[1].series.at(0).y.at(0) == Approx(root).epsilon(1e-12));
  // No number is no small error, nor is one of the edge.
  trials[11].outputs["methods"]["rts"]["log_z"] = nullptr;
  trials[12].outputs["methods"]["rts"]["log_z"] = 10 + 0.001;
  CHECK(claims_of(trials, "calibration/bases").at("K06 others").estimate ==
        Approx((3 + std::log2(50 / 0.05)) / 2).epsilon(1e-12));
  const Summary off = made::sum_up("calibration/bases", trials);
  const Figure& edge = made::figure_of(off, "bases");
  CHECK(std::isinf(edge.panels[0].series.at(1).y.at(1)));
  CHECK(edge.panels[0].series.at(1).x.at(1) == Approx(0.001).epsilon(1e-9));
  CHECK(beyond_text(edge) == " 1 point lies beyond the axes: marked at the edge.");
}

TEST_CASE("runs from a base that is given are from that, those from none as the command line's") {
  const Layered model = make_zoo_model("trained:mnist-10").model;
  const auto log_z = [&](std::optional<Base> base) {
    return HeldRuns(model, 20, 100, 7, std::move(base)).estimate("ais", 1).estimate.log_z;
  };
  const ChosenBase chosen = choose_auto_base(model, mode_search(model, 7), 7);
  REQUIRE(chosen.of_modes);
  CHECK(log_z(std::nullopt) == log_z(chosen.base));
  CHECK(log_z(Base::uniform(model)) < log_z(std::nullopt) - 5);
}

TEST_CASE("data rates are of the training cases, with five added for every hundred begun") {
  const Json inputs = {
      {"model", "trained:mnist-10"}, {"base", "mnist"}, {"seed", 1}, {"sweeps", 10}};
  TrialContext context;
  context.experiment = "calibration/bases";
  Json methods;
  for (const Experiment& experiment : experiments())
    if (experiment.id == context.experiment)
      methods = experiment.run(inputs, context).at("methods");
  const Layered model = make_zoo_model("trained:mnist-10").model;
  const StreamKey key = context.shared_key("trained:mnist-10 1");
  const CaseValues cases = load_dataset("mnist:train").values;
  REQUIRE(cases.cols() == 60000);
  HeldRuns runs(model, 100, 10, (std::uint64_t{key.high} << 32) + key.low,
                Base::from_data(model, cases, 3000));
  CHECK(methods.at("ais").at("log_z") == runs.estimate("ais", 1).estimate.log_z);
}

TEST_CASE("runs are held to a tempered search's states, but those that are as thorough") {
  const Layered model = make_zoo_model("trained:mnist-10").model;
  const MethodSettings settings;
  const Ground from_modes(model, 20, 100, 7), from_uniform(model, 20, 100, 7, Base::uniform(model));
  REQUIRE(from_modes.base.of_modes);
  const auto searched = [&](const Ground& ground, const char* method) {
    return !ground.found_for(find_method(method), settings).states.empty();
  };
  CHECK(searched(from_modes, "rts"));
  CHECK(searched(from_modes, "ais"));
  CHECK_FALSE(searched(from_uniform, "rts"));
  CHECK(searched(from_uniform, "ais"));
  MethodSettings parallel;
  parallel.tempering = Tempering::parallel;
  CHECK_FALSE(from_uniform.found_for(find_method("bar"), parallel).states.empty());
  CHECK(from_uniform.found_for(find_method("rts"), settings).modes.has_value());
}

TEST_CASE("the calibration runs what the command line does, attempts and bound included") {
  const io_test::Folder folder;
  bool refuted = false;
  for (const char* text : {"random:30:6:0.1:1", "well:60:10:4:3"}) {
    const KnownModel made = make_known_model(text);
    const std::string path = cli_test::saved(made.model, folder / "m.npz");
    HeldRuns runs(made.model, 20, 60, 7);
    for (const char* method : {"rts", "ti", "wang-landau", "ais", "raise", "smc"}) {
      INFO(text << " " << method);
      const cli_test::Json told =
          cli_test::json_of({"estimate", path, "--method", method, "--chains", "20", "--sweeps",
                             "60", "--seed", "7", "--auto", "--max-seconds", "100000"});
      const HeldOutcome held = runs.estimate(method, 4);
      CHECK(told["log_z"].get<double>() == held.estimate.log_z);
      CHECK(told["status"] == std::string(name(held.estimate.status)));
      CHECK(told["attempts"].size() == held.statuses.size());
      CHECK(told["lower_bound"].get<double>() - told["lower_bound_error"].get<double>() ==
            held.lowest);
      for (const std::string& status : held.statuses) refuted = refuted || status == "below_bound";
    }
  }
  CHECK(refuted);
}

TEST_CASE("work to 0.1 nats by hand: all seeds must be ok, and hindsight chooses the cheapest") {
  const ZooModel *one = &zoo()[3], *other = &zoo()[1];
  const auto outcome = [](const ZooModel* model, int seed, const char* method, double sweeps,
                          double std_error, bool ok) {
    return ZooOutcome{.model = model,
                      .seed = seed,
                      .method = method,
                      .std_error = std_error,
                      .sweeps = sweeps,
                      .ok = ok};
  };
  const std::vector<ModelCosts> all = costs_of(
      {outcome(one, 1, "rts", 10000, 0.1, true), outcome(one, 2, "rts", 10000, 0.2, true),
       outcome(one, 1, "ais", 10000, 0.05, true), outcome(one, 2, "ais", 10000, 0.05, true),
       outcome(one, 1, "smc", 10000, 0.01, true), outcome(one, 2, "smc", 70000, 0.01, false),
       outcome(other, 1, "rts", 30000, 0.001, true),
       outcome(other, 1, "ais", 30000, 0.001, false)});
  REQUIRE(all.size() == 2);
  CHECK(all[0].model == other);            // in the zoo's order
  CHECK(all[0].of("rts") == Approx(100));  // no fewer
  CHECK(all[0].excess("ais") == HUGE_VAL);
  CHECK(all[1].of("rts") == Approx(20000));  // between 10,000 and 40,000
  CHECK(all[1].of("smc") == HUGE_VAL);
  CHECK(all[1].best() == "ais");
  CHECK(all[1].excess("rts") == Approx(8));
  CHECK(all[1].excess("ais") == 1);
  CHECK(costs_of({outcome(one, 1, "rts", 10, 1, false)})[0].best().empty());
}

}  // namespace boltzmark::experiments
