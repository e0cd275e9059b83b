#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "experiments/kit/measures.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/yokoyama2019/support/exact_ascent.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments::yokoyama2019_conjectures {
namespace {

constexpr int kCases = 200;
constexpr double kHeld = 0.01;  // nats per case below the best: held by a local maximum, ...
constexpr double kMoving = kHeld / 10;  // ... unless its last updates gained more than this
constexpr double kRate = 0.01;
constexpr int kAscent = 10000, kLast = 1000;  // updates of a restart, and its last ones
constexpr int kLate = 3000, kEvery = 50;      // updates of a regularised run, and between two looks
constexpr int kExtra = 5;                     // R of the regularised runs
constexpr double kDecays[] = {1e-3, 1e-2, 3e-2, 1e-1, 3e-1};

struct Size {
  int tasks, restarts, regularised;
};
constexpr PerProfile<Size> kSize{.smoke = {1, 2, 1}, .quick = {0, 0, 6}, .paper = {40, 10, 100}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  std::vector<Json> all;
  for (int task = 0; task < size.tasks; ++task)
    for (const int s : kFigureSteps)
      all.push_back(
          {{"question", "restarts"}, {"repeat", task}, {"s", s}, {"restarts", size.restarts}});
  for (int task = 0; task < size.regularised; ++task)
    for (const int s : kFigureSteps)
      all.push_back({{"question", "regularisation"}, {"repeat", task}, {"s", s}});
  return all;
}

/// The log-likelihood per case that each restart ends with, and what its last updates gained.
Json run_restarts(const Json& inputs, const TrialContext& context) {
  const LearningTask task = draw_task(context.seed, inputs.at("repeat"), kCases);
  std::vector<double> ends, late_gains;
  const int restarts = inputs.at("restarts");
  for (int i = 0; i < restarts; ++i) {
    // Starts are those of tasks that do not occur otherwise, the same for every s.
    const int start = 1000000 + i;
    ExactAscent ascent(initial_learner(context.seed, start, kTaskHidden, inputs.at("s")), task,
                       kRate);
    ascent.advance(kAscent - kLast);
    const double before = kTaskSpins * log_likelihood(task, ascent.log_law());
    ascent.advance(kLast);
    ends.push_back(kTaskSpins * log_likelihood(task, ascent.log_law()));
    late_gains.push_back(ends.back() - before);
    context.progress((i + 1.0) / restarts);
  }
  return {{"log_likelihood", ends}, {"late_gain", late_gains}};
}

/// KLD without regularisation: lowest and last; with L2: last, at the best of the decays.
Json run_regularisation(const Json& inputs, const TrialContext& context) {
  const int repeat = inputs.at("repeat"), s = inputs.at("s");
  const LearningTask task = draw_task(context.seed, repeat, kCases);
  const Layered start = initial_learner(context.seed, repeat, kTaskHidden + kExtra, s);
  ExactAscent plain(start, task, kRate);
  std::vector<double> kld;
  for (int update = 0; update < kLate; update += kEvery) {
    plain.advance(kEvery);
    kld.push_back(divergence(task, plain.log_law()));
  }
  std::vector<double> decayed;
  for (const double decay : kDecays) {
    ExactAscent ascent(start, task, kRate, decay);
    ascent.advance(kLate);
    decayed.push_back(divergence(task, ascent.log_law()));
    context.progress(static_cast<double>(decayed.size()) / std::size(kDecays));
  }
  return {{"last", kld.back()},
          {"lowest", *std::min_element(kld.begin(), kld.end())},
          {"decayed", decayed}};
}

Json run(const Json& inputs, const TrialContext& context) {
  return inputs.at("question") == "restarts" ? run_restarts(inputs, context)
                                             : run_regularisation(inputs, context);
}

/// What became of a task's restarts, as shares: held below the best one, or still moving, when a
/// restart that is only slow would pass for held.
struct Restarts {
  double held = 0, moving = 0;
  explicit Restarts(const Trial& trial) {
    const std::vector<double> ends = numbers(trial.outputs.at("log_likelihood"));
    const std::vector<double> late_gains = numbers(trial.outputs.at("late_gain"));
    const double best = *std::max_element(ends.begin(), ends.end());
    const double share = 1 / static_cast<double>(ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (late_gains[i] > kMoving)
        moving += share;
      else if (ends[i] < best - kHeld)
        held += share;
    }
  }
};

std::vector<double> restarts(const Results& results, int s, double Restarts::*share) {
  std::vector<double> all;
  for (const Trial* trial : results.where({{"question", "restarts"}, {"s", s}}))
    all.push_back(Restarts(*trial).*share);
  return all;
}

/// The KLDs of a regularised run.
double last(const Trial& trial) { return number(trial.outputs.at("last")); }
double lowest(const Trial& trial) { return number(trial.outputs.at("lowest")); }
double decayed(const Trial& trial) {
  const std::vector<double> all = numbers(trial.outputs.at("decayed"));
  return *std::min_element(all.begin(), all.end());
}
/// What stopping at the lowest KLD, or the best L2 penalty, takes off the last KLD.
double gain_of_stopping(const Trial& trial) { return last(trial) - lowest(trial); }
double gain_of_decay(const Trial& trial) { return last(trial) - decayed(trial); }

std::vector<double> regularised(const Results& results, int s, double (*statistic)(const Trial&)) {
  std::vector<double> all;
  for (const Trial* trial : results.where({{"question", "regularisation"}, {"s", s}}))
    all.push_back(statistic(*trial));
  return all;
}

void add_table(const Results& results, Summary& summary) {
  Table table{
      .name = "conjectures",
      .caption = fmt::format(
          "Share of restarts that end more than {} nats per case below the best of the same s, and "
          "of those that still gained more than {} in their last {} updates and so are not counted "
          "as held. At R = {}, KLD (nats per spin) at the end, at its lowest, and at the end with "
          "the best L2 penalty; and what early stopping and that penalty take off the end. Means "
          "over tasks with 95 % intervals.",
          kHeld, kMoving, kLast, kExtra),
      .columns = {{"s", "s"},
                  {"share held", "held", 3},
                  {"share moving", "moving", 3},
                  {"last KLD", "last", 4},
                  {"lowest KLD", "lowest", 4},
                  {"KLD with L2", "l2", 4},
                  {"gain of early stopping", "gain_stopping", 4},
                  {"gain of L2", "gain_l2", 4}}};
  for (const int s : kFigureSteps) {
    std::vector<Cell> row{steps_text(s), mean_cell(restarts(results, s, &Restarts::held)),
                          mean_cell(restarts(results, s, &Restarts::moving))};
    for (const auto statistic : {last, lowest, decayed, gain_of_stopping, gain_of_decay})
      row.push_back(mean_cell(regularised(results, s, statistic)));
    table.rows.push_back(std::move(row));
  }
  summary.add(std::move(table));
  summary.note(
      "The gain of early stopping, last less lowest, is the rise of the KLD that Y08 compares, and "
      "the paper expects opposite orders of the two: over-fitting that is slower at higher s, and "
      "early stopping that gains more there. What is reached, the lowest KLD and that with L2, "
      "shows which s is the better one once regularised.");
}

void add_measures(const Results& results, Summary& summary) {
  for (std::size_t i = 0; i + 1 < std::size(kFigureSteps); ++i) {
    const int s = kFigureSteps[i], next = kFigureSteps[i + 1];
    const std::string pair = steps_text(s) + " and " + steps_text(next);
    if (results.planned({{"question", "restarts"}}) > 0)
      summary.add(paired_measure("Y22", pair, restarts(results, next, &Restarts::held),
                                 restarts(results, s, &Restarts::held), true,
                                 "share of restarts held, higher s less lower s"));
    summary.add(paired_measure("Y23", "early stopping, " + pair,
                               regularised(results, next, gain_of_stopping),
                               regularised(results, s, gain_of_stopping), true,
                               "gain in KLD, higher s less lower s; the rise of Y08, there lower s "
                               "less higher s"));
    summary.add(paired_measure("Y23", "L2, " + pair, regularised(results, next, gain_of_decay),
                               regularised(results, s, gain_of_decay), true,
                               "gain in KLD, higher s less lower s"));
  }
}

void summarise(const Results& results, Summary& summary) {
  add_table(results, summary);
  if (results.profile() == Profile::smoke || results.trials().size() < results.planned()) return;
  add_measures(results, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/conjectures",
      .item = "Sec. 2.3, expectations",
      .title = "Do more values mean more local maxima, and more use of regularisation?",
      .paper_did =
          "Expects that RBMs with higher s are more easily trapped by local maxima of the "
          "likelihood, and that early stopping or L2 regularisation is more effective there; tests "
          "neither.",
      .settings = {.smoke = "One task of each question.",
                   .quick = "6 tasks of 3,000 exact-gradient updates with 5 penalties (R = 5); no "
                            "restarts (R = 0), which few tasks would not decide.",
                   .paper =
                       "40 tasks with 10 restarts of 10,000 updates; 100 tasks with 5 penalties."},
      .seconds = {.smoke = 2, .quick = 10, .paper = 480},
      .claims = {"Y22", "Y23"},
      .deviations =
          {"Gradients are exact, steps Adam's at rate 0.01, so that nothing but the "
           "likelihood holds a restart.",
           "Early stopping knows the true KLD: the most that a validation set could do; "
           "likewise the choice of the penalty.",
           "The ten starts are the same for every task and s: intervals of the shares held are over "
           "tasks, given these starts.",
           "A restart whose last 1,000 updates gain more than 0.001 nats per case is slow "
           "rather than held, and is not counted."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_conjectures
