#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "boltzmark/core/quantiles.hpp"
#include "experiments/calibration/support/costs.hpp"
#include "experiments/calibration/support/held_runs.hpp"
#include "experiments/calibration/support/outcomes.hpp"
#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments::calibration_estimators {
namespace {

/// What one profile runs on every model of the zoo.
struct RunSize {
  int models;  ///< every so many of those it may run
  int sweeps;  ///< of the first attempt
  int seeds;
  int attempts;
  bool training;  ///< those too that statuses may be tuned on, which no claim is about
};
constexpr PerProfile<RunSize> kRun{.smoke = {17, 100, 1, 2, true},
                                   .quick = {3, 500, 1, 4, false},
                                   .paper = {1, 10000, 18, 4, true}};
constexpr int kChains = 100;

std::vector<Json> trials(Profile profile) {
  const RunSize& size = kRun.at(profile);
  std::vector<std::string> models;
  for (const ZooModel& model : zoo())
    if (size.training || !model.training) models.push_back(model.name);
  std::vector<Json> all;
  for (int seed = 1; seed <= size.seeds; ++seed)
    for (std::size_t i = 0; i < models.size(); i += static_cast<std::size_t>(size.models))
      all.push_back({{"model", models[i]},
                     {"seed", seed},
                     {"sweeps", size.sweeps},
                     {"attempts", size.attempts}});
  return all;
}

Json run(const Json& inputs, const TrialContext& context) {
  const KnownModel made = make_zoo_model(inputs.at("model"));
  const std::uint64_t seed = (std::uint64_t{context.key.high} << 32) + context.key.low;
  HeldRuns runs(made.model, kChains, inputs.at("sweeps"), seed);
  Json methods = Json::object();
  double done = 0;
  for (const Method& method : registered_methods()) {
    methods[method.name] = outcome_json(runs.estimate(method.name, inputs.at("attempts")));
    context.progress(++done / static_cast<double>(registered_methods().size()));
  }
  return {{"log_z", made.known.log_z}, {"methods", methods}};
}

using Outcomes = std::vector<ZooOutcome>;

bool is_ok(const ZooOutcome& outcome) { return outcome.ok; }
bool is_wrong(const ZooOutcome& outcome) { return outcome.wrong(); }
bool may_be_wrong(const ZooOutcome& outcome) { return outcome.ok && !outcome.known; }
bool is_covered(const ZooOutcome& outcome) { return outcome.covered; }
bool is_right_but_refused(const ZooOutcome& outcome) { return !outcome.ok && outcome.right(); }
/// Thermodynamic integration, whose error has a part that is no noise, the sum over rungs for an
/// integral; ti-continuous, which has none, goes with it as in the aim.
bool by_integration(const ZooOutcome& outcome) { return outcome.method.starts_with("ti"); }

Cell share_cell(const Outcomes& outcomes, bool (*holds)(const ZooOutcome&)) {
  if (outcomes.empty()) return NotRun{};
  const Interval share = share_of(outcomes, holds);
  return WithInterval{100 * share.estimate, 100 * share.lower, 100 * share.upper};
}

std::vector<Column> columns_after(const char* name, const char* key) {
  return {{name, key},
          {"runs", "runs"},
          {"ok", "ok"},
          {"of these open", "open"},
          {"of open ones false / %", "false_percent", 2},
          {"of open ones covered / %", "covered_percent", 1},
          {"refused though right, of all / %", "refused_percent", 1}};
}

std::vector<Cell> row_of(const std::string& name, const Outcomes& outcomes) {
  const Outcomes open = keep(outcomes, may_be_wrong);
  return {name,
          static_cast<std::int64_t>(outcomes.size()),
          static_cast<std::int64_t>(keep(outcomes, is_ok).size()),
          static_cast<std::int64_t>(open.size()),
          share_cell(independent_runs(open, is_wrong), is_wrong),
          share_cell(open, is_covered),
          share_cell(outcomes, is_right_but_refused)};
}

constexpr const char* kWords =
    "Open: not held to log Z itself, as where a model's states are all listed. False: more than 5 standard errors "
    "and 0.5 nats from log Z; covered: by the stated 95 % "
    "interval; right: within 2 standard errors and 0.5 nats. Intervals: 95 %, each limit the "
    "outer of the exact one of a proportion and the bootstrap's over models; of false ones by runs, methods that "
    "read the same chains, or move theirs by the same draws, being one.";

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const ZooModel& model : zoo())
    if (std::find(names.begin(), names.end(), model.family()) == names.end())
      names.push_back(model.family());
  return names;
}

