#include <fmt/format.h>

#include <numeric>

#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/kit/statistics/power.hpp"
#include "experiments/salakhutdinov2010/support/committed_models.hpp"
#include "experiments/salakhutdinov2010/support/nearest_labels.hpp"
#include "experiments/salakhutdinov2010/support/sampled_images.hpp"

namespace boltzmark::experiments::salakhutdinov2010_fig4 {
namespace {

constexpr int kTemperatures = 20;
constexpr int kSide = 28;         // of an image of MNIST, in pixels
constexpr double kSeeAll = 0.65;  // share of the particles that S14's power is told against

struct Size {
  const char* model;
  int chains, burn_in, steps, images;
};
constexpr PerProfile<Size> kSize{.smoke = {"mnist-20-30", 4, 10, 5, 3},
                                 .quick = {"mnist-500-1000-cast", 64, 1000, 300, 11},
                                 .paper = {"mnist-500-1000-cast", 256, 1000, 300, 21}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  if (!has_model(deep_model_file(size.model))) return {};
  return {inputs_of({.model = size.model,
                     .chains = size.chains,
                     .burn_in = size.burn_in,
                     .steps = size.steps,
                     .images = size.images,
                     .temperatures = kTemperatures})};
}

const NearestLabels& training_images() {
  static const NearestLabels images = [] {
    const Dataset data = load_dataset("mnist:train");
    return NearestLabels(data.values.matrix(), data.labels);
  }();
  return images;
}

Json run(const Json& inputs, const TrialContext& context) {
  return sample_images(
      committed_model(deep_model_file(inputs.at("model").get<std::string>())), inputs,
      [](const Eigen::Ref<const Eigen::MatrixXf>& states) {
        return training_images().classes(states);
      },
      context);
}

void add_path(const Json& outputs, Summary& summary) {
  Series path{.label = "", .y = numbers(outputs.at("path")), .mark = Mark::steps, .colour = 2};
  path.x.resize(path.y.size());
  std::iota(path.x.begin(), path.x.end(), 0);
  summary.add(Figure{
      .name = "temperatures",
      .caption = "The temperature of one particle over its first updates after burn-in; level 1 is "
                 "the model's.",
      .panels = {Panel{.x = {.label = "number of Gibbs updates"},
                       .y = {.label = "temperature level k", .low = 0, .high = kTemperatures + 1},
                       .series = {std::move(path)}}}});
}

/// A thousand over the sweeps after burn-in in which round trips are counted.
double per_thousand(const Json& inputs) {
  return 1000 / (number(inputs.at("steps")) * (number(inputs.at("images")) - 1));
}

void add_table(const Trial& trial, Summary& summary) {
  const Json& outputs = trial.outputs;
  Table table{
      .name = "mixing",
      .caption =
          "Means over chains with 95 % intervals: class changes per pair of successive "
          "images; temperature levels seen within 1,000 updates; round trips from b = 1 to "
          "the lowest b and back, all after burn-in scaled to 1,000 sweeps, and likewise those "
          "of a walk that accepts between two levels as often, in either direction alike: "
          "expected, exactly.",
      .columns = {{"sampler", "sampler"},
                  {"changes per pair", "changes"},
                  {"levels", "levels", 1},
                  {"round trips in 1,000 sweeps", "trips", 2},
                  {"of a walk", "walk", 2}}};
  const auto mean = [&](const char* what) { return mean_cell(numbers(outputs.at(what))); };
  const auto trips = [&](const char* what) {
    std::vector<double> all = numbers(outputs.at(what));
    for (double& count : all) count *= per_thousand(trial.inputs);
    return mean_cell(all);
  };
  const auto changes = [&](const char* sampler) {
    return mean_cell(change_shares(outputs.at("classes").at(sampler)));
  };
  table.rows.push_back({"Gibbs", changes("gibbs"), "–", "–", "–"});
  table.rows.push_back(
      {"adaptive ST", changes("st"), mean("levels"), trips("trips"), trips("expected_trips")});
  summary.add(std::move(table));
}

void add_claims(const Trial& trial, Summary& summary) {
  const Json& outputs = trial.outputs;
  add_change_measures("S13", outputs, summary);
  const std::vector<double> levels = numbers(outputs.at("levels")),
                            walk = numbers(outputs.at("expected_trips"));
  Measure seen = interval_measure(
      {.claim = "S14", .part = "levels", .note = "median over particles, 1,000 updates of each"},
      median_interval(levels), levels.size());
  // The interval of a median begins at all levels where a sign test says that most particles see them.
  seen.power = binomial_power(levels.size(), 0.5, kSeeAll, 0.025, Alternative::greater);
  seen.power_against = fmt::format("a share of {} of the particles that see all", kSeeAll);
  summary.add(std::move(seen));
  const double expected = mean_of(walk);
  if (expected == 0) return;  // neither goes round
  std::vector<double> ratios = numbers(outputs.at("trips"));
  for (double& trips : ratios) trips /= expected;
  summary.add(
      mean_measure({.claim = "S14",
                    .part = "round trips",
                    .note = fmt::format("of a particle, over the walk's, {:.3g} in 1,000 sweeps",
                                        expected * per_thousand(trial.inputs))},
                   ratios));
}

void summarise(const Results& results, Summary& summary) {
  const Size& size = kSize.at(results.profile());
  if (results.planned() == 0) return note_absent_model(deep_model_file(size.model), summary);
  if (results.empty()) return;
  const Trial& trial = results.trials().front();
  add_images(trial.outputs, {.rows = kSide, .cols = kSide},
             fmt::format("Samples of three chains of either kind, a row a chain, {} Gibbs steps "
                         "between images, after {} steps from a random state; of adaptive ST the "
                         "last state at b = 1.",
                         size.steps, size.burn_in),
             summary);
  add_path(trial.outputs, summary);
  add_table(trial, summary);
  if (results.profile() != Profile::smoke) add_claims(trial, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/fig4",
      .item = "Fig. 4 (left, middle)",
      .title = "Does adaptive tempering move between digits where Gibbs sampling stays?",
      .paper_did =
          "Trains a DBM 784-500-1000 on MNIST by CAST and shows samples of a Gibbs chain and of "
          "adaptive simulated tempering, 300 steps between images after 1,000 steps from a random "
          "start, and one particle's path through the 20 temperatures.",
      .settings =
          {.smoke = "4 chains of a small model, three images 5 steps apart.",
           .quick =
               "A 784-500-1000 DBM that CAST has trained on MNIST, where it is there; 64 chains of "
               "either kind, 1,000 steps of burn-in, then eleven images 300 steps apart; 20 "
               "inverse temperatures from 1 to 0.9, factor 10.",
           .paper = "The same with 256 chains and 21 images."},
      .seconds = {.smoke = 0.5, .quick = 25, .paper = 200},
      .claims = {"S13", "S14"},
      .deviations =
          {"A class is the label of the nearest training image in Hamming distance, of images "
           "switched on above 127; ties are dropped.",
           "Fig. 4 (right), the bound in training, is with Table 1."},
      .data = {deep_model_file("mnist-20-30"), deep_model_file("mnist-500-1000-cast"),
               "mnist/train-images-idx3-ubyte.gz", "mnist/train-labels-idx1-ubyte.gz"},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_fig4
