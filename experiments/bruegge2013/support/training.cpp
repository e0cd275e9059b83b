#include "experiments/bruegge2013/support/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/kit/statistics/proportion.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kInitialSd = 0.01;
constexpr double kSignificant = 0.05;

/// Whether any outcome of so many pairs has a two-sided p below 0.05.
bool can_be_significant(std::size_t pairs) {
  return 2 * std::exp2(-static_cast<double>(pairs)) < kSignificant;
}

/// A data set in both forms that training needs.
struct Prepared {
  CaseValues values;
  Cases cases;
  explicit Prepared(const std::string& name) : values(load_dataset(name).values), cases(values) {}
};

/// Loads each data set once in a process.
const Prepared& prepared(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, Prepared> all;
  const std::lock_guard lock(mutex);
  return all.try_emplace(name, name).first->second;
}

int hidden_units(const std::string& data) { return data == "mnist" ? 10 : 16; }
int batch_size(const std::string& data) { return data == "bas" ? 0 : 100; }

/// Weights and biases ~ N(0, 0.01^2), minibatches of 100, batch learning of Bars and Stripes.
Trainer start_training(const TrainedRbm& recipe, const Rule& rule, StreamKey key) {
  const CaseValues& values = prepared(recipe.data).values;
  return Trainer(initial_rbm(static_cast<int>(values.rows()), recipe.hidden, kInitialSd, key),
                 values,
                 {.negative = parse_negative(recipe.negative),
                  .rule = rule,
                  .learning_rate = recipe.rate,
                  .batch = batch_size(recipe.data),
                  .updates = static_cast<std::uint64_t>(recipe.updates)},
                 key);
}

/// How far a run falls from its best log-likelihood.
double drop(const std::vector<double>& curve) {
  return *std::max_element(curve.begin(), curve.end()) - curve.back();
}

constexpr double kDivergence = 0.1;  // nats: the drop of G from which a setting counts as diverging

/// Adds the share of pairs in which something holds, minus 1/2, with its exact interval and test. Settings may be
/// unlike each other: where their shares spread by more than pairs alone would, the interval is that of the mean over
/// settings, and decides.
void add_share(const std::string& part, const std::vector<Count>& settings, const std::string& note,
               Summary& summary) {
  Count count;
  std::vector<double> shares;
  for (const Count& setting : settings) {
    count.successes += setting.successes;
    count.trials += setting.trials;
    shares.push_back(static_cast<double>(setting.successes) / static_cast<double>(setting.trials));
  }
  const Interval pooled = proportion_interval(count.successes, count.trials);
  Measure measure{.claim = "B26",
                  .part = part,
                  .estimate = pooled.estimate - 0.5,
                  .lower = pooled.lower - 0.5,
                  .upper = pooled.upper - 0.5,
                  .p_value = binomial_test(count, 0.5, Alternative::greater),
                  .p_opposite = binomial_test(count, 0.5, Alternative::less),
                  .n = static_cast<std::int64_t>(count.trials),
                  .power = binomial_power(count.trials, 0.5, 0.8, 0.05, Alternative::greater),
                  .power_against = "a share of 0.8",
                  .post_hoc = true,  // which settings diverge was seen
                  .note = note};
  if (shares.size() > 1) {
    const Interval mean = mean_interval(shares);
    if (mean.upper - mean.lower > pooled.upper - pooled.lower) {
      measure.estimate = mean.estimate - 0.5;
      measure.lower = std::max(mean.lower - 0.5, -0.5);
      measure.upper = std::min(mean.upper - 0.5, 0.5);
      measure.interval = fmt::format("95 %, Student's over {} settings", shares.size());
      measure.p_value = measure.p_opposite = std::nan("");
      measure.power = interval_power(mean, 0.3);
    }
  }
  summary.add(std::move(measure));
}

}  // namespace

void add_training_trials(const TrainingSetting& setting, std::vector<Json>& trials) {
  for (int repeat = 0; repeat < setting.repeats; ++repeat)
    for (const char* rule : {"gibbs", "flip"})
      trials.push_back({{"data", setting.data},
                        {"negative", setting.negative},
                        {"rate", setting.rate},
                        {"rule", rule},
                        {"repeat", repeat},
                        {"updates", setting.updates}});
}

double training_cost(const Json& inputs) {
  constexpr double kOverhead = 3e-5, kProduct = 1e-10;  // of an update, and of a weight and case
  const Negative negative = parse_negative(inputs.at("negative").get<std::string>());
  const double weights = inputs.at("data") == "mnist" ? 784 * 10 : 16 * 16;
  const double products = 2.0 * (1 + negative.sweeps * negative.temperatures) * 100 * weights;
  return number(inputs.at("updates")) * (kOverhead + kProduct * products);
}