void add_tables(const Outcomes& held_out, const Outcomes& training, const Outcomes& unfindable,
                Summary& summary) {
  Table methods{.name = "methods",
                .caption = std::string("Estimates of the models held out, by method. ") + kWords,
                .columns = columns_after("method", "method")};
  for (const Method& method : registered_methods())
    methods.rows.push_back(row_of(method.name, keep(held_out, [&](const ZooOutcome& outcome) {
                                    return outcome.method == method.name;
                                  })));
  summary.add(std::move(methods));
  Table table{.name = "families",
              .caption =
                  "The same by family of models, all methods; the half that statuses may be "
                  "tuned on and the wells that were declared unfindable apart.",
              .columns = columns_after("models", "models")};
  for (const std::string& family : families())
    table.rows.push_back(row_of(family, keep(held_out, [&](const ZooOutcome& outcome) {
                                  return outcome.model->family() == family;
                                })));
  table.rows.push_back(row_of("all held out", held_out));
  table.rows.push_back(row_of("training half", training));
  table.rows.push_back(row_of("unfindable wells", unfindable));
  summary.add(std::move(table));
}

constexpr const char* kDefault = "rts";  // of the command line

Cell median_cell(const std::vector<double>& values) {
  if (values.empty()) return NotRun{};
  return median(values);
}

/// A method's costs of models: medians of its sweeps and of by how much it is dearer than the cheapest, and of
/// how many models that is at most twice.
std::vector<Cell> cost_cells(const std::vector<ModelCosts>& models, const std::string& method) {
  std::vector<double> sweeps, excess;
  for (const ModelCosts& costs : models)
    if (!costs.best().empty()) {
      sweeps.push_back(costs.of(method));
      excess.push_back(costs.excess(method));
    }
  const auto near = std::count_if(excess.begin(), excess.end(), [](double x) { return x <= 2; });
  return {median_cell(sweeps), median_cell(excess), static_cast<std::int64_t>(near)};
}

/// A table of costs whose rows begin with these columns.
Table cost_table(const char* name, const char* of_what, std::vector<Column> columns) {
  columns.push_back({"sweeps to 0.1 nats", "sweeps", 0});
  columns.push_back({"times the cheapest", "excess", 2});
  columns.push_back({"models where at most twice", "within_twice"});
  return {
      .name = name,
      .caption = fmt::format(
          "{} Sweeps of 100 chains, of all attempts together and at least 100, to a standard error of "
          "0.1 nats: medians over models, a refused method counting as infinite, those left out of which none "
          "was ok. Which method is the cheapest of a model is known in hindsight alone, by the errors that "
          "methods state.",
          of_what),
      .columns = std::move(columns)};
}

void add_costs(const std::vector<ModelCosts>& models, Summary& summary) {
  const auto add_row = [](Table& table, const std::string& name, std::int64_t count,
                          std::vector<Cell> costs) {
    std::vector<Cell> row = {name, count};
    std::move(costs.begin(), costs.end(), std::back_inserter(row));
    table.rows.push_back(std::move(row));
  };
  Table methods = cost_table("costs", "Work of each method, models held out.",
                             {{"method", "method"}, {"models that it is ok of", "ok_models"}});
  for (const Method& method : registered_methods()) {
    const auto ok = std::count_if(models.begin(), models.end(), [&](const ModelCosts& costs) {
      return costs.sweeps.contains(method.name);
    });
    add_row(methods, method.name, ok, cost_cells(models, method.name));
  }
  summary.add(std::move(methods));
  Table table = cost_table("family-costs", "Work of rts, the default, by family of models.",
                           {{"models", "models"}, {"how many", "count"}});
  for (const std::string& family : families()) {
    std::vector<ModelCosts> of_family;
    std::copy_if(models.begin(), models.end(), std::back_inserter(of_family),
                 [&](const ModelCosts& costs) { return costs.model->family() == family; });
    if (!of_family.empty())
      add_row(table, family, static_cast<std::int64_t>(of_family.size()),
              cost_cells(of_family, kDefault));
  }
  summary.add(std::move(table));
}

