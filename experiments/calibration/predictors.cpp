#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "experiments/calibration/support/shown_runs.hpp"
#include "experiments/kit/measures.hpp"

namespace boltzmark::experiments::calibration_predictors {
namespace {

/// What one profile runs from each base.
struct RunSize {
  int models;  ///< every so many
  int sweeps;
  int seeds;
  int long_seeds;  ///< of runs of the command line's length, from the chosen base
};
constexpr PerProfile<RunSize> kRun{
    .smoke = {40, 50, 1, 0}, .quick = {7, 60, 1, 0}, .paper = {1, 1000, 3, 1}};
constexpr int kChains = 100, kLongSweeps = 10000;
constexpr const char *kAuto = "auto", *kUniform = "uniform";
constexpr const char* kKey = "predictors";  // of bootstraps

std::vector<Json> trials(Profile profile) {
  const RunSize& size = kRun.at(profile);
  std::vector<Json> all;
  for (int seed = 1; seed <= size.seeds; ++seed)
    for (std::size_t i = 0; i < zoo().size(); i += static_cast<std::size_t>(size.models))
      for (const char* base : {kAuto, kUniform})
        if (!zoo()[i].unfindable)
          all.push_back(
              {{"model", zoo()[i].name}, {"base", base}, {"seed", seed}, {"sweeps", size.sweeps}});
  for (int seed = 1; seed <= size.long_seeds; ++seed)
    for (std::size_t i = 0; i < zoo().size(); i += static_cast<std::size_t>(size.models))
      if (!zoo()[i].unfindable)
        all.push_back(
            {{"model", zoo()[i].name}, {"base", kAuto}, {"seed", seed}, {"sweeps", kLongSweeps}});
  return all;
}

Json run(const Json& inputs, const TrialContext& context) {
  const KnownModel made = make_zoo_model(inputs.at("model"));
  const std::uint64_t seed = (std::uint64_t{context.key.high} << 32) + context.key.low;
  const int sweeps = inputs.at("sweeps");
  const auto base =
      inputs.at("base") == kAuto ? std::nullopt : std::optional<Base>(Base::uniform(made.model));
  const Ground ground(made.model, kChains, sweeps, seed, base);
  Json methods = Json::object();
  for (const std::string& method : evidence_methods()) {
    const RunEvidence evidence = find_evidence(ground, method, kChains, sweeps, seed);
    Json said = outcome_json({.estimate = evidence.estimate,
                              .sweeps = sweeps,
                              .lowest = evidence.lowest,
                              .statuses = {std::string(name(evidence.estimate.status))}});
    said["numbers"] = evidence.numbers;
    said["refused"] = evidence.refused;
    methods[method] = std::move(said);
    context.progress(static_cast<double>(methods.size()) /
                     static_cast<double>(evidence_methods().size()));
  }
  return {{"log_z", made.known.log_z}, {"methods", methods}};
}

Cell percent_cell(const ShownRuns& of, const auto& holds) {
  if (of.empty()) return NotRun{};
  return 100.0 * static_cast<double>(std::count_if(of.begin(), of.end(), holds)) /
         static_cast<double>(of.size());
}

Interval area_over_models(const ShownRuns& runs, const Predictor& predictor) {
  const std::vector<ShownRuns> models = by_model(runs);
  return over_models(
      models.size(),
      [&](std::span<const std::size_t> rows) { return area_of(models, rows, predictor); }, kKey);
}

// Of how many models there are wrong estimates: those of one are alike.
std::size_t wrong_models(const ShownRuns& runs) { return by_model(pick(runs, is_wrong)).size(); }

// Whether there is something to rank predictors by, and to judge them on.
bool can_rank(const ShownRuns& training, const ShownRuns& held_out) {
  constexpr std::size_t kLeast = 5;
  return wrong_models(training) >= kLeast && wrong_models(held_out) >= kLeast;
}

void add_predictors(const ShownHalves& halves, Summary& summary) {
  Table table{
      .name = "predictors",
      .caption =
          "What tells a wrong estimate (5 of the standard errors told and 0.5 nats from log Z) from others, by method, in the "
          "order of the training half. Area: the chance that a wrong one shows more of it than one that is not, 1/2 "
          "for what tells nothing, with 95 % limits by the bootstrap over models. Then what a threshold would do, from "
          "which on 95 % of the wrong ones of the training half are refused: shares of the wrong ones and of the right "
          "ones (2 standard errors and 0.5 nats) of the models held out that it refuses.",
      .columns = {{"method", "method"},
                  {"what a run shows", "predictor"},
                  {"area, training half", "training_area", 3},
                  {"area, held out", "held_out_area", 3},
                  {"wrong ones refused / %", "wrong_percent", 1},
                  {"right ones refused / %", "right_percent", 1}}};
  for (const std::string& method : evidence_methods()) {
    const auto [training, held_out] = halves.of_method(method);
    if (!can_rank(training, held_out)) continue;
    for (const Predictor& predictor : ranked_predictors(training)) {
      const double threshold = threshold_of(training, predictor);
      const auto is_refused = [&](const ShownRun& shown) {
        return shown.score(predictor) >= threshold;
      };
      table.rows.push_back({method, predictor.title, area_of(training, predictor),
                            with_interval(area_over_models(held_out, predictor)),
                            percent_cell(pick(held_out, is_wrong), is_refused),
                            percent_cell(pick(held_out, is_right), is_refused)});
    }
  }
  summary.add(std::move(table));
}

/// Whether the status refuses it, --both-ways aside, by other rules than one.
bool is_refused_without(const ShownRun& run, const std::string& but) {
  return run.is_refused_by_any(
      [&](const StatusRule& rule) { return !rule.on_request && rule.key != but; });
}

void add_rules(const char* name, const char* models, const ShownRuns& all, Summary& summary) {
  Table table{
      .name = name,
      .caption = fmt::format(
          "What each rule of the status refuses, {}: all estimates of {}, and those that no other rule refuses "
          "but --both-ways. Wrong: 5 standard errors and 0.5 nats from log Z; right: within 2 and 0.5 nats.",
          models, fmt::join(evidence_methods(), ", ")),
      .columns = {{"rule", "rule"},
                  {"wrong, refused", "wrong"},
                  {"by it alone", "wrong_alone"},
                  {"right, refused", "right"},
                  {"by it alone", "right_alone"}}};
  const ShownRuns wrong = pick(all, is_wrong), right = pick(all, is_right);
  const auto count = [](const ShownRuns& of, const auto& holds) {
    return Cell(static_cast<std::int64_t>(std::count_if(of.begin(), of.end(), holds)));
  };
  for (const StatusRule& rule : status_rules()) {
    const auto by = [&](const ShownRun& shown) { return shown.is_refused_by(rule.key); };
    const auto alone = [&](const ShownRun& shown) {
      return by(shown) && !is_refused_without(shown, rule.key);
    };
    table.rows.push_back(
        {rule.title, count(wrong, by), count(wrong, alone), count(right, by), count(right, alone)});
  }
  const auto any = [](const ShownRun& shown) { return !shown.outcome.ok; };
  table.rows.push_back({std::string("the status, without --both-ways"), count(wrong, any), NotRun{},
                        count(right, any), NotRun{}});
  const auto without_counts = [](const ShownRun& shown) {
    return shown.is_refused_by_any([](const StatusRule& rule) { return !rule.count; });
  };
  table.rows.push_back({std::string("the status, --both-ways in the place of both counts"),
                        count(wrong, without_counts), NotRun{}, count(right, without_counts),
                        NotRun{}});
  const auto every = [](const ShownRun&) { return true; };
  table.rows.push_back(
      {std::string("all estimates"), count(wrong, every), NotRun{}, count(right, every), NotRun{}});
  summary.add(std::move(table));
}

constexpr std::size_t kCurves = 4;

/// Right ones refused against wrong ones refused as the threshold falls.
Series roc(const ShownRuns& all, const Predictor& predictor, int colour) {
  std::vector<double> wrong, right;
  for (const ShownRun& shown : all) {
    if (is_wrong(shown)) wrong.push_back(shown.score(predictor));
    if (is_right(shown)) right.push_back(shown.score(predictor));
  }
  std::vector<double> thresholds = wrong;
  std::sort(thresholds.begin(), thresholds.end(), std::greater<>());
  const auto share = [](const std::vector<double>& scores, double threshold) {
    return static_cast<double>(std::count_if(scores.begin(), scores.end(),
                                             [&](double score) { return score >= threshold; })) /
           static_cast<double>(scores.size());
  };
  Series series{
      .label = predictor.title, .x = {0}, .y = {0}, .mark = Mark::steps, .colour = colour};
  for (const double threshold : thresholds) {
    series.x.push_back(share(right, threshold));
    series.y.push_back(share(wrong, threshold));
  }
  series.x.push_back(1);
  series.y.push_back(1);
  return series;
}

void add_figure(const ShownHalves& halves, Summary& summary) {
  Figure figure{
      .name = "predictors",
      .caption =
          "Models held out: the share of wrong estimates that a threshold refuses against that of right ones (2 standard errors and 0.5 nats), "
          "as it falls, for the four predictors that rank first on the training half; the point is the status.",
      .columns = 1,
      .height = 420};
  for (const std::string& method : evidence_methods()) {
    const auto [training, held_out] = halves.of_method(method);
    const ShownRuns wrong = pick(held_out, is_wrong), right = pick(held_out, is_right);
    if (!can_rank(training, held_out) || right.empty()) continue;
    Panel panel{.title = method,
                .x = {.label = "right ones refused", .low = 0, .high = 1},
                .y = {.label = "wrong ones refused", .low = 0, .high = 1},
                .legend = "bottom right"};
    int colour = 1;
    std::vector<Predictor> best = ranked_predictors(training);
    best.resize(std::min(best.size(), kCurves));
    for (const Predictor& predictor : best)
      panel.series.push_back(roc(held_out, predictor, colour++));
    const auto refused = [](const ShownRuns& of) {
      return static_cast<double>(std::count_if(
                 of.begin(), of.end(), [](const ShownRun& shown) { return !shown.outcome.ok; })) /
             static_cast<double>(of.size());
    };
    panel.series.push_back({.label = "status",
                            .x = {refused(right)},
                            .y = {refused(wrong)},
                            .mark = Mark::points,
                            .colour = 0});
    figure.panels.push_back(std::move(panel));
  }
  if (!figure.panels.empty()) summary.add(std::move(figure));
}

// What the counts alone refuse is to be wrong more often than right.
void add_count_claim(const ShownHalves& halves, Summary& summary) {
  for (const std::string& method : evidence_methods()) {
    std::vector<ZooOutcome> by_counts;
    for (const ShownRun& shown : halves.of_method(method).held_out) {
      const bool counted =
          shown.is_refused_by_any([](const StatusRule& rule) { return rule.count; });
      const bool other = shown.is_refused_by_any(
          [](const StatusRule& rule) { return !rule.count && !rule.on_request; });
      if (counted && !other) by_counts.push_back(shown.outcome);
    }
    if (by_counts.empty()) continue;
    const Interval share =
        share_of(by_counts, [](const ZooOutcome& outcome) { return outcome.right(); });
    const auto wrong = std::count_if(by_counts.begin(), by_counts.end(),
                                     [](const ZooOutcome& outcome) { return outcome.wrong(); });
    Measure measure =
        interval_measure({.claim = "K08",
                          .part = method,
                          .note = fmt::format("{} of {} are wrong", wrong, by_counts.size())},
                         share, by_counts.size());
    measure.power = interval_power(share, 0.25);
    measure.power_against = "a share that is 25 % less";
    measure.post_hoc = true;
    summary.add(std::move(measure));
  }
}

bool is_gap(const Predictor& predictor) { return predictor.key.starts_with("gap"); }

// The gap, in errors or in nats, is to tell more than all that one run shows: of either what ranks first on the
// training half.
void add_gap_claim(const ShownHalves& halves, Summary& summary) {
  for (const std::string& method : evidence_methods()) {
    const auto [training, held_out] = halves.of_method(method);
    if (!can_rank(training, held_out)) continue;
    const std::vector<Predictor> order = ranked_predictors(training);
    const auto best = std::find_if_not(order.begin(), order.end(), is_gap);
    const auto gap = std::find_if(order.begin(), order.end(), is_gap);
    if (gap == order.end() || best == order.end()) continue;
    const std::vector<ShownRuns> models = by_model(held_out);
    const Interval more = over_models(
        models.size(),
        [&](std::span<const std::size_t> rows) {
          return area_of(models, rows, *gap) - area_of(models, rows, *best);
        },
        kKey);
    Measure measure =
        interval_measure({.claim = "K09",
                          .part = method,
                          .note = fmt::format("{} against: {}; wrong estimates of {} models",
                                              gap->title, best->title, wrong_models(held_out))},
                         more, models.size());
    measure.power = interval_power(more, 0.1);
    measure.power_against = "an area that is 0.1 larger";
    measure.post_hoc = true;
    summary.add(std::move(measure));
  }
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const ShownHalves all = read_shown(results);
  const auto is_long = [](const ShownRun& shown) { return shown.outcome.sweeps == kLongSweeps; };
  const auto is_short = [&](const ShownRun& shown) { return !is_long(shown); };
  const ShownHalves halves{pick(all.training, is_short), pick(all.held_out, is_short)};
  add_predictors(halves, summary);
  add_rules("rules", "models held out", halves.held_out, summary);
  add_rules("training-rules", "training half", halves.training, summary);
  if (const ShownRuns as_default = pick(all.held_out, is_long); !as_default.empty())
    add_rules("long-rules", "models held out, 10,000 sweeps from the chosen base", as_default,
              summary);
  add_figure(halves, summary);
  if (results.profile() == Profile::smoke) return;
  add_count_claim(halves, summary);
  add_gap_claim(halves, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "calibration/predictors",
      .item = "Predictors",
      .title =
          "What that a run shows tells a wrong estimate, and which rules of the status earn their place?",
      .paper_did =
          "No paper asks. Short runs of one method a sampler, that are often wrong, on models whose log Z is known: all "
          "that they show, and that searches find beside them, is ranked by how well it tells the wrong ones, on the half of the models that "
          "statuses may be tuned on and on the half that is held out.",
      .settings =
          {.smoke = "Every 40th model, 50 sweeps.",
           .quick =
               "Every seventh model, 60 sweeps of 100 chains, from the chosen and the uniform base.",
           .paper =
               "All models, 1,000 sweeps of 100 chains, from either base, three seeds; and the command line's 10,000 from the chosen one, one seed."},
      .seconds = {.smoke = 1, .quick = 15, .paper = 1800},
      .claims = {"K08", "K09"},
      .deviations =
          {"But for the last table runs are a tenth as long as the command line's, and half of them begin in the uniform "
           "base, for there would be few wrong ones to tell.",
           "Chains from b = 1 make as many sweeps as those from the base.",
           "Runs without a number or an error are left out: they cannot be ok."},
      .data = zoo_data(),
      .trials = trials,
      .cost = [](const Json&) { return 1.0; },
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::calibration_predictors
