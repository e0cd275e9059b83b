#include "experiments/carlson2016/support/variant_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "experiments/carlson2016/support/ratios.hpp"
#include "experiments/carlson2016/support/variant_moments.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/interval.hpp"

namespace boltzmark::experiments {
namespace {

using Rows = std::span<const std::size_t>;
/// One vector of values for each model, entry r from repeat r.
using PerModel = std::vector<std::vector<double>>;

/// Empty unless every model has the same number of repeats, all finite.
PerModel per_model(const Results& results, const Json& filter,
                   const std::string& output = "error") {
  PerModel all;
  for (const std::string& model : kVariantModels.at(results.profile())) {
    Json of_model = filter;
    of_model["model"] = model;
    all.push_back(results.values(of_model, output));
    if (all.back().size() < 2 || all.back().size() != all.front().size()) return {};
    for (const double value : all.back())
      if (!std::isfinite(value)) return {};
  }
  return all;
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
  measure.note = fmt::format("geometric mean over {} RBMs{}", a.size(), measure.note);
  table.rows.push_back(
      {what, measure.n, WithInterval{measure.estimate, measure.lower, measure.upper}});
  return measure;
}

/// Simulated moments of log Z and their formulas over random RBMs.
struct Moments {
  std::vector<double> simulated, formula, variance;

