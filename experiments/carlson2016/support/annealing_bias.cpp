#include "experiments/carlson2016/support/annealing_bias.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "experiments/carlson2016/support/all_methods.hpp"
#include "experiments/kit/statistics/interval.hpp"
#include "verification/checks/laws/annealing_moments.hpp"

namespace boltzmark::experiments {
namespace {

constexpr int kVisible = 6, kHidden = 5;
constexpr std::array kScales = {1.0, 2.0, 3.0};
constexpr int kBiasRungs = 20;
constexpr int kBiasChains = 20;  // few, so that the bias shows
constexpr PerProfile<int> kRuns{.smoke = 20, .quick = 10000, .paper = 200000};
constexpr double kAllowed = 3.7;  // standard errors: 1 - 2e-4 of a normal law lies within
constexpr double kSeen = 5.0;     // standard errors that a fault must reach to be seen with 0.9

/// The central moments of a weight over its mean.
struct WeightMoments {
  double second = 0, third = 0, fourth = 0;
};

// From log E[w^m] - m log E[w], m = 2, 3, 4.
WeightMoments central_moments(const std::array<double, 3>& log_raw) {
  const double two = std::exp(log_raw[0]), three = std::exp(log_raw[1]),
               four = std::exp(log_raw[2]);
  return {
      .second = two - 1, .third = three - 3 * two + 2, .fourth = four - 4 * three + 6 * two - 3};
}

/// The bias of the log of a mean of n weights, up to order n^-3: the mean of the series of
/// log(1 + d), d = mean / E - 1, to its sixth term.
double log_mean_bias(const WeightMoments& w, double n) {
  const double variance = w.second;
  return -variance / (2 * n) + (w.third / 3 - 3 * variance * variance / 4) / (n * n) +
         (-(w.fourth - 3 * variance * variance) / 4 + 2 * variance * w.third -
          5 * std::pow(variance, 3) / 2) /
             std::pow(n, 3);
}

/// The biases of log Z by AIS and by RAISE, and the relative variance of AIS's weight.
struct Predicted {
  double ais = 0, raise = 0, variance = 0;
};

Predicted predict(const Layered& rbm) {
  const auto moment = [&](double power) {
    return exact_log_weight_moment(rbm, Base::uniform(rbm), Ladder::linear(kBiasRungs), power);
  };
  const double log_z = moment(1);
  std::array<double, 3> up{}, down{};
  for (int m = 2; m <= 4; ++m) {
    up[static_cast<std::size_t>(m - 2)] = moment(m) - m * log_z;
    down[static_cast<std::size_t>(m - 2)] = moment(1 - m) + (m - 1) * log_z;
  }
  const WeightMoments ais = central_moments(up);
  return {.ais = log_mean_bias(ais, kBiasChains),
          .raise = -log_mean_bias(central_moments(down), kBiasChains),
          .variance = ais.second};
}

/// The mean of errors with its standard error.
Json mean_error(const std::vector<double>& errors) {
  return {{"mean", mean_of(errors)}, {"std_error", mean_std_error(errors)}};
}

WithInterval with_limits(const Json& error) {
  const double mean = number(error.at("mean")), half = 1.96 * number(error.at("std_error"));
  return {mean, mean - half, mean + half};
}

bool agrees(const Json& error, double predicted) {
  return std::abs(number(error.at("mean")) - predicted) <= kAllowed * number(error.at("std_error"));
}

}  // namespace

std::vector<Json> annealing_bias_trials(Profile profile) {
  std::vector<Json> all;
  for (const double scale : kScales)
    all.push_back({{"targets", "annealed"}, {"scale", scale}, {"runs", kRuns.at(profile)}});
  return all;
}

Json run_annealing_bias(const Json& inputs, const TrialContext& context) {
  const Layered rbm = draw_random_rbm(kVisible, kHidden, inputs.at("scale"), context.key);
  const LayeredTarget target(rbm, Base::uniform(rbm));
  const Predicted predicted = predict(rbm);
  const double log_z = exact_log_z(rbm).log_z;
  std::vector<double> ais, raise;
  const int runs = inputs.at("runs");
  for (int r = 0; r < runs; ++r) {
    MethodSettings settings{
        .chains = kBiasChains,
        .sweeps = kBiasRungs - 1,
        .ladder = Ladder::linear(kBiasRungs),
        .key = make_key(context.seed, context.experiment, fmt::format("{} {}", inputs.dump(), r))};
    ais.push_back(estimate_log_z("ais", target, settings).log_z - log_z);
    settings.cases = draw_exact_cases(rbm, kBiasChains, settings.key);
    raise.push_back(estimate_log_z("raise", target, settings).log_z - log_z);
    context.progress((r + 1.0) / runs);
  }
  return {{"relative_variance", predicted.variance},
          {"predicted_ais", predicted.ais},
          {"predicted_raise", predicted.raise},
          {"ais", mean_error(ais)},
          {"raise", mean_error(raise)}};
}

void add_annealing_bias(const Results& results, Summary& summary) {
  Table table{
      .name = "annealing-bias",
      .caption = fmt::format(
          "Mean errors of AIS and of RAISE from exact samples, {} chains, {} rungs, one sweep a "
          "rung, on RBMs with {} visible and {} hidden units, beside the biases that the "
          "enumerated moments of a weight give to order n^−3. They agree unless one is off by more "
          "than {} standard errors, which chance does to each once in 5,000; a fault of {} is seen "
          "with "
          "probability 0.9.",
          kBiasChains, kBiasRungs, kVisible, kHidden, kAllowed, kSeen),
      .columns = {{"c", "scale", 1},
                  {"runs", "runs"},
                  {"Var[w] / E[w]^2", "relative_variance"},
                  {"bias of AIS / nats", "predicted_ais", 4},
                  {"mean error of AIS / nats", "ais", 4},
                  {"bias of RAISE / nats", "predicted_raise", 4},
                  {"mean error of RAISE / nats", "raise", 4},
                  {"agree", "agree"}}};
  for (const Trial* trial : results.where({{"targets", "annealed"}})) {
    const Json& found = trial->outputs;
    const double ais = number(found.at("predicted_ais")),
                 raise = number(found.at("predicted_raise"));
    table.rows.push_back(
        {number(trial->inputs.at("scale")), trial->inputs.at("runs").get<std::int64_t>(),
         number(found.at("relative_variance")), ais, with_limits(found.at("ais")), raise,
         with_limits(found.at("raise")),
         agrees(found.at("ais"), ais) && agrees(found.at("raise"), raise) ? "yes" : "no"});
  }
  if (!table.rows.empty()) summary.add(std::move(table));
}

}  // namespace boltzmark::experiments