Json run_training(const Json& inputs, const TrialContext& context) {
  const std::string name = inputs.at("data");
  const Prepared& data = prepared(name);
  const StreamKey key = context.shared_key(
      fmt::format("{} {} {} repeat {}", name, inputs.at("negative").get<std::string>(),
                  number(inputs.at("rate")), inputs.at("repeat").get<int>()));
  const int updates = inputs.at("updates");
  Trainer trainer = start_training({.data = name,
                                    .hidden = hidden_units(name),
                                    .negative = inputs.at("negative"),
                                    .rate = number(inputs.at("rate")),
                                    .updates = updates},
                                   parse_rule(inputs.at("rule").get<std::string>()), key);
  std::vector<double> curve;
  Json outputs;
  try {
    trainer.run(kRecordEvery, [&](const Trainer& now) {
      curve.push_back(exact_mean_log_likelihood(now.model(), data.cases));
      context.progress(static_cast<double>(now.updates()) / updates);
    });
  } catch (const Diverged& stop) {
    outputs["diverged_at"] = stop.update();
  }
  outputs["log_likelihood"] = curve;
  return outputs;
}

Layered train_rbm(const TrainedRbm& recipe, int index, const TrialContext& context, double share) {
  constexpr int kReports = 2000;
  const StreamKey key =
      context.shared_key(fmt::format("{}-{} {} {} {} updates, RBM {}", recipe.data, recipe.hidden,
                                     recipe.negative, recipe.rate, recipe.updates, index));
  Trainer trainer = start_training(recipe, Rule::gibbs(), key);
  if (const auto state = context.kept_state()) trainer.restore(*state);
  trainer.run(std::max(1, recipe.updates / kReports), [&](const Trainer& now) {
    context.progress(share * static_cast<double>(now.updates()) / recipe.updates,
                     [&] { return now.checkpoint(); });
  });
  return trainer.model();
}

PairedCurves collect_pairs(const Results& results, const std::string& data,
                           const std::string& negative, double rate) {
  PairedCurves curves;
  const Json setting{{"data", data}, {"negative", negative}, {"rate", rate}};
  for (const Json& repeat : results.inputs("repeat")) {
    Json filter = setting;
    filter["repeat"] = repeat;
    filter["rule"] = "gibbs";
    const auto gibbs = results.where(filter);
    filter["rule"] = "flip";
    const auto flip = results.where(filter);
    if (gibbs.empty() || flip.empty()) continue;
    curves.gibbs.push_back(numbers(gibbs.front()->outputs.at("log_likelihood")));
    curves.flip.push_back(numbers(flip.front()->outputs.at("log_likelihood")));
  }
  return curves;
}

MaximumComparison compare_maxima(const PairedCurves& curves) {
  std::vector<double> gibbs, flip, differences;
  for (std::size_t i = 0; i < curves.pairs(); ++i) {
    gibbs.push_back(*std::max_element(curves.gibbs[i].begin(), curves.gibbs[i].end()));
    flip.push_back(*std::max_element(curves.flip[i].begin(), curves.flip[i].end()));
    differences.push_back(flip.back() - gibbs.back());
  }
  const SignedRank test = signed_rank_test(differences);
  MaximumComparison result{.gibbs = median(gibbs), .flip = median(flip), .p = test.p_two_sided};
  const int side = test.p_greater < test.p_less ? 1 : -1;
  if (result.p < kSignificant && side * (result.flip - result.gibbs) > 0) result.sign = side;
  return result;
}

double data_ceiling(const std::string& data) { return -prepared(data).cases.entropy(); }

void add_ceiling_measure(const Results& results, Summary& summary) {
  double worst = -1e300;
  for (const Trial& trial : results.trials()) {
    const double ceiling = data_ceiling(trial.inputs.at("data"));
    for (const double value : numbers(trial.outputs.at("log_likelihood")))
      worst = std::max(worst, value - ceiling);
  }
  if (results.empty()) return;
  summary.add(Measure{.claim = "B27",
                      .estimate = worst,
                      .n = static_cast<std::int64_t>(results.trials().size()),
                      .note = "every run and checkpoint, each against its own data's ceiling"});
}

std::string negative_title(const std::string& text) {
  const Negative negative = parse_negative(text);
  if (negative.kind == "cd") return fmt::format("CD-{}", negative.sweeps);
  if (negative.kind == "pcd") return fmt::format("PCD-{}", negative.sweeps);
  return fmt::format("{}-PT{}", negative.temperatures, negative.sweeps);
}

std::string data_title(const std::string& data) {
  if (data == "bas") return "Bars and Stripes";
  if (data == "mnist") return "MNIST";
  return "Artificial Modes, p_mut = " + data.substr(data.rfind('-') + 1);
}

