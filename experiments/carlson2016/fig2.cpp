#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "boltzmark/estimate/estimators/mbar.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/estimators/thermodynamic_integration.hpp"
#include "experiments/carlson2016/support/mixture.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/published.hpp"
#include "experiments/kit/statistics/bootstrap.hpp"
#include "experiments/kit/statistics/power.hpp"

namespace boltzmark::experiments::carlson2016_fig2 {
namespace {

constexpr int kSizes[] = {1000, 1500, 2000, 2500, 3000, 3500, 4000};
constexpr int kFirstJudged = 2;  ///< the claim is on 2000 samples and more
constexpr PerProfile<int> kRepeats{.smoke = 3, .quick = 40, .paper = 400};

/// An estimator as the figure names it.
struct Method {
  const char* label;
  std::function<double(const SampleStore&)> log_z;
};

double integrate(const SampleStore& store, Assignment assignment, Quadrature quadrature) {
  return thermodynamic_integration(store, assignment,
                                   {.quadrature = quadrature, .interpolate_empty = true})
      .log_z;
}

const std::vector<Method>& methods() {
  using enum Quadrature;
  static const std::vector<Method> all = {
      {"RTS", [](const SampleStore& s) { return rts(s, States::joint).log_z; }},
      {"MBAR", [](const SampleStore& s) { return mbar(s).log_z; }},
      {"TI Riemann", [](const SampleStore& s) { return integrate(s, Assignment::hard, right); }},
      {"TI trap", [](const SampleStore& s) { return integrate(s, Assignment::hard, trapezoid); }},
      {"TI trap corrected",
       [](const SampleStore& s) { return integrate(s, Assignment::hard, corrected); }},
      {"TI RB", [](const SampleStore& s) { return integrate(s, Assignment::soft, trapezoid); }},
  };
  return all;
}

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int repeat = 1; repeat <= kRepeats.at(profile); ++repeat)
    all.push_back({{"repeat", repeat}});
  return all;
}

/// One run; every method on its first 1000, 1500, .. samples.
Json run(const Json&, const TrialContext& context) {
  const TunedSteps tuned = tune_mixture("hmc", context.key);
  const SampleStore store = sample_mixture(mixture_target("hmc", tuned.steps),
                                           std::ranges::max(kSizes), context.key, context);
  Json outputs;
  for (const int size : kSizes) {
    const SampleStore seen = first_sweeps(store, size);
    for (const Method& method : methods()) outputs[method.label].push_back(method.log_z(seen));
  }
  return outputs;
}

/// Squared errors of a method at one size, by repeat.
std::vector<double> squared_errors(const Results& results, const char* label, std::size_t size) {
  std::vector<double> squares;
  for (const Trial* trial : results.where({})) {
    const double error = numbers(trial->outputs.at(label))[size] - mixture_log_z();
    squares.push_back(error * error);
  }
  return squares;
}

BootstrapOptions bootstrap_options(const std::string& what) {
  return {.key = make_key(1, "carlson2016/fig2", what), .replicates = 2000};
}

/// The RMSE with its bootstrap interval over repeats.
Interval rmse(const std::vector<double>& squares) {
  Interval mean = bootstrap_mean(squares, bootstrap_options("rmse"));
  return {std::sqrt(mean.estimate), std::sqrt(mean.lower), std::sqrt(mean.upper)};
}

/// The largest ratio, over the sizes judged, of the largest RMSE to the smallest.
double spread(const std::vector<std::vector<std::vector<double>>>& squares,
              std::span<const std::size_t> rows) {
  double largest = 0;
  for (const auto& by_method : squares) {
    double low = INFINITY, high = 0;
    for (const auto& values : by_method) {
      double sum = 0;
      for (const std::size_t row : rows) sum += values[row];
      low = std::min(low, sum);
      high = std::max(high, sum);
    }
    largest = std::max(largest, std::sqrt(high / low));
  }
  return largest;
}

/// Adds the spread of all estimators, or of those without the Riemann sum.
void add_spread(const Results& results, bool riemann, Summary& summary) {
  std::vector<std::vector<std::vector<double>>> squares;  // [size][method][repeat]
  for (std::size_t i = kFirstJudged; i < std::size(kSizes); ++i) {
    auto& by_method = squares.emplace_back();
    for (const Method& method : methods())
      if (riemann || std::string(method.label) != "TI Riemann")
        by_method.push_back(squared_errors(results, method.label, i));
  }
  const std::size_t repeats = results.trials().size();
  const BootstrapInterval found = bootstrap_rows(
      repeats, [&](std::span<const std::size_t> rows) { return spread(squares, rows); },
      bootstrap_options("spread"));
  Measure measure = interval_measure(
      {.claim = "C29",
       .part = riemann ? "all six" : "without the Riemann sum",
       .note = "largest RMSE / smallest RMSE, at the N of 2000, 2500, .., 4000 where it is largest",
       .likely_reason =
           riemann
               ? "The exact right Riemann sum over these 20 rungs is 8.231, 2.51 nats off; the "
                 "published curve coincides with that of the trapezoid, so it may not be this sum."
               : ""},
      found, repeats);
  measure.power = normal_power((2 - 1.5) / found.std_error, 0.025, Alternative::greater);
  measure.power_against = "a ratio of 1.5";
  measure.post_hoc = true;
  summary.add(std::move(measure));
}

