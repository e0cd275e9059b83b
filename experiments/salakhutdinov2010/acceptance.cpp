#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/sample/tempering/parallel_tempering.hpp"
#include "boltzmark/sample/tempering/tempered_transition.hpp"
#include "experiments/kit/bands.hpp"
#include "experiments/kit/datasets/named_datasets.hpp"
#include "experiments/kit/measures.hpp"
#include "experiments/kit/results.hpp"
#include "experiments/salakhutdinov2010/support/committed_models.hpp"

namespace boltzmark::experiments::salakhutdinov2010_acceptance {
namespace {

constexpr double kLowest = 0.9;

struct Size {
  const char* model;
  int chains;
  std::vector<int> levels;  ///< ascending
};
const PerProfile<Size> kSize{.smoke = {"mnist-20-30", 16, {2, 4}},
                             .quick = {"mnist-500-1000-cast", 64, {5, 10, 20, 50, 100, 200}},
                             .paper = {"mnist-500-1000-cast", 400, {5, 10, 20, 50, 100, 200}}};
constexpr int kBurnIn = 100;  // sweeps from test images, so that chains are where the digits are

std::vector<Json> trials(Profile profile) {
  const Size& size = kSize.at(profile);
  if (!has_model(deep_model_file(size.model))) return {};
  return {{{"model", size.model},
           {"chains", size.chains},
           {"levels", size.levels},
           {"lowest", kLowest}}};
}

Chains start_at_test_images(const Layered& model, int count, StreamKey key) {
  const Dataset data = load_dataset("mnist:test", parse_binarise("sample:1"));
  Chains chains(model, count);
  chains.randomise(key);
  chains.set_layer(0, data.values.select(spread_cases(data, count)));
  return chains;
}

/// Outputs  acceptance [levels][chains]: the probability with which a tempered transition from the
/// chain's state was accepted; the states are the same for every number of levels
Json run(const Json& inputs, const TrialContext& context) {
  const Layered model = committed_model(deep_model_file(inputs.at("model").get<std::string>()));
  const int count = inputs.at("chains");
  const std::vector<int> levels = inputs.at("levels");
  const PackedModel packed(model, {.chains = count, .sweeps = 1000});
  const PhiloxDraws draws(context.key);
  Chains start = start_at_test_images(model, count, context.key);
  sweep(packed, start, draws, {.sweeps = kBurnIn});
  Json outputs;
  std::uint64_t made = kBurnIn;
  for (const int count_of_levels : levels) {
    Chains chains = start;
    const TransitionOptions options{
        .inverse_temperatures = uniform_ladder(count_of_levels, inputs.at("lowest")),
        .first_sweep = made};
    std::vector<double> acceptance;
    for (const TransitionOutcome& outcome : tempered_transition(packed, chains, draws, options))
      acceptance.push_back(std::exp(std::min(0.0, outcome.log_ratio)));
    outputs["acceptance"].push_back(acceptance);
    made += static_cast<std::uint64_t>(options.sweeps());
    context.progress(static_cast<double>(made) / (kBurnIn + 2.0 * levels.back() * levels.size()));
  }
  return outputs;
}

void add_numbers(const Trial& trial, Summary& summary) {
  const std::vector<double> levels = numbers(trial.inputs.at("levels"));
  const Json& acceptance = trial.outputs.at("acceptance");
  Table table{.name = "acceptance",
              .caption = fmt::format("Probability that a tempered transition from b = 1 to {} and "
                                     "back is accepted: means over {} chains with 95 % intervals.",
                                     kLowest, trial.inputs.at("chains").get<int>()),
              .columns = {{"levels", "levels", 0}, {"acceptance", "acceptance"}}};
  Series series{.label = "", .mark = Mark::line_points, .colour = 2};
  for (std::size_t l = 0; l < levels.size(); ++l) {
    table.rows.push_back({static_cast<std::int64_t>(levels[l]), mean_cell(numbers(acceptance[l]))});
    add_mean(series, levels[l], numbers(acceptance[l]));
  }
  summary.add(std::move(table));
  summary.add(Figure{.name = "levels",
                     .caption = "The same, drawn.",
                     .panels = {Panel{.x = {.label = "levels", .log = true},
                                      .y = {.label = "acceptance", .low = 0, .high = 1},
                                      .series = {std::move(series)}}}});
}

/// The least squares slope of each chain's acceptance against the log of the number of levels.
std::vector<double> slopes(const std::vector<double>& levels, const Json& acceptance) {
  const auto n = static_cast<double>(levels.size());
  double mean = 0, square = 0;
  for (const double level : levels) mean += std::log(level) / n;
  std::vector<double> all(acceptance.front().size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const double x = std::log(levels[l]) - mean;
    square += x * x;
    for (std::size_t c = 0; c < all.size(); ++c) all[c] += x * number(acceptance[l][c]);
  }
  for (double& slope : all) slope /= square;
  return all;
}

void summarise(const Results& results, Summary& summary) {
  if (results.planned() == 0)
    return note_absent_model(deep_model_file(kSize.at(results.profile()).model), summary);
  if (results.empty()) return;
  const Trial& trial = results.trials().front();
  add_numbers(trial, summary);
  if (results.profile() == Profile::smoke) return;
  const Json& acceptance = trial.outputs.at("acceptance");
  const std::vector<double> levels = numbers(trial.inputs.at("levels"));
  const std::vector<double> few = numbers(acceptance.front());
  std::vector<double> last_step = numbers(acceptance[levels.size() - 1]);
  const std::vector<double> before = numbers(acceptance[levels.size() - 2]);
  for (std::size_t c = 0; c < last_step.size(); ++c) last_step[c] -= before[c];
  const Interval step = mean_interval(last_step);
  summary.add(mean_measure(
      {.claim = "S28",
       .part = "rises with the levels",
       .note = fmt::format(
           "per factor e of their number, which need not mean that it rises everywhere: "
           "from {} to {} levels it changes by {:.3f} [{:.3f}, {:.3f}]; every chain "
           "starts at the same state for each",
           levels[levels.size() - 2], levels.back(), step.estimate, step.lower, step.upper)},
      slopes(levels, acceptance)));
  const auto seldom = std::count_if(few.begin(), few.end(), [](double a) { return a < 0.1; });
  summary.add(
      mean_measure({.claim = "S28",
                    .part = "with five levels",
                    .note = fmt::format("the median is {:.3f}; below 0.1 in {} of {} chains",
                                        median(few), seldom, few.size())},
                   few));
}

}  // namespace

Experiment experiment() {
  return {
      .id = "salakhutdinov2010/acceptance",
      .item = "Sec. 7, transitions",
      .title = "How many levels do tempered transitions need on a deep model?",
      .paper_did =
          "States that tempered transitions on DBMs often need many intermediate "
          "distributions for a fair acceptance. It shows no experiment.",
      .settings = {.smoke = "16 chains of a small model, two and four levels.",
                   .quick =
                       "A 784-500-1000 DBM that CAST has trained on MNIST, where it is there; 64 "
                       "chains, 100 sweeps from test images, then one transition from b = 1 "
                       "to 0.9 and back with 5 to 200 levels.",
                   .paper = "The same with 400 chains."},
      .seconds = {.smoke = 0.2, .quick = 5, .paper = 25},
      .claims = {"S28"},
      .deviations = {"Models, ladder and numbers of levels are ours."},
      .data = {deep_model_file("mnist-20-30"), deep_model_file("mnist-500-1000-cast"),
               "mnist/t10k-images-idx3-ubyte.gz", "mnist/t10k-labels-idx1-ubyte.gz"},
      .trials = trials,
      .run = run,
      .summarise = summarise,
  };
}

}  // namespace boltzmark::experiments::salakhutdinov2010_acceptance
