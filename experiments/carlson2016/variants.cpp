#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "boltzmark/diagnose/interval.hpp"
#include "boltzmark/diagnose/power.hpp"
#include "experiments/carlson2016/models.hpp"
#include "experiments/carlson2016/ratios.hpp"
#include "experiments/carlson2016/variant_moments.hpp"
#include "experiments/carlson2016/variant_runs.hpp"
#include "experiments/kit/results.hpp"

namespace boltzmark::experiments {
namespace {

const std::vector<std::string> kModels = {"mnist-10", "mnist-20", "mnist-20-peaked"};
const std::vector<double> kSlopes = {-2, 1, 2, 4};  // of log r_k against b
constexpr PerProfile<int> kSweeps{.smoke = 50, .quick = 1000, .paper = 10000};
const PerProfile<std::vector<int>> kLengths{.smoke = {50, 100},
                                            .quick = {500, 1000, 2000, 4000},
                                            .paper = {1000, 3000, 10000, 30000, 100000}};
constexpr PerProfile<int> kRepeats{.smoke = 3, .quick = 20, .paper = 200};
constexpr PerProfile<int> kSimulations{.smoke = 50, .quick = 5000, .paper = 100000};
constexpr PerProfile<int> kSmallModels{.smoke = 3, .quick = 20, .paper = 40};
constexpr const char* kLengthModel = "mnist-20";

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  const int sweeps = kSweeps.at(profile);
  for (int r = 1; r <= kRepeats.at(profile); ++r) {
    for (const std::string& model : kModels) {
      const Json common{{"model", model}, {"sweeps", sweeps}, {"repeat", r}};
      const auto add = [&](const char* study, const Json& more = Json::object()) {
        all.push_back(common);
        all.back()["study"] = study;
        all.back().update(more);
      };
      add("shared");
      add("wang-landau");
      add("continuous");
      add("late-changes");
      for (const double slope : kSlopes) add("prior", {{"slope", slope}});
    }
    for (const int length : kLengths.at(profile))
      all.push_back({{"study", "prior"},
                     {"slope", 0},
                     {"model", kLengthModel},
                     {"sweeps", length},
                     {"repeat", r}});
  }
  for (int r = 1; r <= kSmallModels.at(profile); ++r) {
    for (const char* chains : {"independent", "parallel"})
      all.push_back({{"study", "moments"},
                     {"chains", chains},
                     {"repeats", kSimulations.at(profile)},
                     {"repeat", r}});
    all.push_back({{"study", "annealing"}, {"repeat", r}});
  }
  return all;
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string study = inputs.at("study");
  if (study == "shared") return run_shared(inputs, context);
  if (study == "wang-landau") return run_wang_landau(inputs, context);
  if (study == "continuous") return run_continuous(inputs, context);
  if (study == "late-changes") return run_late_changes(inputs, context);
  if (study == "prior") return run_prior(inputs, context);
  if (study == "moments") return run_moments(inputs, context);
  return run_annealing_slope(inputs, context);
}

using Rows = std::span<const std::size_t>;
/// One vector of values for each model, entry r from repeat r.
using PerModel = std::vector<std::vector<double>>;

/// Empty unless every model has the same number of repeats, all finite.
PerModel per_model(const Results& results, const Json& filter,
                   const std::string& output = "error") {
  PerModel all;
  for (const std::string& model : kModels) {
    Json of_model = filter;
    of_model["model"] = model;
    all.push_back(results.values(of_model, output));
    if (all.back().size() < 2 || all.back().size() != all.front().size()) return {};
    for (const double value : all.back())
      if (!std::isfinite(value)) return {};
  }
  return all;
}

Json at_length(const Results& results, const char* study) {
  return {{"study", study}, {"sweeps", kSweeps.at(results.profile())}};
}

/// About the mean of all repeats: that of a resample of few may be all there is in it.
double variance_of(std::span<const double> values, Rows rows) {
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const std::size_t r : rows) squares += (values[r] - mean) * (values[r] - mean);
  return squares;
}

