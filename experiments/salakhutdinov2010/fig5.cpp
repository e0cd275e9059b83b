#include <fmt/format.h>

#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/salakhutdinov2010/support/committed_models.hpp"
#include "experiments/salakhutdinov2010/support/nearest_labels.hpp"
#include "experiments/salakhutdinov2010/support/sampled_images.hpp"
#include "experiments/salakhutdinov2010/support/toy_features.hpp"

namespace boltzmark::experiments::salakhutdinov2010_fig5 {
namespace {

constexpr const char *kModel = "norb-toy-dbm", *kFeatures = "norb-toy-rbm";
constexpr int kTemperatures = 30;
constexpr int kSide = 32;  // of a camera's image, in pixels

struct Size {
  int chains, burn_in, steps, images;
  const char* cases;  // whose categories are told; none: no categories
};
constexpr PerProfile<Size> kSize{.smoke = {4, 3, 2, 3, ""},
                                 .quick = {32, 1000, 500, 11, "norb-toy:fit"},
                                 .paper = {256, 1000, 500, 21, "norb-toy:fit"}};

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  Json inputs = inputs_of({.model = kModel,
                           .chains = size.chains,
                           .burn_in = size.burn_in,
                           .steps = size.steps,
                           .images = size.images,
                           .temperatures = kTemperatures});
  inputs["features"] = kFeatures;
  inputs["cases"] = size.cases;
  return {inputs};
}

Layered model_of(const Json& inputs, const char* key) {
  return committed_model(deep_model_file(inputs.at(key).get<std::string>()));
}

Classify categories(const Json& inputs) {
  const std::string cases = inputs.at("cases");
  if (cases.empty())
    return [](const auto& states) {
      return std::vector<int>(static_cast<std::size_t>(states.cols()), 0);
    };
  const Dataset data = load_dataset(cases, {.kind = BinariseOptions::Kind::grey});
  const NearestLabels nearest(
      likeliest_features(model_of(inputs, "features"), data.values.matrix()), data.labels);
  return [nearest](const auto& states) { return nearest.classes(states); };
}

Json run(const Json& inputs, const TrialContext& context) {
  return sample_images(model_of(inputs, "model"), inputs, categories(inputs), context);
}

// Of both cameras' pixels the left one's come first.
Picture left_camera(const Layered& features) {
  return [features](const std::string& bits) {
    const Eigen::VectorXd grey = mean_pixels(features, black_where_on(bits));
    std::vector<float> dark;
    for (const double level : grey.head(kSide * kSide))
      dark.push_back(1 - static_cast<float>(level));
    return dark;
  };
}

void add_table(const Json& outputs, Summary& summary) {
  Table table{
      .name = "mixing",
      .caption =
          "Category changes per pair of successive images, means over chains with 95 % intervals.",
      .columns = {{"sampler", "sampler"}, {"changes per pair", "changes"}}};
  for (const auto& [key, sampler] : {std::pair("gibbs", "Gibbs"), std::pair("st", "adaptive ST")})
    table.rows.push_back({sampler, mean_cell(change_shares(outputs.at("classes").at(key)))});
  summary.add(std::move(table));
}

void summarise(const Results& results, Summary& summary) {
  const Size& size = kSize.at(results.profile());
  if (results.empty()) return;
  const Trial& trial = results.trials().front();
  add_images(
      trial.outputs,
      {.rows = kSide,
       .cols = kSide,
       .picture = left_camera(model_of(trial.inputs, "features")),
       .levels = 8,
       .images = 6},
      fmt::format("Samples of three chains of either kind, a row a chain, {} Gibbs steps "
                  "between images, after {} steps from a random state: what the left camera "
                  "sees in the mean, given the sampled features. Of a stand-in, not of NORB.",
                  size.steps, size.burn_in),
      summary);
  if (results.profile() == Profile::smoke) return;
  add_table(trial.outputs, summary);
  add_change_measures("S30", trial.outputs, summary);
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/fig5",
      .item = "Fig. 5",
      .title = "On a stand-in for NORB: does adaptive tempering move between objects?",
      .paper_did =
          "Trains a Gaussian-binary RBM with 4,000 hidden units on small NORB and a DBM 4000-4000 of "
          "their activities, and shows samples of a Gibbs chain and of adaptive simulated tempering "
          "over 30 inverse temperatures from 1 to 0.9, 500 steps between images.",
      .settings =
          {.smoke = "4 chains, three images 2 steps apart, no categories.",
           .quick =
               "A Gaussian RBM with 500 hidden units and a DBM 500-500 of its hidden states, of "
               "norb-toy; 32 chains of either kind, 1,000 steps of burn-in, then eleven images "
               "500 steps apart; 30 inverse temperatures from 1 to 0.9, factor 10.",
           .paper = "The same with 256 chains and 21 images."},
      .seconds = {.smoke = 0.2, .quick = 17, .paper = 160},
      .claims = {"S30"},
      .deviations =
          {"The images are of norb-toy, toys of our own under small NORB's grid of poses, and no result of "
           "theirs is one of NORB; the models are smaller and trained for less long.",
           "The deep model's data are states of the RBM's hidden units, drawn once, not their means.",
           "A category is that of the training pair whose likeliest hidden states are nearest in Hamming "
           "distance; ties are dropped.",
           "The paper names no factor for this figure: that of Fig. 4."},
      .data = {deep_model_file(kModel), deep_model_file(kFeatures)},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_fig5