  /// The slope of the simulated ones against their formulas.
  double slope(Rows rows) const {
    double xy = 0, xx = 0;
    for (const std::size_t r : rows) {
      xy += simulated[r] * formula[r];
      xx += formula[r] * formula[r];
    }
    return xy / xx;
  }
  /// What may separate that slope from 1, as (15) and (16) are the first order of a series: with
  /// normal fluctuations d of variance v, E log(1 + d) = -v/2 - 3 v^2 / 4 and Var log(1 + d) =
  /// v + 5 v^2 / 2, so that the next order is `share` v of the first: 3/2 v of the bias, 5/2 v of the
  /// variance. v is that of log Z.
  double margin(double share) const {
    double xy = 0, xx = 0;
    for (std::size_t r = 0; r < formula.size(); ++r) {
      xy += formula[r] * formula[r] * variance[r];
      xx += formula[r] * formula[r];
    }
    return share * xy / xx;
  }
};

/// Measures how far the slope is from 1, in units of the margin; the slope is a row of the table.
std::optional<Measure> moment_slope(const Results& results, const std::string& chains,
                                    const std::string& moment, const std::string& part,
                                    Table& table) {
  const Json filter{{"study", "moments"}, {"chains", chains}};
  const Moments moments{.simulated = results.values(filter, moment),
                        .formula = results.values(filter, "formula_" + moment),
                        .variance = results.values(filter, "formula_variance")};
  if (moments.simulated.size() < 2) return std::nullopt;
  Measure measure = ratio_measure({.claim = "C11", .part = part}, moments.simulated.size(),
                                  [&](Rows rows) { return moments.slope(rows); });
  const double margin = moments.margin(moment == "bias" ? 1.5 : 2.5);
  table.rows.push_back(
      {part, measure.n, WithInterval{measure.estimate, measure.lower, measure.upper}});
  measure.decidable = true;  // 1 is no threshold of the slope, but the margins about it
  measure.note = fmt::format("slope {:.4f} [{:.4f}, {:.4f}], margin {:.3f}; random 4x4 RBMs",
                             measure.estimate, measure.lower, measure.upper, margin);
  // If the slope is 1: how often an interval of the width seen lies within the margin.
  measure.power = interval_power({0, measure.lower, measure.upper}, margin);
  measure.power_against = "a slope of 1";
  for (double* value : {&measure.estimate, &measure.lower, &measure.upper})
    *value = (*value - 1) / margin;
  return measure;
}

}  // namespace

void add_variant_ratios(const Results& results, Table& table, Summary& summary) {
  const Json shared = {{"study", "shared"}};
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
  const Json late = {{"study", "late-changes"}};
  std::optional<Measure> changed =
      compare({.claim = "C09", .part = "with late changes of Ẑ", .against = 1.2},
              "Zhat changed until half of the sweeps over RTS, RMSE", per_model(results, late), rts,
              rmse_of, table);
  const std::optional<Measure> half =
      compare({.claim = "C09"}, "the second half of those runs, Zhat fixed, over RTS, RMSE",
              per_model(results, late, "fixed_half"), rts, rmse_of, table);
  if (changed && half)
    changed->note += fmt::format("; the half with Ẑ fixed alone: {:.2f} [{:.2f}, {:.2f}]",
                                 half->estimate, half->lower, half->upper);
  add(std::move(changed),
      "the samples of the rounds, of chains not yet in equilibrium, add nothing to those of the "
      "half with Ẑ fixed, and that half is shorter than what RTS keeps");
  const auto wang_landau = [&](const char* start) {
    return per_model(results, {{"study", "wang-landau"}, {"start", start}});
  };
  add(compare({.claim = "C16", .against = 2}, "Wang-Landau over RTS, same SMC start, RMSE",
              wang_landau("smc"), rts, rmse_of, table),
      "the average over the second half of the 1/t steps is as good as a fixed Zhat");
  compare({.claim = "C16"}, "Wang-Landau from log Ẑ = 0 over RTS, RMSE", wang_landau("cold"), rts,
          rmse_of, table);
  const auto continuous = [&](const char* output) {
    return per_model(results, {{"study", "continuous"}}, output);
  };
  add(compare({.claim = "C46", .part = "RTS over continuous b", .against = 1.5},
              "RTS over continuous b over RTS, as many samples, RMSE", continuous("rts"),
              values("half"), rmse_of, table),
      "a density of b that is Rao-Blackwellised between close knots comes near to RTS");
  add(compare({.claim = "C46", .part = "thermodynamic integration", .against = 1.5},
              "TI over continuous b over RTS, as many samples, RMSE", continuous("ti"),
              values("half"), rmse_of, table),
      "");
  add(compare({.claim = "C47", .against = 0.9}, "bias subtracted over RTS, RMSE",
              values("bias_subtracted"), rts, rmse_of, table),
      "the bias is estimated well enough here");
  std::optional<Measure> control =
      compare({.claim = "C48", .against = 0.8}, "control variates over RTS, variance",
              values("control_variates"), rts, variance_of, table);
  if (control)
    control->note +=
        "; not explained: that they remove what drawing rungs adds to the variance was not tested";
  add(std::move(control), "");
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

void add_variant_priors(const Results& results, Table& table, Summary& summary) {
  const PerModel uniform = per_model(results, {{"study", "shared"}});
  std::vector<PerModel> priors;
  for (const double slope : kVariantSlopes) {
    priors.push_back(per_model(results, {{"study", "prior"}, {"slope", slope}}));
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
  measure.note = fmt::format("priors exp(s b), s = -2, 1, 2, 4; largest over {} RBMs; not paired{}",
                             uniform.size(), measure.note);
  measure.likely_reason = "a prior that puts more samples where they tell most is better on all";
  summary.add(measure);
}

void add_moment_ratios(const Results& results, Table& table, Summary& summary) {
  for (const std::string moment : {"bias", "variance"}) {
    const std::optional<Measure> many = moment_slope(results, kManyIndependent, moment,
                                                     moment + ", 400 independent samples", table);
    for (const std::string chains : {"independent", "parallel"}) {
      std::optional<Measure> measure = moment_slope(
          results, chains, moment,
          moment + (chains == "parallel" ? ", parallel chains" : ", independent samples"), table);
      if (!measure) return;
      if (many && chains == "independent") measure->note += "; 400 samples: " + many->note;
      measure->likely_reason = "the formulas are the first order in 1/N";
      summary.add(std::move(*measure));
    }
  }
}

void add_annealing_slope(const Results& results, Summary& summary) {
  const std::vector<double> slopes = results.values({{"study", "annealing"}}, "slope");
  if (slopes.size() < 2) return;
  const Interval mean = mean_interval(slopes);
  summary.add(Measure{.claim = "C14",
                      .estimate = mean.estimate,
                      .lower = mean.lower,
                      .upper = mean.upper,
                      .n = static_cast<std::int64_t>(slopes.size()),
                      .power = interval_power(mean, 0.5 - 0.1),
                      .power_against = "a slope of -0.5",
                      .post_hoc = true,
                      .note = "exact, 513 to 1,025 rungs, random 3x3 RBMs"});
}

}  // namespace boltzmark::experiments