/// Geometric mean over models of spread(a) / spread(b).
template <class Spread>
double mean_ratio(const PerModel& a, const PerModel& b, Rows rows, const Spread& spread) {
  double sum = 0;
  for (std::size_t m = 0; m < a.size(); ++m)
    sum += std::log(spread(a[m], rows) / spread(b[m], rows));
  return std::exp(sum / static_cast<double>(a.size()));
}

/// Measures a ratio and adds its row to the table; nothing if repeats are missing.
template <class Spread>
std::optional<Measure> compare(const RatioClaim& claim, const std::string& what, const PerModel& a,
                               const PerModel& b, const Spread& spread, Table& table) {
  if (a.empty() || b.empty() || a[0].size() != b[0].size()) return std::nullopt;
  Measure measure =
      ratio_measure(claim, a[0].size(), [&](Rows rows) { return mean_ratio(a, b, rows, spread); });
  measure.note = fmt::format("geometric mean over {} RBMs", a.size());
  table.rows.push_back({what, measure.n, Estimate{measure.estimate, measure.lower, measure.upper}});
  return measure;
}

void add_ratios(const Results& results, Table& table, Summary& summary) {
  const Json shared = at_length(results, "shared");
  const PerModel rts = per_model(results, shared);
  const auto values = [&](const char* output) { return per_model(results, shared, output); };
  const auto add = [&](std::optional<Measure> measure, const char* reason) {
    if (!measure) return;
    measure->likely_reason = reason;
    summary.add(*measure);
  };
  add(compare({.claim = "C09", .part = "against the mixed likelihood", .against = 1.2},
              "RTS over the mixed likelihood of the same run, RMSE", rts, values("mixed"), rmse_of,
              table),
      "the mixed likelihood also uses the rounds before Zhat was fixed, a share of the sweeps");
  add(compare({.claim = "C09", .part = "with late changes of Ẑ", .against = 1.2},
              "Zhat changed until half of the sweeps over RTS, RMSE",
              per_model(results, at_length(results, "late-changes")), rts, rmse_of, table),
      "samples of all rounds are used, where RTS drops those of the start");
  add(compare({.claim = "C16", .against = 2}, "Wang-Landau over RTS, RMSE",
              per_model(results, at_length(results, "wang-landau")), rts, rmse_of, table),
      "the average over the second half of the 1/t steps is as good as a fixed Zhat");
  add(compare({.claim = "C46", .against = 1.5}, "continuous b over RTS, RMSE",
              per_model(results, at_length(results, "continuous")), rts, rmse_of, table),
      "a density of b that is Rao-Blackwellised between close knots comes near to RTS");
  add(compare({.claim = "C47", .against = 0.9}, "bias subtracted over RTS, RMSE",
              values("bias_subtracted"), rts, rmse_of, table),
      "the bias is estimated well enough here");
  add(compare({.claim = "C48", .against = 0.8}, "control variates over RTS, variance",
              values("control_variates"), rts, variance_of, table),
      "G − PG of functions of b removes the part of the variance that drawing rungs adds");
  add(compare({.claim = "C60", .against = 0.8},
              "E[D | b = 1] by weights over samples with b = 1, variance", values("top_soft"),
              values("top_hard"), variance_of, table),
      "");
  const PerModel soft = values("variance_soft"), hard = values("variance_hard");
  const auto sum = [](const std::vector<double>& of, Rows rows) {
    double total = 0;
    for (const std::size_t r : rows) total += of[r];
    return total;
  };
  add(compare({.claim = "C04", .part = "along chains", .against = 0.8},
              "occupancies, weights over counts, variance between chains", soft, hard, sum, table),
      "");
}