std::vector<int> add_maxima_table(const Results& results, const SettingsGrid& grid,
                                  const std::string& name, const std::string& caption,
                                  Summary& summary) {
  Table table{.name = name,
              .caption = caption,
              .columns = {{"data", "data"},
                          {"algorithm", "algorithm"},
                          {"η", "rate", 2},
                          {"pairs", "pairs"},
                          {"G / nats", "gibbs", 3},
                          {"T / nats", "flip", 3},
                          {"p", "p", 4}}};
  std::vector<int> signs;
  for (const std::string& data : grid.data)
    for (const std::string& negative : grid.negatives)
      for (const double rate : kRates) {
        std::vector<Cell> row{data_title(data), negative_title(negative), rate};
        const PairedCurves curves = collect_pairs(results, data, negative, rate);
        if (curves.pairs() == 0) {
          row.insert(row.end(), 4, Cell(NotRun{}));
        } else {
          const MaximumComparison maxima = compare_maxima(curves);
          const double nan = std::nan("");
          if (can_be_significant(curves.pairs())) signs.push_back(maxima.sign);
          row.emplace_back(static_cast<std::int64_t>(curves.pairs()));
          row.emplace_back(WithInterval{maxima.gibbs, nan, nan, maxima.sign < 0 ? "*" : ""});
          row.emplace_back(WithInterval{maxima.flip, nan, nan, maxima.sign > 0 ? "*" : ""});
          row.emplace_back(maxima.p);
        }
        table.rows.push_back(std::move(row));
      }
  summary.add(std::move(table));
  return signs;
}

void add_majority_measure(const std::string& claim, const std::vector<int>& signs,
                          std::size_t settings, Summary& summary) {
  const auto total = static_cast<double>(settings);
  const auto missing = total - static_cast<double>(signs.size());
  const auto better = std::count(signs.begin(), signs.end(), 1);
  const auto worse = std::count(signs.begin(), signs.end(), -1);
  if (signs.empty()) return;
  const auto net = static_cast<double>(better - worse);
  // Even if T won every setting that was run, the claim stays open while a quarter is missing:
  // (run - missing) / total must exceed 1/2.
  const bool open = missing >= total / 4;
  summary.add(Measure{
      .claim = claim,
      .estimate = net / static_cast<double>(signs.size()),
      .lower = (net - missing) / total,
      .upper = (net + missing) / total,
      .interval = missing > 0 ? "what the settings not run leave open" : "all settings",
      .n = static_cast<std::int64_t>(signs.size()),
      .power = open ? 0.0 : 1.0,
      .power_against = "T significantly better in every setting that was run",
      .note = fmt::format("T significantly better in {}, worse in {}, of {} settings run out of {}",
                          better, worse, signs.size(), settings)});
}

void add_divergence_measures(const Results& results, const SettingsGrid& grid,
                             const std::string& where, Summary& summary) {
  std::vector<Count> slowed, not_avoided;  // of each setting
  std::string settings;
  for (const std::string& data : grid.data)
    for (const std::string& negative : grid.negatives)
      for (const double rate : kRates) {
        const PairedCurves curves = collect_pairs(results, data, negative, rate);
        if (curves.pairs() == 0) continue;
        std::vector<double> gibbs, flip;
        for (std::size_t i = 0; i < curves.pairs(); ++i) {
          gibbs.push_back(drop(curves.gibbs[i]));
          flip.push_back(drop(curves.flip[i]));
        }
        if (median(gibbs) <= kDivergence) continue;
        Count less{0, gibbs.size()}, still{0, gibbs.size()};
        for (std::size_t i = 0; i < gibbs.size(); ++i) {
          less.successes += flip[i] < gibbs[i];
          still.successes += flip[i] > kDivergence;
        }
        settings += fmt::format(
            "{}{} {} η = {} (T drops less in {} of {} pairs, by more than {} nats in {}; median drop of G "
            "{:.3f}, of T {:.3f})",
            settings.empty() ? "" : "; ", data_title(data), negative_title(negative), rate,
            less.successes, less.trials, kDivergence, still.successes, median(gibbs), median(flip));
        slowed.push_back(less);
        not_avoided.push_back(still);
      }
  if (slowed.empty()) {
    summary.note(
        fmt::format("B26: learning with G diverges (median drop above {} nats) in none of the "
                    "settings run in this profile.",
                    kDivergence));
    return;
  }
  add_share("slowed" + where, slowed,
            "pairs in which T drops less; settings that diverge: " + settings, summary);
  add_share(
      "not avoided" + where, not_avoided,
      fmt::format("pairs in which T drops by more than {} nats; setting by setting under slowed",
                  kDivergence),
      summary);
}

}  // namespace boltzmark::experiments
