#include "experiments/bruegge2013/support/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/transition/log_density.hpp"
#include "experiments/kit/datasets/data_folders.hpp"

namespace boltzmark::experiments {
namespace {

constexpr double kTrainingShare = 0.8;     // of a trial, as its progress shows it
constexpr double kTrainingSweeps = 20000;  // chain-sweeps of an update: 100 cases by 20-PT10

/// The joint energies of parallel chains.  Shapes  [steps x chains]
Eigen::MatrixXd energy_series(const Layered& model, const Rule& rule, const SamplingLength& length,
                              const TrialContext& context, double done, double share) {
  const PackedModel packed(model,
                           {.chains = length.chains,
                            .sweeps = static_cast<std::uint64_t>(length.burn_in + length.steps)});
  const PhiloxDraws draws(context.key);
  Chains chains(model, length.chains);
  chains.randomise(context.key);
  sweep(packed, chains, draws, {.rule = rule, .sweeps = length.burn_in});
  Eigen::MatrixXd series(length.steps, length.chains);
  for (int t = 0; t < length.steps; ++t) {
    sweep(packed, chains, draws,
          {.rule = rule, .first_sweep = static_cast<std::uint64_t>(length.burn_in + t)});
    const std::vector<double> log_f = log_density(packed, chains);
    for (int c = 0; c < length.chains; ++c) series(t, c) = -log_f[c];
    if (t % 256 == 0) context.progress(done + share * t / length.steps);
  }
  return series;
}

TrainedRbm recipe_of(const Json& inputs) {
  return {.data = inputs.at("data"),
          .hidden = inputs.at("hidden"),
          .negative = inputs.at("negative"),
          .rate = number(inputs.at("rate")),
          .updates = inputs.at("updates")};
}

double root_mean_square(const Eigen::MatrixXd& values) {
  return values.norm() / std::sqrt(static_cast<double>(values.size()));
}

Json describe_series(const Eigen::MatrixXd& series, int lags) {
  const JudgedTime time = judge_autocorrelation_time(series);
  const Eigen::VectorXd acf =
      autocorrelation(series, std::min<Eigen::Index>(lags, series.rows() - 1));
  return {{"acf", std::vector<double>(acf.begin(), acf.end())},
          {"tau", time.geyer.tau},
          {"std_error", time.geyer.std_error},
          {"tau_batch", time.batch_means.tau},
          {"tau_ar", time.ar.tau},
          {"order", time.ar.order},
          {"order_at_maximum", time.ar.order_at_maximum},
          {"decided", time.decided()},
          {"status", describe(time.status)}};
}

// Of a committed set: the recipe in whose place it stands, which has its sizes.
TrainedRbm committed_recipe(const std::string& set) {
  const auto& all = sampled_problems();
  return std::find_if(
             all.begin(), all.end(),
             [&](const SampledProblem& problem) { return set == problem.committed.folder; })
      ->recipe;
}

}  // namespace

std::string model_file(const std::string& folder, int index) {
  return fmt::format("models/bruegge2013/{}/{:02}.npz", folder, index);
}

std::vector<std::string> model_files(std::span<const ModelSet> sets) {
  std::vector<std::string> files;
  for (const ModelSet& set : sets)
    for (int i = 0; i < set.models; ++i) files.push_back(model_file(set.folder, i));
  return files;
}

Layered read_committed_model(const std::string& folder, int index) {
  const std::string file = fmt::format("{}/{:02}.npz", folder, index);
  const auto path = find_data_file("models/bruegge2013", file);
  if (!path)
    throw DataError(fmt::format("models/bruegge2013/{}: missing (must be in a data folder)", file));
  return read_model(*path);
}

const std::vector<SampledProblem>& sampled_problems() {
  static const std::vector<SampledProblem> all = {
      {.committed = {"bas-pt", "Bars and Stripes", 25},
       .training = "20-PT10, 10000 updates",
       .recipe = {.data = "bas"}},
      {.committed = {"modes-0.1-pt", "Artificial Modes 0.1", 25},
       .training = "20-PT10, 3000 updates",
       .recipe = {.data = "artificial-modes-0.1"}},
      {.committed = {"modes-0.01-pt", "Artificial Modes 0.01", 25},
       .training = "20-PT10, 3000 updates",
       .recipe = {.data = "artificial-modes-0.01"}},
      {.committed = {"mnist-10-pt", "MNIST 10", 3},
       .training = "20-PT10, 1000 updates",
       .recipe = {.data = "mnist", .hidden = 10}},
      {.committed = {"mnist-500-pt", "MNIST 500", 4},
       .training = "20-PT1, 2000 updates",
       .recipe = {.data = "mnist", .hidden = 500, .updates = 2000},
       .rbms = 24}};
  return all;
}

std::vector<const Trial*> find_rbms(const Results& results, const SampledProblem& problem) {
  auto trained = results.where(recipe_inputs(problem.recipe));
  if (!trained.empty()) return trained;
  return results.where({{"set", problem.committed.folder}});
}

bool is_trained(const Trial& trial) { return trial.inputs.contains("updates"); }

double autocorrelation_cost(const Json& inputs) {
  const TrainedRbm rbm =
      inputs.contains("set") ? committed_recipe(inputs.at("set")) : recipe_of(inputs);
  const double hidden = rbm.hidden, visible = rbm.data == "mnist" ? 784 : 16;
  constexpr double kDrawing = 60;  // what drawing a unit takes, in products
  const double sweep = visible * hidden + kDrawing * (visible + hidden);
  double sweeps = 3 * number(inputs.at("steps")) * number(inputs.at("chains"));
  if (inputs.contains("updates")) sweeps += kTrainingSweeps * number(inputs.at("updates"));
  return sweep * sweeps;
}

Json recipe_inputs(const TrainedRbm& recipe) {
  return {{"data", recipe.data},
          {"hidden", recipe.hidden},
          {"negative", recipe.negative},
          {"rate", recipe.rate},
          {"updates", recipe.updates}};
}

Json autocorrelation_trial(const ModelSet& set, int model, const SamplingLength& length, int lags) {
  return {{"set", set.folder},         {"model", model},
          {"chains", length.chains},   {"steps", length.steps},
          {"burn_in", length.burn_in}, {"lags", lags}};
}

Json autocorrelation_trial(const TrainedRbm& recipe, int model, const SamplingLength& length,
                           int lags) {
  Json inputs = recipe_inputs(recipe);
  inputs.update({{"model", model},
                 {"chains", length.chains},
                 {"steps", length.steps},
                 {"burn_in", length.burn_in},
                 {"lags", lags}});
  return inputs;
}

Json run_autocorrelation(const Json& inputs, const TrialContext& context) {
  const bool trains = inputs.contains("updates");
  double done = trains ? kTrainingShare : 0;
  const Layered model = trains ? train_rbm(recipe_of(inputs), inputs.at("model"), context, done)
                               : read_committed_model(inputs.at("set"), inputs.at("model"));
  const SamplingLength length{
      .chains = inputs.at("chains"), .steps = inputs.at("steps"), .burn_in = inputs.at("burn_in")};
  Json outputs;
  if (trains) outputs["rms_weight"] = root_mean_square(model.weights(0));
  const double share = (1 - done) / 2;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    outputs[rule.name()] = describe_series(energy_series(model, rule, length, context, done, share),
                                           inputs.at("lags"));
    done += share;
  }
  return outputs;
}

}  // namespace boltzmark::experiments