/// How often intervals of any level cover log Z: the share of ok estimates whose error is within the
/// normal quantile times the standard error.
Series coverage(const char* label, const Outcomes& ok, int colour) {
  Series series{.label = fmt::format("{} ({})", label, ok.size()), .colour = colour};
  for (const double level : {.05, .1, .2, .3, .4, .5, .6, .7, .8, .9, .95, .98, .99}) {
    const double errors = normal_quantile(0.5 + level / 2);
    const auto within = std::count_if(ok.begin(), ok.end(), [&](const ZooOutcome& outcome) {
      return std::abs(outcome.error) <= errors * outcome.std_error;
    });
    series.x.push_back(level);
    series.y.push_back(static_cast<double>(within) / static_cast<double>(ok.size()));
  }
  return series;
}

void add_figure(const Outcomes& held_out, Summary& summary) {
  Panel cover{.title = "estimates that are ok",
              .x = {.label = "level of the interval", .low = 0, .high = 1},
              .y = {.label = "share that covers log Z", .low = 0, .high = 1},
              .legend = "bottom right"};
  cover.series.push_back(
      {.label = "as stated", .x = {0, 1}, .y = {0, 1}, .mark = Mark::dashed, .colour = 0});
  int colour = 0;
  for (const Source source : {Source::tempered, Source::annealed, Source::adaptive,
                              Source::continuous, Source::parallel}) {
    ++colour;
    const Outcomes ok = keep(held_out, [&](const ZooOutcome& outcome) {
      return may_be_wrong(outcome) && find_method(outcome.method).source == source;
    });
    if (!ok.empty())
      cover.series.push_back(coverage(std::string(name(source)).c_str(), ok, colour));
  }
  Panel scatter{.title = "all estimates",
                .x = {.label = "stated standard error / nats", .log = true},
                .y = {.label = "|error of log Z| / nats", .log = true},
                .legend = "top left"};
  for (const bool ok : {true, false}) {
    Series points{.label = ok ? "ok" : "refused", .mark = Mark::points, .colour = ok ? 2 : 1};
    for (const ZooOutcome& outcome : held_out)
      if (outcome.ok == ok && outcome.std_error > 0 && std::isfinite(outcome.error) &&
          outcome.error != 0) {
        points.x.push_back(outcome.std_error);
        points.y.push_back(std::abs(outcome.error));
      }
    if (!points.x.empty()) scatter.series.push_back(std::move(points));
  }
  summary.add(Figure{
      .name = "calibration",
      .caption = "Models held out. Left: how often intervals log Z ± z standard "
                 "errors of estimates that are ok, and were not held to log Z itself, cover it, by "
                 "what moves the chains, against their level. Right: errors against what was "
                 "stated; above five times the standard error and 0.5 nats an ok "
                 "would be false.",
      .panels = {std::move(cover), std::move(scatter)},
      .columns = 2,
      .height = 420});
}

Measure share_measure(const About& about, const Outcomes& outcomes,
                      bool (*holds)(const ZooOutcome&), double distance, const char* against) {
  const Interval share = share_of(outcomes, holds);
  Measure measure = interval_measure(about, share, outcomes.size());
  measure.power = interval_power(share, distance);
  measure.power_against = against;
  measure.post_hoc = true;
  return measure;
}

/// The family with the largest share of runs with a false estimate, by its upper limit.
void add_worst_family(const Outcomes& runs_held_out, Summary& summary) {
  Interval worst{0, 0, -1};
  std::string name;
  std::size_t runs = 0;
  for (const std::string& family : families()) {
    const Outcomes of_family = keep(runs_held_out, [&](const ZooOutcome& outcome) {
      return outcome.model->family() == family;
    });
    const Interval share = share_of(of_family, is_wrong);
    if (of_family.empty() || share.upper <= worst.upper) continue;
    worst = share;
    name = family;
    runs = of_family.size();
  }
  Measure measure = interval_measure(
      {.claim = "K02", .note = fmt::format("the family is {}, of {} runs", name, runs)}, worst,
      runs);
  measure.power = interval_power(worst, 0.01);
  measure.power_against = "a share that is 1 % less";
  measure.post_hoc = true;
  summary.add(std::move(measure));
}