void add_table(const Results& results, Summary& summary) {
  Table table{.name = "rmse",
              .caption = fmt::format(
                  "RMSE of log Z(1) / nats over {} repeats, with 95 % bootstrap intervals. One run "
                  "whose chain stays near b = 0 or b = 1 may make up most of it: the last column "
                  "leaves out the worst.",
                  results.trials().size()),
              .columns = {{"estimator", "estimator"}}};
  for (const int size : kSizes)
    table.columns.push_back({fmt::format("N = {}", size), fmt::format("n{}", size)});
  table.columns.push_back(
      {fmt::format("N = {}, worst run left out", kSizes[std::size(kSizes) - 1]), "without_worst"});
  for (const Method& method : methods()) {
    auto& row = table.rows.emplace_back();
    row.push_back(std::string(method.label));
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      const Interval found = rmse(squared_errors(results, method.label, i));
      row.push_back(with_interval(found));
    }
    std::vector<double> others = squared_errors(results, method.label, std::size(kSizes) - 1);
    others.erase(std::max_element(others.begin(), others.end()));
    row.push_back(with_interval(rmse(others)));
  }
  summary.add(std::move(table));
}

void add_figure(const Results& results, Summary& summary) {
  const Axis samples{.label = "samples N", .low = 800, .high = 4100};
  const Axis errors{.label = "log RMSE of log Z(1)", .low = -3.2, .high = 1.8};
  Panel ours{.title = "Are all estimators on tempered samples of two Gaussians alike?",
             .x = samples,
             .y = errors,
             .series = {},
             .legend = "bottom left"};
  std::vector<Series> published;
  int colour = 0;
  for (const Method& method : methods()) {
    Series series{.label = method.label, .mark = Mark::line_points, .colour = colour};
    for (std::size_t i = 0; i < std::size(kSizes); ++i) {
      const Interval found = rmse(squared_errors(results, method.label, i));
      // Apart, or the bars of nearly equal points would hide each other.
      series.x.push_back(kSizes[i] + 25 * (colour - 2.5));
      series.y.push_back(std::log(found.estimate));
      series.lower.push_back(std::log(found.lower));
      series.upper.push_back(std::log(found.upper));
    }
    ours.series.push_back(std::move(series));
    Series digitised = published_series(find_published("carlson2016_fig2", "", method.label),
                                        method.label, colour);
    digitised.label.clear();  // its colour tells
    published.push_back(std::move(digitised));
    ++colour;
  }
  published.front().label = "published";
  std::ranges::move(published, std::back_inserter(ours.series));
  summary.add(
      Figure{.name = "log-rmse",
             .caption = fmt::format("Fig. 2: log RMSE against samples, {} repeats, and its 95 % "
                                    "bootstrap intervals; dotted: the published curves, "
                                    "digitised, 10 repeats, no intervals given.",
                                    results.trials().size()),
             .panels = {std::move(ours)}});
}

void summarise(const Results& results, Summary& summary) {
  if (results.trials().size() < 3) return;  // the bootstrap of all but the worst needs two
  add_figure(results, summary);
  add_table(results, summary);
  add_spread(results, true, summary);
  add_spread(results, false, summary);
}

std::string settings(Profile profile) {
  return fmt::format(
      "{} repeats; one run each, every estimator on its first 1000, 1500, .., 4000 "
      "samples.",
      kRepeats.at(profile));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/fig2",
      .item = "Fig. 2",
      .title = "Are all estimators on tempered samples of two Gaussians alike?",
      .paper_did =
          "Two 10-dimensional Gaussians, 20 inverse temperatures, sampled by simulated tempering "
          "with adaptive HMC (Appendix E): log RMSE of log Z by RTS, MBAR, thermodynamic "
          "integration (right Riemann sum, trapezoid, corrected trapezoid) and TI-RB, 10 repeats.",
      .settings = {.smoke = settings(Profile::smoke),
                   .quick = settings(Profile::quick),
                   .paper = settings(Profile::paper)},
      .seconds = {.smoke = 1, .quick = 4, .paper = 60},
      .claims = {"C29"},
      .deviations = {"More repeats than the paper's 10, for narrower intervals.",
                     "Up to ten initial rounds of 1,000 sweeps from Ẑ = 1 precede the samples: as "
                     "many rounds, and samples a rung, as the paper states for its RBMs. It does "
                     "not say what preceded these.",
                     "Rungs without samples are interpolated in TI, as the paper does.",
                     "The HMC settings are those of carlson2016/fig6."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_fig2
