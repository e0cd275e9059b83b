#include "experiments/yokoyama2019/support/learning.hpp"

#include <fmt/format.h>

#include <cmath>

#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/yokoyama2019/support/spin_law.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kBiasSd = 0.1;

StreamKey key_of(std::uint64_t seed, const std::string& name) {
  return make_key(seed, "yokoyama2019/learning", name);
}

Layered generating_rbm(StreamKey key) {
  Layered rbm = xavier_rbm(kTaskSpins, kTaskHidden, key,
                           {.visible = Unit::multivalued(1), .hidden = Unit::multivalued(1)});
  Parameters biases = rbm.zero_parameters();
  Stream stream(key, Purpose::start);
  for (Eigen::VectorXd& values : biases.biases)
    for (double& value : values) value = kBiasSd * stream.normal();
  rbm.add(biases, 1);
  return rbm;
}

/// Finds the first state at which the cumulated law passes u.
Eigen::Index draw_state(const Eigen::VectorXd& law, double u) {
  Eigen::Index x = 0;
  for (double sum = law[0]; sum < u && x + 1 < law.size(); sum += law[x]) ++x;
  return x;
}

Json train_one(const Json& inputs, int s, const LearningTask& task, std::uint64_t seed) {
  const int extra = inputs.at("extra"), repeat = inputs.at("repeat");
  Trainer trainer(initial_learner(seed, repeat, kTaskHidden + extra, s), task.data,
                  {.optimiser = Optimiser::adam(),
                   .learning_rate = Optimiser::adam().default_rate(),
                   .updates = static_cast<std::uint64_t>(kLearningUpdates)},
                  key_of(seed, fmt::format("training {}", repeat)));
  std::vector<double> kld, likelihood;
  trainer.run(kRecordUpdates, [&](const Trainer& now) {
    const Eigen::VectorXd log_law = log_spin_law(now.model());
    kld.push_back(divergence(task, log_law));
    likelihood.push_back(log_likelihood(task, log_law));
  });
  return {{"kld", kld}, {"log_likelihood", likelihood}};
}

}  // namespace

LearningTask draw_task(std::uint64_t seed, int repeat, int cases) {
  const StreamKey key = key_of(seed, fmt::format("task {}", repeat));
  const Eigen::MatrixXd states = spin_states(kTaskSpins);
  LearningTask task{.log_law = log_spin_law(generating_rbm(key)),
                    .empirical = Eigen::VectorXd::Zero(states.cols()),
                    .data = Eigen::MatrixXf(kTaskSpins, cases)};
  const Eigen::VectorXd law = task.log_law.array().exp();
  Stream stream(key, Purpose::data);
  for (int c = 0; c < cases; ++c) {
    const Eigen::Index x = draw_state(law, stream.uniform());
    task.empirical[x] += 1.0 / cases;
    task.data.col(c) = states.col(x).cast<float>();
  }
  return task;
}

Layered initial_learner(std::uint64_t seed, int repeat, int hidden, int s) {
  return xavier_rbm(kTaskSpins, hidden, key_of(seed, fmt::format("start {} of {}", repeat, hidden)),
                    {.visible = Unit::multivalued(1), .hidden = unit_of_steps(s)});
}

double divergence(const LearningTask& task, const Eigen::VectorXd& log_law) {
  return task.log_law.array().exp().matrix().dot(task.log_law - log_law) / kTaskSpins;
}

double log_likelihood(const LearningTask& task, const Eigen::VectorXd& log_law) {
  return task.empirical.dot(log_law) / kTaskSpins;
}

Json learning_trial(int extra, int repeat, int cases, const std::vector<int>& steps) {
  return {{"extra", extra}, {"repeat", repeat}, {"cases", cases}, {"steps", steps}};
}

Json run_learning(const Json& inputs, const TrialContext& context) {
  const LearningTask task = draw_task(context.seed, inputs.at("repeat"), inputs.at("cases"));
  Json outputs;
  for (const int s : inputs.at("steps")) {
    outputs[std::to_string(s)] = train_one(inputs, s, task, context.seed);
    context.progress(static_cast<double>(outputs.size()) /
                     static_cast<double>(inputs.at("steps").size()));
  }
  return outputs;
}

std::vector<std::vector<double>> learning_curves(const Results& results, const Json& filter, int s,
                                                 const char* measure) {
  std::vector<std::vector<double>> curves;
  for (const Trial* trial : results.where(filter))
    curves.push_back(numbers(trial->outputs.at(std::to_string(s)).at(measure)));
  return curves;
}

Figure learning_figure(const Results& results, const char* measure, const std::string& label) {
  Figure figure;
  figure.columns = 2;
  std::vector<double> updates;
  for (int u = 0; u <= kLearningUpdates; u += kRecordUpdates) updates.push_back(u);
  for (const int extra : {0, 5}) {
    Panel panel{.title = fmt::format("({}) R = {}", extra == 0 ? "a" : "b", extra),
                .x = {.label = "updates (epochs)"},
                .y = {.label = label}};
    int colour = 0;
    for (const int s : kFigureSteps) {
      const auto curves = learning_curves(results, {{"extra", extra}}, s, measure);
      if (curves.empty()) continue;
      panel.series.push_back(
          band({.label = "s = " + steps_text(s), .colour = colour++}, updates, curves));
    }
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

}  // namespace boltzmark::experiments