void add_cost_claim(const std::vector<ModelCosts>& models, Summary& summary) {
  std::vector<double> excess;
  int least = 0;
  for (const ModelCosts& costs : models)
    if (!costs.best().empty()) {
      excess.push_back(costs.excess(kDefault));
      least += costs.of(kDefault) <= kLeastSweeps ? 1 : 0;
    }
  if (excess.empty()) return;
  const Interval interval = median_interval(excess);
  Measure measure = interval_measure(
      {.claim = "K07",
       .note =
           fmt::format("on {} of the {} models rts takes no more than the {} sweeps that are "
                       "counted at least, so that the ratio is 1 there whatever the cheapest takes",
                       least, excess.size(), kLeastSweeps)},
      interval, excess.size());
  measure.power = interval_power(interval, 1);
  measure.power_against = "a median that is 1 less";
  measure.post_hoc = true;
  summary.add(std::move(measure));
}

void add_claims(const Outcomes& held_out, Summary& summary) {
  const Outcomes ok = keep(held_out, is_ok);
  if (ok.empty()) return;
  const Outcomes tested =
      keep(ok, may_be_wrong);  // not held to log Z itself, which an ok covers then
  const Outcomes open = independent_runs(tested, is_wrong);
  if (!open.empty()) {
    summary.add(share_measure({.claim = "K01",
                               .note = fmt::format("{} estimates are ok, {} of them of models "
                                                   "whose log Z is known by all states",
                                                   ok.size(), ok.size() - tested.size())},
                              open, is_wrong, 0.003, "a share that is 0.3 % less"));
    add_worst_family(open, summary);
  }
  const auto add_coverage = [&](const char* part, const Outcomes& outcomes) {
    if (outcomes.empty()) return;
    summary.add(share_measure({.claim = "K03", .part = part}, outcomes, is_covered, 0.01,
                              "a share that is 1 % off"));
  };
  add_coverage("statistical limits",
               keep(tested, [](const ZooOutcome& outcome) { return !by_integration(outcome); }));
  add_coverage("thermodynamic integration", keep(tested, by_integration));
  summary.add(share_measure({.claim = "K04"}, held_out, is_right_but_refused, 0.1, "a share of 0"));
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const Outcomes all = read_outcomes(results);
  const auto part = [&](bool training, bool unfindable) {
    return keep(all, [&](const ZooOutcome& outcome) {
      return outcome.model->training == training && outcome.model->unfindable == unfindable;
    });
  };
  Outcomes unfindable = part(true, true);
  for (const ZooOutcome& outcome : part(false, true)) unfindable.push_back(outcome);
  const Outcomes held_out = part(false, false);
  add_tables(held_out, part(true, false), unfindable, summary);
  if (held_out.empty()) return;
  add_figure(held_out, summary);
  const std::vector<ModelCosts> costs = costs_of(held_out);
  add_costs(costs, summary);
  if (results.profile() == Profile::smoke) return;
  add_claims(held_out, summary);
  add_cost_claim(costs, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "calibration/estimators",
      .item = "Calibration",
      .title = "May an estimate that says ok be believed, and is a refused one wrong?",
      .paper_did =
          "No paper asks. The command estimate is run by every method on models whose log Z is "
          "known by enumeration, by parts, by quadrature or by Kaufman's formula; half of them are held out: no "
          "status was tuned on them, and the claims are about those.",
      .settings =
          {.smoke = "Every 17th model, 100 sweeps, two attempts.",
           .quick =
               "Every third model held out, one seed; the first attempt has 500 sweeps of 100 chains, and a "
               "refused estimate is tried again with 1,000, 2,000 and 4,000.",
           .paper = "The same from the command line's 10,000 sweeps on, 18 seeds: 44,000 runs."},
      .seconds = {.smoke = 2, .quick = 60, .paper = 40000},
      .claims = {"K01", "K02", "K03", "K04", "K07"},
      .deviations =
          {"The methods that read samples share each attempt's run, so that their outcomes on a "
           "model are alike: false ones are counted by runs, and intervals are over models where "
           "these are wider.",
           "Of models whose states are all listed an estimate is held to log Z itself, as the command "
           "holds it: whose interval misses it is refused. K01, K02 and K03 leave these out, and so does the figure.",
           "--max-seconds, which the command line foretells, ends no attempt here.",
           "The aims stood before these models were run; the defaults had been tried by hand on "
           "others of the same families, with other seeds."},
      .data = zoo_data(),
      .trials = trials,
      .cost = [](const Json&) { return 1.0; },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::calibration_estimators
