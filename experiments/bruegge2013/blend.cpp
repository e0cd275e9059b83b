#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/spectrum/spectrum.hpp"
#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/bruegge2013/support/random_rbm.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/wilcoxon.hpp"

namespace boltzmark::experiments::bruegge2013_blend {
namespace {

constexpr double kShares[] = {0, 0.25, 0.5, 0.75, 1};
constexpr double kLargestWeights[] = {1, 2, 4, 8};
constexpr int kUnits = 3;
constexpr int kSwitch = 5000;  ///< updates with G before T takes over
constexpr int kRecordEvery = 100;
constexpr PerProfile<int> kModels{.smoke = 5, .quick = 100, .paper = 1000};
constexpr PerProfile<int> kRepeats{.smoke = 2, .quick = 10, .paper = 25};
constexpr PerProfile<int> kUpdates{.smoke = 300, .quick = 20000, .paper = 20000};

std::vector<Json> trials(Profile profile) {
  std::vector<Json> all;
  for (const double c : kLargestWeights)
    all.push_back({{"part", "spectrum"}, {"c", c}, {"models", kModels.at(profile)}});
  for (int repeat = 0; repeat < kRepeats.at(profile); ++repeat) {
    for (const double share : kShares)
      all.push_back({{"part", "training"},
                     {"schedule", fmt::format("blend:{}", share)},
                     {"repeat", repeat},
                     {"updates", kUpdates.at(profile)}});
    all.push_back({{"part", "training"},
                   {"schedule", "switch"},
                   {"repeat", repeat},
                   {"updates", kUpdates.at(profile)}});
  }
  return all;
}

/// SLEMs of T_a on random 3x3 RBMs, weights uniform on [-c, c], no biases.
Json run_spectrum(const Json& inputs, const TrialContext& context) {
  const SquareRbms rbms{.units = kUnits, .c = inputs.at("c"), .count = inputs.at("models")};
  Json outputs;
  for_each_rbm(rbms, context.key, context, [&](const Layered& model, Stream&) {
    for (const double share : kShares)
      outputs[fmt::format("{}", share)].push_back(spectrum(model, Rule::blended(share)).slem);
  });
  return outputs;
}

/// CD-5 on Bars and Stripes, learning rate 0.05: one rule throughout, or G first and T later.
Json run_schedule(const Json& inputs, const TrialContext& context) {
  static const CaseValues data = load_dataset("bas").values;
  static const Cases cases(data);
  const StreamKey key =
      context.shared_key(fmt::format("repeat {}", inputs.at("repeat").get<int>()));
  const std::string schedule = inputs.at("schedule");
  const auto updates = inputs.at("updates").get<std::uint64_t>();
  std::vector<double> curve;
  const auto train = [&](const Layered& start, const Rule& rule, std::uint64_t count,
                         StreamKey draws) {
    Trainer trainer(start, data,
                    {.negative = Negative::cd(5),
                     .rule = rule,
                     .learning_rate = 0.05,
                     .batch = 0,
                     .updates = count},
                    draws);
    trainer.run(kRecordEvery, [&](const Trainer& now) {
      curve.push_back(exact_mean_log_likelihood(now.model(), cases));
      context.progress(static_cast<double>(curve.size() * kRecordEvery) /
                       static_cast<double>(updates));
    });
    return trainer.model();
  };
  const Layered start = initial_rbm(16, 16, 0.01, key);
  if (schedule == "switch") {
    const std::uint64_t first = std::min<std::uint64_t>(kSwitch, updates / 2);
    const Layered grown = train(start, Rule::gibbs(), first, key);
    curve.pop_back();  // recorded again as the first point after the switch
    // CD keeps no state between updates; the second part needs draws of its own.
    train(grown, Rule::flip(), updates - first, context.key);
  } else {
    train(start, parse_rule(schedule), updates, key);
  }
  return {{"log_likelihood", curve}};
}

Json run(const Json& inputs, const TrialContext& context) {
  return inputs.at("part") == "spectrum" ? run_spectrum(inputs, context)
                                         : run_schedule(inputs, context);
}

void add_measure(const std::string& part, const std::vector<double>& differences,
                 const std::string& note, Summary& summary) {
  if (differences.size() < 2) return;
  summary.add(mean_measure({.claim = "B36", .part = part, .note = note}, differences));
}

void add_spectra(const Results& results, Summary& summary) {
  Panel panel{.x = {.label = "a, the share of T in T_a"},
              .y = {.label = "mean SLEM", .low = 0, .high = 0.9},
              .series = {},
              .legend = "top center"};
  std::vector<double> differences;
  std::string by_size;
  for (const Trial* trial : results.where({{"part", "spectrum"}})) {
    Series series{.label = fmt::format("c = {}", number(trial->inputs.at("c"))),
                  .mark = Mark::line_points};
    for (const double share : kShares)
      add_mean(series, share, numbers(trial->outputs.at(fmt::format("{}", share))));
    const auto half = numbers(trial->outputs.at("0.5")), flip = numbers(trial->outputs.at("1")),
               gibbs = numbers(trial->outputs.at("0"));
    std::vector<double> own;
    for (std::size_t i = 0; i < half.size(); ++i)
      own.push_back(half[i] - std::min(flip[i], gibbs[i]));
    differences.insert(differences.end(), own.begin(), own.end());
    by_size += fmt::format("{} {:.3f} at c = {}", by_size.empty() ? ":" : ",", mean_of(own),
                           number(trial->inputs.at("c")));
    panel.series.push_back(std::move(series));
  }
  summary.add(Figure{.name = "slem",
                     .caption =
                         "SLEM of T_a = a T + (1 − a) G, unit by unit, on random 3x3 RBMs with "
                         "weights uniform on [−c, c]; 95 % intervals of the mean.",
                     .panels = {std::move(panel)}});
  add_measure("blend, SLEM", differences,
              "SLEM(T_0.5) − the smaller of SLEM(T) and SLEM(G), per RBM, means" + by_size,
              summary);
}

/// The last and largest log-likelihoods of a schedule.
struct Outcome {
  ByRepeat last, best;
};

Outcome outcome(const Results& results, const std::string& schedule) {
  const auto runs = results.where({{"part", "training"}, {"schedule", schedule}});
  const auto curve = [](const Trial& run) { return numbers(run.outputs.at("log_likelihood")); };
  return {.last = by_repeat(runs, "repeat", [&](const Trial& run) { return curve(run).back(); }),
          .best = by_repeat(runs, "repeat",
                            [&](const Trial& run) { return std::ranges::max(curve(run)); })};
}

void add_training(const Results& results, Summary& summary) {
  Table table{.name = "training",
              .caption =
                  "CD-5 on Bars and Stripes, η = 0.05: log-likelihood per image, mean with 95 % "
                  "interval. Switch: G for the first 5,000 updates, then T.",
              .columns = {{"schedule", "schedule"},
                          {"runs", "runs"},
                          {"final / nats", "final", 4},
                          {"largest / nats", "largest", 4}}};
  std::vector<std::string> schedules;
  for (const double share : kShares) schedules.push_back(fmt::format("blend:{}", share));
  schedules.emplace_back("switch");
  for (const std::string& schedule : schedules) {
    const Outcome found = outcome(results, schedule);
    if (found.last.size() < 2) {
      table.rows.push_back(
          {schedule, static_cast<std::int64_t>(found.last.size()), NotRun{}, NotRun{}});
      continue;
    }
    const Interval last = mean_interval(values_of(found.last)),
                   best = mean_interval(values_of(found.best));
    table.rows.push_back({schedule, static_cast<std::int64_t>(found.last.size()),
                          WithInterval{last.estimate, last.lower, last.upper},
                          WithInterval{best.estimate, best.lower, best.upper}});
  }
  summary.add(std::move(table));
  const ByRepeat flip = outcome(results, "blend:1").last;
  add_measure("blend, LL", differences_of(outcome(results, "blend:0.5").last, flip),
              "final log-likelihood, T_0.5 − T, paired by repeat", summary);
  add_measure("switch, LL", differences_of(outcome(results, "switch").last, flip),
              "final log-likelihood, G then T − T throughout, paired by repeat", summary);
  add_measure("switch against G, LL",
              differences_of(outcome(results, "switch").last, outcome(results, "blend:0").last),
              "final log-likelihood, G then T − G throughout, paired by repeat", summary);
}

void summarise(const Results& results, Summary& summary) {
  add_spectra(results, summary);
  add_training(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "bruegge2013/blend",
      .item = "Sec. 5.2 (proposal)",
      .title = "Does mixing the operators help: a blend T_a, or G first and T later?",
      .paper_did =
          "Proposes, without an experiment, to start with G and switch to T as the weights "
          "grow, or to blend the base operators, T_a = a T + (1 − a) G.",
      .settings = {.smoke = "5 random RBMs per c; 2 repeats of 300 updates.",
                   .quick =
                       "SLEM on 100 random 3x3 RBMs per c = 1, 2, 4, 8; CD-5 on Bars and Stripes, "
                       "η = 0.05, 10 repeats of 20,000 updates for each schedule.",
                   .paper = "SLEM on 1000 random 3x3 RBMs per c; 25 repeats of 20,000 updates."},
      .seconds = {.smoke = 1, .quick = 8, .paper = 120},
      .claims = {"B36"},
      .deviations =
          {"The paper proposes this experiment and does not run it; the switch after 5,000 "
           "updates is our choice."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::bruegge2013_blend
