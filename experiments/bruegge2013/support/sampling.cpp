#include "experiments/bruegge2013/support/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boltzmark/core/error.hpp"
#include "boltzmark/diagnose/autocorrelation.hpp"
#include "boltzmark/diagnose/autocorrelation_time.hpp"
#include "boltzmark/io/datasets/data_folders.hpp"
#include "boltzmark/io/model_file.hpp"
#include "boltzmark/transition/log_density.hpp"

namespace boltzmark::experiments {
namespace {

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

double autocorrelation_cost(const Json& inputs) {
  const std::string set = inputs.at("set");
  const double weights = set == "mnist-500-pt"  ? 784 * 500
                         : set == "mnist-10-pt" ? 784 * 10
                                                : 16 * 16;
  constexpr double kDrawing = 500;  // what the rest of a sweep takes, in weights
  return (kDrawing + weights) * number(inputs.at("steps")) * number(inputs.at("chains"));
}

Json autocorrelation_trial(const ModelSet& set, int model, const SamplingLength& length, int lags) {
  return {{"set", set.folder},         {"model", model},
          {"chains", length.chains},   {"steps", length.steps},
          {"burn_in", length.burn_in}, {"lags", lags}};
}

Json run_autocorrelation(const Json& inputs, const TrialContext& context) {
  const Layered model = read_committed_model(inputs.at("set"), inputs.at("model"));
  const SamplingLength length{
      .chains = inputs.at("chains"), .steps = inputs.at("steps"), .burn_in = inputs.at("burn_in")};
  Json outputs;
  double done = 0;
  for (const Rule& rule : {Rule::gibbs(), Rule::flip()}) {
    outputs[rule.name()] =
        describe_series(energy_series(model, rule, length, context, done, 0.5), inputs.at("lags"));
    done += 0.5;
  }
  return outputs;
}

}  // namespace boltzmark::experiments
