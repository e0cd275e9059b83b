#include <fmt/format.h>

#include <array>

#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/model/base.hpp"
#include "experiments/carlson2016/support/all_methods.hpp"
#include "experiments/carlson2016/support/annealing_bias.hpp"
#include "experiments/carlson2016/support/models.hpp"
#include "experiments/kit/csv.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/proportion.hpp"

namespace boltzmark::experiments::carlson2016_coverage {
namespace {

constexpr int kVisible = 12, kHidden = 8;
constexpr std::array kScales = {0.5, 1.0, 2.0, 4.0};
constexpr std::array kRandomRungs = {2, 5, 20};  // of a random RBM, in turn
constexpr int kChains = 100;
constexpr int kEnough = 20;          // accepted estimates, for a share to be drawn
constexpr double kLeastShown = 0.8;  // of the shares
// A nominal 95 % loses some where errors are skewed: smc's intervals cover about 0.91, which was
// known before this limit was set. Each method is decided once a table, and all of them together
// fail by chance in less than 1 % of the runs.
constexpr double kLeastCoverage = 0.9;
constexpr double kFalseAlarm = 2e-4;
constexpr int kSmallSweeps = 600;
constexpr PerProfile<int> kRandomModels{.smoke = 1, .quick = 20, .paper = 250};  // per scale
// RBMs of Bars and Stripes, 4x4: each trained anew, on patterns that training leaves modes apart.
constexpr PerProfile<int> kPatternModels{.smoke = 1, .quick = 40, .paper = 250};
constexpr int kPatternRungs = 20, kUpdates = 3000;
constexpr double kInitialSd = 0.01, kRate = 0.1;
constexpr PerProfile<int> kTrainedRepeats{.smoke = 0, .quick = 0, .paper = 20};
constexpr int kTrainedSweeps = 5000;
const std::vector<std::string> kTrained = {"mnist-10", "mnist-20", "mnist-25", "mnist-20-peaked"};

/// The populations of targets, each with its row in the tables.
struct Targets {
  const char* kind;
  const char* title;
};
constexpr std::array kTargets = {Targets{"random", "random RBMs"},
                                 Targets{"patterns", "RBMs trained on Bars and Stripes"},
                                 Targets{"trained", "RBMs trained on MNIST"}};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all = annealing_bias_trials(profile);
  for (const double scale : kScales)
    for (int rbm = 1; rbm <= kRandomModels.at(profile); ++rbm)
      all.push_back({{"targets", "random"},
                     {"scale", scale},
                     {"rungs", kRandomRungs[static_cast<std::size_t>(rbm) % kRandomRungs.size()]},
                     {"rbm", rbm}});
  for (int repeat = 1; repeat <= kPatternModels.at(profile); ++repeat)
    all.push_back({{"targets", "patterns"}, {"rungs", kPatternRungs}, {"repeat", repeat}});
  for (const std::string& model : kTrained)
    for (int repeat = 1; repeat <= kTrainedRepeats.at(profile); ++repeat)
      all.push_back({{"targets", "trained"}, {"model", model}, {"repeat", repeat}});
  return all;
}

// An RBM that an RBM of Bars and Stripes becomes after some training, its 30 patterns its modes.
Layered train_rbm(StreamKey key) {
  const CaseValues data = load_dataset("bas").values;
  Trainer trainer(initial_rbm(static_cast<int>(data.rows()), kHidden, kInitialSd, key), data,
                  {.negative = Negative::pcd(5), .learning_rate = kRate}, key);
  for (int update = 0; update < kUpdates; ++update) trainer.step();
  return trainer.model();
}

// Models of few units, 100 exact samples for RAISE.
Json run_small(const Layered& rbm, const Json& inputs, const TrialContext& context) {
  return run_all_methods(LayeredTarget(rbm, Base::uniform(rbm)), exact_log_z(rbm).log_z,
                         {.chains = kChains,
                          .sweeps = kSmallSweeps,
                          .ladder = Ladder::linear(inputs.at("rungs").get<int>()),
                          .key = context.key,
                          .cases = draw_exact_cases(rbm, kChains, context.key)},
                         context);
}

Json run_trained(const Json& inputs, const TrialContext& context) {
  const std::string model = inputs.at("model");
  return run_all_methods(carlson_target(model, "rates"), exact_carlson_log_z(model),
                         {.chains = kChains, .sweeps = kTrainedSweeps, .key = context.key},
                         context);
}

Json run(const Json& inputs, const TrialContext& context) {
  const std::string targets = inputs.at("targets");
  if (targets == "annealed") return run_annealing_bias(inputs, context);
  if (targets == "trained") return run_trained(inputs, context);
  return run_small(targets == "patterns"
                       ? train_rbm(context.key)
                       : draw_random_rbm(kVisible, kHidden, inputs.at("scale"), context.key),
                   inputs, context);
}

// Whether at least kLeastCoverage of the intervals may cover: a one-sided binomial test.
Cell verdict(const ErrorCell& cell) {
  if (cell.ok() < kEnough) return "too few";
  const Count count{static_cast<std::uint64_t>(cell.covered),
                    static_cast<std::uint64_t>(cell.ok())};
  return binomial_test(count, kLeastCoverage, Alternative::less) < kFalseAlarm ? "does not hold"
                                                                               : "holds";
}

Table coverage_table(const Results& results, const Targets& targets) {
  Table table{.name = targets.kind,
              .caption = fmt::format(
                  "Estimates of log Z of {}. Coverage is of those with status ok, with its 95 % "
                  "limits; so is the spread of errors in units of the stated standard error, which "
                  "should be near 1 (1.2 where 7 islands tell the error, 1.1 for the 10 of smc). "
                  "Mean error and RMSE are of all estimates. A method holds unless fewer intervals "
                  "cover than an error rate of {} allows if each covers with probability {}.",
                  targets.title, kFalseAlarm, kLeastCoverage),
              .columns = {{"method", "method"},
                          {"estimates", "estimates"},
                          {"refused", "refused"},
                          {"coverage", "coverage"},
                          {"verdict", "verdict"},
                          {"spread / standard error", "scaled_spread", 2},
                          {"mean error / nats", "mean_error", 4},
                          {"RMSE / nats", "rmse", 4}}};
  for (const Method& method : registered_methods()) {
    const ErrorCell cell = method_errors(results, {{"targets", targets.kind}}, method.name);
    if (cell.empty()) continue;
    const Interval share = cell.ok() > 0 ? cell.coverage() : Interval{};
    table.rows.push_back({method.name, std::int64_t{cell.estimates}, std::int64_t{cell.refused},
                          cell.ok() > 0 ? Cell(with_interval(share)) : Cell(NotRun{}),
                          verdict(cell),
                          cell.scaled.size() > 1 ? Cell(cell.scaled_spread()) : Cell(NotRun{}),
                          with_interval(cell.bias()), cell.rmse});
  }
  return table;
}

Figure coverage_figure(const Results& results) {
  Figure figure{
      .name = "coverage",
      .caption =
          fmt::format("Share of the accepted estimates (status ok) whose 95 % interval holds the "
                      "true log Z; bars are 95 % limits (Clopper and Pearson). On the "
                      "right: how many of all estimates were accepted; below {} no share is drawn.",
                      kEnough),
      .height = 700,
      .script = "coverage.gp",
      .data = {{"targets", "row", "method", "coverage", "lower", "upper", "ok", "estimates"}}};
  // The script draws its y axis across.
  Panel panel{.x = {.label = "row"}, .y = {.label = "share", .low = kLeastShown}};
  for (const Targets& targets : kTargets) {
    if (results.where({{"targets", targets.kind}}).empty()) continue;
    Series shares{.label = targets.kind, .mark = Mark::points};
    int row = 0;
    for (const Method& method : registered_methods()) {
      const ErrorCell cell = method_errors(results, {{"targets", targets.kind}}, method.name);
      const bool enough = cell.ok() >= kEnough;
      const Interval share = enough ? cell.coverage() : Interval{NAN, NAN, NAN};
      figure.data.push_back({targets.kind, fmt::format("{}", row++), method.name,
                             csv_number(share.estimate), csv_number(share.lower),
                             csv_number(share.upper), fmt::format("{}", cell.ok()),
                             fmt::format("{}", cell.estimates)});
      shares.x.push_back(static_cast<double>(shares.x.size()));
      shares.y.push_back(share.estimate);
      shares.lower.push_back(share.lower);
      shares.upper.push_back(share.upper);
    }
    panel.series.push_back(std::move(shares));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  if (Figure figure = coverage_figure(results); figure.data.size() > 1)
    summary.add(std::move(figure));
  for (const Targets& targets : kTargets)
    if (Table table = coverage_table(results, targets); !table.rows.empty())
      summary.add(std::move(table));
  add_annealing_bias(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "carlson2016/coverage",
      .item = "Beyond the paper",
      .title = "Do the intervals of the estimators hold the true log Z as often as they say?",
      .paper_did =
          "Judged estimators of log Z by their mean and RMSE on a few trained RBMs; it states no "
          "intervals.",
      .settings =
          {.smoke = "4 random RBMs, 1 of Bars and Stripes; the bias of annealing from 20 runs on "
                    "each of three.",
           .quick =
               "80 random RBMs with 12 visible and 8 hidden units, weights and biases "
               "uniform on (-c, c) for c = 0.5, 1, 2 and 4, uniform base, 2, 5 and 20 rungs "
               "in turn; 40 RBMs with 16 and 8 units, each trained anew on Bars and Stripes "
               "by 3,000 updates of PCD-5, 20 rungs; 600 sweeps, RAISE from exact samples. "
               "100 chains, every registered method. A true coverage "
               "of 0.68 on the random RBMs does not hold with probability 0.93, one of 0.6 on "
               "those of Bars and Stripes with 0.87, if every estimate is accepted. The bias of "
               "AIS and RAISE: 10,000 runs on each of three RBMs with 6 and 5 units.",
           .paper = fmt::format(
               "1,000 random RBMs, 250 of Bars and Stripes; 80 runs on four RBMs of MNIST, 100 "
               "rungs from data rates, {},000 sweeps, RAISE from tempered samples; 200,000 for "
               "each bias.",
               kTrainedSweeps / 1000)},
      .seconds = {.smoke = 1, .quick = 14, .paper = 900},
      .claims = {},
      .deviations = {"Not in the paper."},
      .data = carlson_data(kTrained),
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::carlson2016_coverage