/// The smallest over priors of the largest over models of the RMSE over the uniform prior's.
void add_priors(const Results& results, Table& table, Summary& summary) {
  const PerModel uniform = per_model(results, at_length(results, "shared"));
  std::vector<PerModel> priors;
  for (const double slope : kSlopes) {
    Json filter = at_length(results, "prior");
    filter["slope"] = slope;
    priors.push_back(per_model(results, filter));
    if (!compare({.claim = "C45"},
                 fmt::format("prior exp({:g} b) over the uniform one, RMSE", slope), priors.back(),
                 uniform, rmse_of, table))
      return;
  }
  Measure measure =
      ratio_measure({.claim = "C45", .against = 0.8}, uniform[0].size(), [&](Rows rows) {
        double least = std::numeric_limits<double>::infinity();
        for (const PerModel& prior : priors) {
          double worst = 0;
          for (std::size_t m = 0; m < uniform.size(); ++m)
            worst = std::max(worst, rmse_of(prior[m], rows) / rmse_of(uniform[m], rows));
          least = std::min(least, worst);
        }
        return least;
      });
  measure.note = "priors exp(s b), s = -2, 1, 2, 4; not paired";
  measure.likely_reason = "a prior that puts more samples where they tell most is better on all";
  summary.add(measure);
}

void add_consistency(const Results& results, Summary& summary) {
  std::vector<double> x;
  PerModel errors;
  for (const int length : kLengths.at(results.profile())) {
    errors.push_back(
        results.values({{"study", "prior"}, {"slope", 0}, {"sweeps", length}}, "error"));
    if (errors.back().size() < 2 || errors.back().size() != errors.front().size()) return;
    x.push_back(std::log(length));
  }
  const auto slope = [&](Rows rows) {
    double mean_x = 0, xx = 0, xy = 0;
    for (const double value : x) mean_x += value / static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      xx += (x[i] - mean_x) * (x[i] - mean_x);
      xy += (x[i] - mean_x) * std::log(rmse_of(errors[i], rows));
    }
    return xy / xx;
  };
  const BootstrapInterval found = bootstrap_rows(
      errors[0].size(), slope,
      {.key = make_key(1, "C05"), .replicates = 2000, .method = BootstrapMethod::percentile});
  summary.add(Measure{.claim = "C05",
                      .estimate = found.estimate,
                      .lower = found.lower,
                      .upper = found.upper,
                      .n = static_cast<std::int64_t>(errors[0].size()),
                      .power = normal_power(0.5 / found.std_error, 0.025, Alternative::greater),
                      .power_against = "a slope of 0",
                      .note = fmt::format("{}, {} to {} sweeps", kLengthModel,
                                          kLengths.at(results.profile()).front(),
                                          kLengths.at(results.profile()).back())});
  Panel panel{.title = kLengthModel,
              .x = {.label = "Gibbs sweeps of each of 100 chains", .log = true},
              .y = {.label = "RMSE of log Z by RTS / nats", .log = true},
              .series = {{.label = "RTS", .mark = Mark::line_points, .colour = 0}},
              .legend = ""};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Estimate estimate = rmse_estimate(errors[i]);
    panel.series[0].x.push_back(std::exp(x[i]));
    panel.series[0].y.push_back(estimate.value);
    panel.series[0].lower.push_back(estimate.lower);
    panel.series[0].upper.push_back(estimate.upper);
  }
  summary.add(Figure{.name = "consistency",
                     .caption = fmt::format("RMSE of log Z against sweeps; slope of the logarithms "
                                            "{:.2f}. Bars: 95 %.",
                                            found.estimate),
                     .panels = {std::move(panel)}});
}

