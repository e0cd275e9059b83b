#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "boltzmark/diagnose/interval.hpp"
#include "experiments/yokoyama2019/exact_ascent.hpp"
#include "experiments/yokoyama2019/units.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kCases = 200;
constexpr double kHeld = 0.01;  // nats per case below the best: held by a local maximum
constexpr double kRate = 0.01;
constexpr int kAscent = 10000;            // updates of a restart
constexpr int kLate = 3000, kEvery = 50;  // updates of a regularised run, and between two looks
constexpr int kExtra = 5;                 // R of the regularised runs
constexpr double kDecays[] = {1e-3, 1e-2, 3e-2, 1e-1, 3e-1};

struct Size {
  int tasks, restarts, regularised;
};
constexpr PerProfile<Size> kSize{.smoke = {1, 2, 1}, .quick = {6, 5, 5}, .paper = {100, 20, 100}};

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

/// The log-likelihood per case that each restart ends with.
Json run_restarts(const Json& inputs, const TrialContext& context) {
  const LearningTask task = draw_task(context.seed, inputs.at("repeat"), kCases);
  std::vector<double> ends;
  const int restarts = inputs.at("restarts");
  for (int i = 0; i < restarts; ++i) {
    // Starts are those of tasks that do not occur otherwise, the same for every s.
    const int start = 1000000 + i;
    ExactAscent ascent(initial_learner(context.seed, start, kTaskHidden, inputs.at("s")), task,
                       kRate);
    ascent.run(kAscent);
    ends.push_back(kTaskSpins * log_likelihood(task, ascent.log_law()));
    context.progress((i + 1.0) / restarts);
  }
  return {{"log_likelihood", ends}};
}

/// KLD without regularisation: lowest and last; with L2: last, at the best of the decays.
Json run_regularisation(const Json& inputs, const TrialContext& context) {
  const int repeat = inputs.at("repeat"), s = inputs.at("s");
  const LearningTask task = draw_task(context.seed, repeat, kCases);
  const Layered start = initial_learner(context.seed, repeat, kTaskHidden + kExtra, s);
  ExactAscent plain(start, task, kRate);
  std::vector<double> kld;
  for (int update = 0; update < kLate; update += kEvery) {
    plain.run(kEvery);
    kld.push_back(divergence(task, plain.log_law()));
  }
  std::vector<double> decayed;
  for (const double decay : kDecays) {
    ExactAscent ascent(start, task, kRate, decay);
    ascent.run(kLate);
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

/// The share of restarts held below the best one, task by task.
std::vector<double> held_shares(const Results& results, int s) {
  std::vector<double> shares;
  for (const Trial* trial : results.where({{"question", "restarts"}, {"s", s}})) {
    const std::vector<double> ends = numbers(trial->outputs.at("log_likelihood"));
    const double best = *std::max_element(ends.begin(), ends.end());
    const auto held =
        std::count_if(ends.begin(), ends.end(), [&](double end) { return end < best - kHeld; });
    shares.push_back(static_cast<double>(held) / static_cast<double>(ends.size()));
  }
  return shares;
}

/// What stopping at the lowest KLD, or the best L2 penalty, takes off the last KLD.
std::vector<double> gains(const Results& results, int s, bool stopping) {
  std::vector<double> all;
  for (const Trial* trial : results.where({{"question", "regularisation"}, {"s", s}})) {
    const std::vector<double> decayed = numbers(trial->outputs.at("decayed"));
    const double best = stopping ? number(trial->outputs.at("lowest"))
                                 : *std::min_element(decayed.begin(), decayed.end());
    all.push_back(number(trial->outputs.at("last")) - best);
  }
  return all;
}

Cell mean_cell(const std::vector<double>& values) {
  if (values.size() < 2) return NotRun{};
  const Interval mean = mean_interval(values);
  return Estimate{mean.estimate, mean.lower, mean.upper, ""};
}

void add_table(const Results& results, Summary& summary) {
  Table table{
      .name = "conjectures",
      .caption = fmt::format(
          "Share of restarts that end more than {} nats per case below the best of the same s; and "
          "what early stopping and a tuned L2 penalty take off the final KLD (nats per spin) at "
          "R = {}. Means over tasks with 95 % intervals.",
          kHeld, kExtra),
      .columns = {{"s", "s"},
                  {"share held", "held", 3},
                  {"gain of early stopping", "gain_stopping", 4},
                  {"gain of L2", "gain_l2", 4}}};
  for (const int s : kFigureSteps)
    table.rows.push_back({steps_text(s), mean_cell(held_shares(results, s)),
                          mean_cell(gains(results, s, true)), mean_cell(gains(results, s, false))});
  summary.add(std::move(table));
}

void add_measures(const Results& results, Summary& summary) {
  for (std::size_t i = 0; i + 1 < std::size(kFigureSteps); ++i) {
    const int s = kFigureSteps[i], next = kFigureSteps[i + 1];
    const std::string pair = steps_text(s) + " and " + steps_text(next);
    summary.add(paired_measure("Y22", pair, held_shares(results, next), held_shares(results, s),
                               true, "share of restarts held, higher s less lower s"));
    for (const bool stopping : {true, false})
      summary.add(paired_measure("Y23", (stopping ? "early stopping, " : "L2, ") + pair,
                                 gains(results, next, stopping), gains(results, s, stopping), true,
                                 "gain in KLD, higher s less lower s"));
  }
}

void summarise(const Results& results, Summary& summary) {
  add_table(results, summary);
  if (results.profile() == Profile::smoke || results.trials().size() < results.planned()) return;
  add_measures(results, summary);
}

}  // namespace

Experiment yokoyama2019_conjectures() {
  return {
      .id = "yokoyama2019/conjectures",
      .item = "Sec. 2.3, expectations",
      .title = "Do more values mean more local maxima, and more use of regularisation?",
      .paper_did =
          "Expects that RBMs with higher s are more easily trapped by local maxima of the "
          "likelihood, and that early stopping or L2 regularisation is more effective there; tests "
          "neither.",
      .settings = {.smoke = "One task of each question.",
                   .quick = "6 tasks with 5 restarts of 10,000 exact-gradient updates (R = 0); 5 "
                            "tasks of 3,000 updates with 5 penalties (R = 5).",
                   .paper = "100 tasks of each question, 20 restarts."},
      .seconds = {.smoke = 2, .quick = 25, .paper = 1200},
      .claims = {"Y22", "Y23"},
      .deviations = {"Gradients are exact, steps Adam's at rate 0.01, so that nothing but the "
                     "likelihood holds a restart.",
                     "Early stopping knows the true KLD: the most that a validation set could do; "
                     "likewise the choice of the penalty."},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments
