#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/target/continuous.hpp"
#include "experiments/carlson2016/support/mixture.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "verification/checks/known/gaussian_mixture.hpp"

namespace boltzmark::experiments::carlson2016_acceptance {
namespace {

constexpr int kChains = 64;
constexpr int kClimb = 10;     ///< moves at each rung, which chains climb one by one
constexpr int kProposals = 8;  ///< of each chain, rung and step
constexpr int kShown[] = {0, 4, 8, 12, 16, 19};  ///< rungs in the figure
constexpr double kLeastRise = 0.02;              ///< a rise below this is none
constexpr PerProfile<int> kRepeats{.smoke = 3, .quick = 20, .paper = 200};

/// Steps a factor of 1.5 apart, 0.25 to 14.4.
std::vector<double> grid() {
  std::vector<double> steps;
  for (int i = 0; i <= 10; ++i) steps.push_back(0.25 * std::pow(1.5, i));
  return steps;
}

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (int repeat = 1; repeat <= kRepeats.at(profile); ++repeat)
    all.push_back({{"repeat", repeat}});
  return all;
}

/// Mean acceptance of proposals with one step, from the states of the chains.
double mean_acceptance(const GaussianMixture& mixture, double b, double step,
                       const Eigen::MatrixXd& states, Stream& stream) {
  double sum = 0;
  for (int c = 0; c < kChains; ++c)
    for (int i = 0; i < kProposals; ++i) {
      Eigen::VectorXd x = states.col(c);
      sum += Hmc().move(mixture, b, step, stream, x);
    }
  return sum / (kChains * kProposals);
}

/// Chains climb the ladder from exact draws at b = 0; on each rung every step of the grid is tried.
Json run(const Json&, const TrialContext& context) {
  const GaussianMixture mixture;
  const Ladder ladder = mixture_ladder();
  const TunedSteps tuned = tune_mixture("hmc", context.key);
  Stream stream(context.key, Purpose::metropolis);
  Eigen::MatrixXd states(mixture.dimension(), kChains);
  for (int c = 0; c < kChains; ++c) mixture.draw_base(stream, states.col(c));
  std::vector<std::vector<double>> acceptance;
  for (int k = 0; k < ladder.rungs(); ++k) {
    for (int c = 0; c < kChains; ++c)
      for (int i = 0; i < kClimb; ++i)
        Hmc().move(mixture, ladder[k], tuned.steps(ladder[k]), stream, states.col(c));
    auto& row = acceptance.emplace_back();
    for (const double step : grid())
      row.push_back(mean_acceptance(mixture, ladder[k], step, states, stream));
    context.progress(static_cast<double>(k) / ladder.rungs());
  }
  std::vector<double> slopes, steps;
  for (int k = 0; k < ladder.rungs(); ++k) {
    slopes.push_back(tuned.curves[k].slope);
    steps.push_back(std::exp(tuned.steps.log_steps()[k]));
  }
  return {{"acceptance", acceptance}, {"slopes", slopes}, {"steps", steps}};
}

/// Acceptance at a rung and a step of the grid, by repeat.
std::vector<double> cell(const Results& results, int rung, std::size_t step) {
  std::vector<double> values;
  for (const Trial* trial : results.where({}))
    values.push_back(
        number(trial->outputs.at("acceptance").at(static_cast<std::size_t>(rung)).at(step)));
  return values;
}

/// A rise of acceptance from a rung and step to a neighbour, by repeat.
struct Rise {
  int rung;
  std::size_t step;
  std::vector<double> differences;
};

/// Adds the largest of several mean differences. Each has a 95 % interval for all of them together
/// (Bonferroni), and the limits are the largest of theirs.
void add_largest(const std::string& part, const std::string& note, const std::vector<Rise>& all,
                 Summary& summary) {
  Measure measure{
      .claim = "C51", .part = part, .estimate = -INFINITY, .lower = -INFINITY, .upper = -INFINITY};
  const Rise* largest = &all.front();
  const double level = 1 - 0.05 / static_cast<double>(all.size());
  double width = 0;  // of the widest interval of a pair that may be level
  for (const Rise& rise : all) {
    const Interval mean = mean_interval(rise.differences, level);
    if (mean.estimate > measure.estimate) largest = &rise;
    measure.estimate = std::max(measure.estimate, mean.estimate);
    measure.lower = std::max(measure.lower, mean.lower);
    measure.upper = std::max(measure.upper, mean.upper);
    if (mean.upper > -kLeastRise) width = std::max(width, mean.upper - mean.lower);
  }
  measure.n = static_cast<std::int64_t>(all.front().differences.size());
  // That the widest interval of a level pair stays below the threshold.
  measure.power = interval_power({0, -width / 2, width / 2}, kLeastRise, level);
  measure.power_against = "acceptance that never rises";
  measure.post_hoc = true;
  measure.interval = fmt::format("95 % for all {} together", all.size());
  measure.note = fmt::format("{}: from rung {} at step {:.3g}", note, largest->rung + 1,
                             grid()[largest->step]);
  summary.add(std::move(measure));
}

void add_rises(const Results& results, Summary& summary) {
  std::vector<Rise> with_step, with_b;
  const auto rise = [&](int k, std::size_t i, int next_k, std::size_t next_i) {
    const auto from = cell(results, k, i), to = cell(results, next_k, next_i);
    Rise found{.rung = k, .step = i, .differences = {}};
    for (std::size_t r = 0; r < from.size(); ++r) found.differences.push_back(to[r] - from[r]);
    return found;
  };
  const int rungs = mixture_ladder().rungs();
  for (int k = 0; k < rungs; ++k)
    for (std::size_t i = 0; i < grid().size(); ++i) {
      if (i + 1 < grid().size()) with_step.push_back(rise(k, i, k, i + 1));
      if (k + 1 < rungs) with_b.push_back(rise(k, i, k + 1, i));
    }
  add_largest("with the step",
              "largest rise of acceptance to the next step of the grid, over rungs", with_step,
              summary);
  add_largest("with b", "largest rise of acceptance to the next rung, over steps", with_b, summary);
}

void add_slopes(const Results& results, Summary& summary) {
  std::vector<double> smallest;
  for (const Trial* trial : results.where({}))
    smallest.push_back(std::ranges::min(numbers(trial->outputs.at("slopes"))));
  summary.add(mean_measure(
      {.claim = "C51",
       .part = "fitted",
       .note = "smallest fall of logit acceptance per unit of log step over the 20 rungs"},
      smallest));
}

void add_figure(const Results& results, Summary& summary) {
  const Ladder ladder = mixture_ladder();
  Panel acceptance{.x = {.label = "step size", .log = true, .low = 0.02, .high = 100},
                   .y = {.label = "acceptance", .low = 0, .high = 1.02},
                   .series = {},
                   .guides = {{.at = 0.651, .label = "target, 0.651"}},
                   .legend = "bottom left"};
  for (const int k : kShown) {
    Series series{.label = fmt::format("b = {:.3g}", ladder[k]), .mark = Mark::line_points};
    for (std::size_t i = 0; i < grid().size(); ++i)
      add_mean(series, grid()[i], cell(results, k, i));
    acceptance.series.push_back(std::move(series));
  }
  Panel steps{.x = {.label = "rung (1: b = 0, 20: b = 1)", .low = 0, .high = 21},
              .y = {.label = "tuned step size", .log = true, .low = 0.5, .high = 10},
              .series = {},
              .legend = ""};
  Series tuned{.label = "tuned", .mark = Mark::line_points, .colour = 1};
  for (int k = 0; k < ladder.rungs(); ++k) {
    std::vector<double> values;
    for (const Trial* trial : results.where({}))
      values.push_back(number(trial->outputs.at("steps").at(k)));
    add_mean(tuned, k + 1, values);
  }
  steps.series.push_back(std::move(tuned));
  summary.add(Figure{.name = "acceptance",
                     .caption = "Acceptance of HMC against its step size at six inverse "
                                "temperatures (left), and the steps tuned to an acceptance of "
                                "0.651 (right); means over repeats with 95 % intervals.",
                     .panels = {std::move(acceptance), std::move(steps)},
                     .columns = 2});
}

void summarise(const Results& results, Summary& summary) {
  if (results.trials().size() < 2) return;
  add_figure(results, summary);
  add_rises(results, summary);
  add_slopes(results, summary);
}

std::string settings(Profile profile) {
  return fmt::format(
      "{} repeats; each tunes HMC anew and tries 11 steps, 0.25 to 14.4, on each of the "
      "20 rungs with 512 proposals.",
      kRepeats.at(profile));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/acceptance",
      .item = "Appendix E, acceptance",
      .title = "Does the acceptance of HMC fall with its step size, and with b?",
      .paper_did =
          "Modelled the acceptance of HMC by a logistic function of the step size at each "
          "inverse temperature, with step sizes that fall with b.",
      .settings = {.smoke = settings(Profile::smoke),
                   .quick = settings(Profile::quick),
                   .paper = settings(Profile::paper)},
      .seconds = {.smoke = 1, .quick = 6, .paper = 60},
      .claims = {"C51"},
      .deviations = {"The HMC settings are those of carlson2016/fig6."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_acceptance
