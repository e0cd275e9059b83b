#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "boltzmark/learn/classes/discriminative.hpp"
#include "boltzmark/learn/initial.hpp"
#include "boltzmark/random/stream.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/paired.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "experiments/kit/summary.hpp"
#include "experiments/yokoyama2019/support/units.hpp"

namespace boltzmark::experiments::yokoyama2019_fig6 {
namespace {

constexpr int kClasses = 10;
constexpr int kSteps[] = {1, 0};  // s = 1 and infinity
constexpr float kSigma = 120.0F / 255;

/// What one experiment of a profile is.
struct Size {
  int repeats, hidden, cases, test_cases;
  std::vector<int> epochs;  ///< at which the errors are recorded
};
const PerProfile<Size> kSize{
    .smoke = {2, 20, 200, 500, {0, 1, 2}},
    .quick = {8, 200, 1000, 10000, {0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50}},
    .paper = {120, 200, 1000, 10000, {0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50}}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  std::vector<Json> all;
  for (int repeat = 0; repeat < size.repeats; ++repeat)
    all.push_back({{"repeat", repeat},
                   {"hidden", size.hidden},
                   {"cases", size.cases},
                   {"test_cases", size.test_cases},
                   {"epochs", size.epochs}});
  return all;
}

const Dataset& digits(bool test) {
  static const Dataset train = load_dataset("mnist:train", {.kind = BinariseOptions::Kind::grey});
  static const Dataset all_test = load_dataset("mnist:test", {.kind = BinariseOptions::Kind::grey});
  return test ? all_test : train;
}

/// Draws training cases from all of MNIST's, without replacement.
LabelledCases draw_cases(int count, StreamKey key) {
  const Dataset& all = digits(false);
  std::vector<int> order(all.labels.size());
  std::iota(order.begin(), order.end(), 0);
  Stream stream(key, Purpose::data);
  Eigen::MatrixXf inputs(all.values.rows(), count);
  std::vector<int> labels;
  for (int c = 0; c < count; ++c) {
    const auto left = static_cast<std::uint64_t>(order.size()) - static_cast<std::uint64_t>(c);
    std::swap(order[c], order[static_cast<std::size_t>(c) + stream.below(left)]);
    inputs.col(c) = all.values.col(order[c]);
    labels.push_back(all.labels[order[c]]);
  }
  return {inputs, std::move(labels), kClasses};
}

/// The first test images; with noise: x + 120 N(0, 1), clipped to 0..255, over 255.
LabelledCases test_cases(int count, bool noise, StreamKey key) {
  const Dataset& all = digits(true);
  Eigen::MatrixXf inputs = all.values.leftCols(count);
  Stream stream(key, Purpose::data, 1);
  if (noise)
    for (float& value : inputs.reshaped())
      value = std::clamp(value + kSigma * static_cast<float>(stream.normal()), 0.0F, 1.0F);
  return {inputs, {all.labels.begin(), all.labels.begin() + count}, kClasses};
}

/// Trains one model and records its errors at the epochs asked for.
Json train(int s, const Json& inputs, const LabelledCases& cases, const LabelledCases& noisy,
           const LabelledCases& clean, StreamKey key) {
  const std::vector<int> epochs = inputs.at("epochs");
  DiscriminativeTrainer trainer(
      xavier_discriminative(unit_of_steps(s), cases.inputs(), inputs.at("hidden"), kClasses, key),
      cases, {.batch = std::min(100, cases.count())}, key);
  std::vector<double> train_error, test_error, clean_error, train_likelihood;
  for (const int epoch : epochs) {
    while (trainer.updates() < static_cast<std::uint64_t>(epoch) * trainer.updates_per_epoch())
      trainer.step();
    const ClassScore score = score_classes(trainer.model(), cases);
    train_error.push_back(score.error_rate());
    train_likelihood.push_back(score.mean_log_likelihood);
    test_error.push_back(score_classes(trainer.model(), noisy).error_rate());
    clean_error.push_back(score_classes(trainer.model(), clean).error_rate());
  }
  return {{"train", train_error},
          {"test", test_error},
          {"clean", clean_error},
          {"log_likelihood", train_likelihood}};
}

Json run(const Json& inputs, const TrialContext& context) {
  const LabelledCases cases = draw_cases(inputs.at("cases"), context.key);
  const LabelledCases noisy = test_cases(inputs.at("test_cases"), true, context.key);
  const LabelledCases clean = test_cases(inputs.at("test_cases"), false, context.key);
  Json outputs;
  for (const int s : kSteps) {
    outputs[std::to_string(s)] = train(s, inputs, cases, noisy, clean, context.key);
    context.progress(s == kSteps[0] ? 0.5 : 1.0);
  }
  return outputs;
}

/// The curves of one measure.  Shapes  [repeats][epochs]
std::vector<std::vector<double>> curves(const Results& results, int s, const char* measure) {
  std::vector<std::vector<double>> all;
  for (const Trial& trial : results.trials())
    all.push_back(numbers(trial.outputs.at(std::to_string(s)).at(measure)));
  return all;
}

Panel make_panel(const Results& results, const std::vector<double>& epochs, const char* measure,
                 const char* title, double lowest = std::numeric_limits<double>::quiet_NaN()) {
  Panel panel{.title = title,
              .x = {.label = "epochs"},
              .y = {.label = "misclassification rate", .low = lowest},
              .legend = "top right"};
  int colour = 0;
  for (const int s : kSteps) {
    Series series = band({.label = "s = " + steps_text(s), .colour = colour++}, epochs,
                         curves(results, s, measure));
    // Before the first update nine in ten are wrong; the curves begin after it.
    for (auto* values : {&series.x, &series.y, &series.lower, &series.upper})
      if (!values->empty()) values->erase(values->begin());
    panel.series.push_back(std::move(series));
  }
  return panel;
}

void add_measures(const Results& results, const std::vector<double>& epochs, const char* claim,
                  const char* measure, bool rises, Summary& summary) {
  const auto spins = curves(results, 1, measure), continuous = curves(results, 0, measure);
  for (const int epoch : {5, 10, 20, 30}) {
    const auto found = std::find(epochs.begin(), epochs.end(), epoch);
    if (found == epochs.end()) continue;
    const auto at = static_cast<std::size_t>(found - epochs.begin());
    const auto now = [at](const std::vector<std::vector<double>>& all) {
      std::vector<double> values;
      for (const std::vector<double>& curve : all) values.push_back(curve[at]);
      return values;
    };
    summary.add(paired_measure(claim, fmt::format("epoch {}", epoch), now(continuous), now(spins),
                               rises,
                               "difference of rates, s = ∞ less s = 1; pairs share images, noise, "
                               "initial weights and minibatches",
                               1));
  }
}

/// What noise has to do with it: the same test images as they are.
void add_clean_note(const Results& results, const std::vector<double>& epochs, Summary& summary) {
  const auto spins = curves(results, 1, "clean"), continuous = curves(results, 0, "clean");
  std::vector<double> differences;
  for (std::size_t i = 0; i < spins.size(); ++i)
    differences.push_back(continuous[i].back() - spins[i].back());
  if (differences.size() < 2) return;
  const Interval last = mean_interval(differences);
  summary.note(fmt::format(
      "Is it over-fitting that noise shows? On the same test images without noise, the rate of "
      "s = ∞ less that of s = 1 after {} epochs is {:.4f} [{:.4f}, {:.4f}].",
      epochs.back(), last.estimate, last.lower, last.upper));
}

void summarise(const Results& results, Summary& summary) {
  if (results.empty()) return;
  const auto epochs = results.trials().front().inputs.at("epochs").get<std::vector<double>>();
  summary.add(Figure{.name = "errors",
                     .caption = fmt::format(
                         "Misclassification rates against epochs of 10 updates: (a) training "
                         "images, (b) test images with noise of σ = 120, (c) test images as "
                         "they are (not in the paper). Means of {} experiments with 95 % bands.",
                         results.trials().size()),
                     .panels = {make_panel(results, epochs, "train", "(a) training", 0),
                                make_panel(results, epochs, "test", "(b) test, with noise"),
                                make_panel(results, epochs, "clean", "(c) test, without noise")},
                     .columns = 3});
  if (results.profile() == Profile::smoke) return;
  add_measures(results, epochs, "Y20", "train", true, summary);
  add_measures(results, epochs, "Y21", "test", false, summary);
  add_clean_note(results, epochs, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "yokoyama2019/fig6",
      .item = "Fig. 6",
      .title =
          "Do continuous hidden units raise the training error and lower that on noisy images?",
      .paper_did =
          "Trains discriminative RBMs with 200 hidden units, s = 1 and infinity, on 1,000 images "
          "of "
          "MNIST (batches of 100, AdaMax, Xavier initialisation) and plots the rates of "
          "misclassified training images and of 10,000 test images with Gaussian noise; 120 "
          "experiments.",
      .settings = {.smoke = "2 experiments with 20 hidden units, 200 images and 2 epochs.",
                   .quick = "8 experiments of 50 epochs.",
                   .paper = "120 experiments of 50 epochs."},
      .seconds = {.smoke = 2, .quick = 40, .paper = 450},
      .claims = {"Y20", "Y21"},
      .deviations =
          {"Which 1,000 images is not stated: each experiment draws its own from the 60,000, and "
           "its own noise.",
           "The length of training is not stated: 50 epochs, after which both models have learnt "
           "almost every training image.",
           "AdaMax's settings are not stated: its authors' defaults, rate 0.002.",
           "The epochs at which Y20 and Y21 are judged, 5, 10, 20 and 30, are ours, chosen after "
           "probe runs. At the first epoch or two the order of Y21 is reversed, s = infinity "
           "learning more slowly; the figure shows that part, which is not judged.",
           "Panel (c), the test images without noise, is not in the paper."},
      .data = {"mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz",
               "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::yokoyama2019_fig6