/// The slope, through the origin, of simulated moments against their formulas over random RBMs.
void add_moments(const Results& results, Table& table, Summary& summary) {
  for (const std::string chains : {"independent", "parallel"})
    for (const std::string moment : {"bias", "variance"}) {
      const Json filter{{"study", "moments"}, {"chains", chains}};
      const std::vector<double> simulated = results.values(filter, moment);
      const std::vector<double> formula = results.values(filter, "formula_" + moment);
      if (simulated.size() < 2) return;
      const std::string part =
          moment + (chains == "parallel" ? ", parallel chains" : ", independent samples");
      Measure measure = ratio_measure({.claim = "C11", .part = part, .against = 1.5},
                                      simulated.size(), [&](Rows rows) {
                                        double xy = 0, xx = 0;
                                        for (const std::size_t r : rows) {
                                          xy += simulated[r] * formula[r];
                                          xx += formula[r] * formula[r];
                                        }
                                        return xy / xx;
                                      });
      measure.note = "slope of simulated moments against formulas over random 4x4 RBMs";
      measure.likely_reason =
          "the formulas are the first order in 1/N; the next one is seen with this many repeats";
      table.rows.push_back(
          {part, measure.n, Estimate{measure.estimate, measure.lower, measure.upper}});
      summary.add(measure);
    }
}

void add_annealing(const Results& results, Summary& summary) {
  const std::vector<double> slopes = results.values({{"study", "annealing"}}, "slope");
  if (slopes.size() < 2) return;
  const Interval mean = mean_interval(slopes);
  summary.add(Measure{.claim = "C14",
                      .estimate = mean.estimate,
                      .lower = mean.lower - 0.1,
                      .upper = mean.upper + 0.1,
                      .n = static_cast<std::int64_t>(slopes.size()),
                      .power = 1,
                      .power_against = "a slope of -0.5",
                      .note = "exact, 513 to 1,025 rungs, random 3x3 RBMs"});
}

void summarise(const Results& results, Summary& summary) {
  Table table{.name = "comparisons",
              .caption =
                  "Ratios: geometric means over enumerable RBMs on MNIST (10, 20 and 20 "
                  "peaked hidden units), 95 % by the bootstrap over repeats; then simulated "
                  "moments of log Z over their formulas.",
              .columns = {{"what", "what"}, {"repeats", "repeats"}, {"ratio", "ratio"}}};
  add_ratios(results, table, summary);
  add_priors(results, table, summary);
  add_moments(results, table, summary);
  if (!table.rows.empty()) summary.add(std::move(table));
  add_consistency(results, summary);
  add_annealing(results, summary);
}

}  // namespace

Experiment carlson2016_variants() {
  return {
      .id = "carlson2016/variants",
      .item = "Secs. 2, 3.1 and 5",
      .title = "What else was tried, and what RTS claims of itself, where log Z is enumerated",
      .paper_did =
          "Stated without figures: that RTS is consistent, its bias and variance, what other "
          "priors, bias subtraction and control variates do, and how Wang-Landau compares.",
      .settings = {.smoke = "3 repeats of 50 sweeps.",
                   .quick = "3 RBMs, 20 repeats of 1,000 sweeps of 100 chains; 500 to 4,000 sweeps "
                            "on one; 5,000 simulations on each of 20 random RBMs.",
                   .paper = "200 repeats of 10,000 sweeps; 1,000 to 100,000 sweeps on one; 100,000 "
                            "simulations on each of 40 random RBMs."},
      .seconds = {.smoke = 2, .quick = 60, .paper = 20000},
      .claims = {"C04", "C05", "C09", "C11", "C14", "C16", "C45", "C46", "C47", "C48", "C60"},
      .deviations =
          {"Our own RBMs, small enough to enumerate; 100 equally spaced rungs, base rates as p1.",
           "Joint states, and sweeps include the start, which is an annealed pass.",
           "Priors: exp(s b) with s = -2, 1, 2 and 4; the paper does not list its proposals.",
           "Control variates: f(b_n) − E[f(b) | x_n] for b, b² and both ends, with coefficients by "
           "regression over chains; those that the paper tried are not listed.",
           "Expectations at b = 1: of D, the energy against p1."},
      .data = carlson_data(kModels),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments
