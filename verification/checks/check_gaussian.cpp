// Checks of networks whose visible layer is Gaussian.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/exact/log_z.hpp"
#include "boltzmark/learn/cases/standardisation.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/laws/tail_draws.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

/// Draws an RBM or, half the time, a deeper model: 1..2 Gaussian units below one to three hidden
/// layers, 3 units in all, Bernoulli or X(2).
Layered draw_gaussian_model(Stream& stream) {
  const int visible = draw_size(stream, 2);
  std::vector<int> sizes{visible, 3};
  if (stream.below(2) == 0)
    sizes = stream.below(2) == 0 ? std::vector{visible, 2, 1} : std::vector{visible, 1, 1, 1};
  std::vector<Layer> layers;
  std::vector<Eigen::MatrixXd> weights;
  for (std::size_t l = 0; l < sizes.size(); ++l) {
    Layer& layer = layers.emplace_back();
    layer.bias = draw_matrix(stream, sizes[l], 1, 1.5);
    if (l == 0) {
      layer.unit = Unit::gaussian();
      layer.sigma0.resize(sizes[l]);
      for (double& sigma : layer.sigma0) sigma = stream.uniform(0.5, 2);
    } else {
      layer.unit = stream.below(2) == 0 ? Unit::bernoulli() : Unit::multivalued(2);
      weights.push_back(draw_matrix(stream, sizes[l - 1], sizes[l], 1.5));
    }
  }
  return Layered(std::move(layers), std::move(weights));
}

/// Every state of a model's hidden layers, its visible layer at 0.
std::vector<State> hidden_states(const Layered& model) {
  std::vector<State> states{State()};
  for (int l = 0; l < model.layers(); ++l)
    states[0].push_back(Eigen::VectorXd::Zero(model.size(l)));
  for (int l = 1; l < model.layers(); ++l)
    for (int i = 0; i < model.size(l); ++i) {
      std::vector<State> more;
      for (const State& state : states)
        for (int k = 0; k < model.layer(l).unit.values(); ++k) {
          more.push_back(state);
          more.back()[l][i] = model.layer(l).unit.value(k);
        }
      states = std::move(more);
    }
  return states;
}

/// Points so dense and so wide that sums over them are integrals: of a density whose components
/// are sigma wide, steps of 0.8 sigma leave e^{-2 pi^2 / 0.64}, and what is beyond 8 sigma e^{-32}.
std::vector<double> quadrature_nodes(const Layered& model, int unit, double offset) {
  const double sigma = model.layer(0).sigma0[unit], a = model.bias(0)[unit];
  const double reach = 8 * sigma + sigma * sigma * model.weights(0).row(unit).cwiseAbs().sum();
  std::vector<double> nodes;
  for (double x = a - reach - offset * 0.8 * sigma; x < a + reach + sigma; x += 0.8 * sigma)
    nodes.push_back(x);
  return nodes;
}

CaseOutcome log_z_by_quadrature(Stream& stream) {
  const Layered model = draw_gaussian_model(stream);
  double log_cell = 0;  // the volume of a node and the weights of hidden values
  for (const double sigma : model.layer(0).sigma0) log_cell += std::log(0.8 * sigma);
  for (int l = 1; l < model.layers(); ++l)
    log_cell += model.size(l) * model.layer(l).unit.log_weight();
  std::vector<std::vector<double>> nodes;
  for (int i = 0; i < model.size(0); ++i)
    nodes.push_back(quadrature_nodes(model, i, stream.uniform()));
  LogSum sum;
  for (State& state : hidden_states(model))
    for (const double x : nodes.front())
      for (const double y : model.size(0) == 1 ? std::vector{0.0} : nodes.back()) {
        state[0][0] = x;
        if (model.size(0) == 2) state[0][1] = y;
        sum.add(-energy(model, state));
      }
  return {std::abs(sum.log() + log_cell - exact_log_z(model).log_z), describe_case(model)};
}

CaseOutcome gaussian_gradient(Stream& stream) {
  const Layered model = draw_gaussian_model(stream);
  Eigen::MatrixXf data(model.size(0), 5);
  for (float& value : data.reshaped()) value = static_cast<float>(2 * stream.normal());
  const Cases cases(data);
  Parameters at = model.zero_parameters();
  at.weights = model.weights();
  for (int l = 0; l < model.layers(); ++l) at.biases[l] = model.bias(l);
  const double worst = slope_error(at, exact_gradient(model, cases), [&] {
    return exact_mean_log_likelihood(with_parameters(model, at), cases);
  });
  return {worst, describe_case(model)};
}

// The input is narrowed and summed term by term, a term to u; z carries the polynomials' 3 u, 3 u of
// Horner's rule, 2 u of 1/2 - S, and what w brings: log z moves by at most 0.17 of its error, 5 u +
// 4 u w where w < 5.5, and 1/(2w) of it beyond. Two products and two sums round to u.
CaseOutcome gaussian_draws(Stream& stream, const HalfSweep& move) {
  constexpr double u = 0x1p-24;
  constexpr int kChains = 40;
  const Layered model = draw_gaussian_model(stream);
  const TailDraws draws(StreamKey{stream(), stream()});
  Chains chains(model, kChains);
  chains.randomise(StreamKey{stream(), stream()});
  const PackedModel packed(model, {.chains = kChains, .sweeps = stream.below(2) == 0 ? 1U : 100U});
  move(packed, chains, draws, {}, 0);
  constexpr int kPadded = 48;
  std::vector<std::uint32_t> script(4 * kPadded);
  draws.fill(script.data(), {.layer = 0, .units = 4, .chains = kPadded});
  double worst = 0, farthest = 0;
  for (int c = 0; c < kChains; ++c) {
    const State state = chains.get_chain(c);
    for (int i = 0; i < model.size(0); ++i) {
      const double sigma = model.layer(0).sigma0[i], a = model.bias(0)[i];
      const auto row = model.weights(0).row(i);
      const double tail = (script[i * kPadded + c] + 0.5) * 0x1p-32, z = -normal_quantile(tail);
      const double x = a + sigma * sigma * row.dot(state[1]) + sigma * z;
      const double terms = std::abs(a) / sigma + sigma * row.cwiseAbs().dot(state[1].cwiseAbs());
      const double bound =
          sigma * u * ((static_cast<double>(row.size()) + 5) * terms + 16 * std::abs(z));
      worst = worse(worst, std::abs(state[0][i] - x) / bound);
      farthest = std::max(farthest, std::abs(z));
    }
  }
  return {worst, fmt::format("{}, |z| <= {:.3g}", describe_case(model), farthest)};
}

CaseOutcome standardised_density(Stream& stream) {
  const Layered model = draw_gaussian_model(stream);
  Eigen::MatrixXf cases(model.size(0), 7);
  for (float& value : cases.reshaped()) value = static_cast<float>(stream.uniform(-9, 30));
  const Standardisation standard(cases);
  const Layered raw = standard.of_raw_cases(model);
  const double log_z = exact_log_z(model).log_z, raw_log_z = exact_log_z(raw).log_z;
  double worst = 0;
  for (Eigen::Index c = 0; c < cases.cols(); ++c) {
    const Eigen::VectorXd x = cases.col(c).cast<double>();
    const Eigen::VectorXd y = (x - standard.mean()).cwiseQuotient(standard.scale());
    const double density = log_unnormalised(model, y) - log_z - standard.log_volume();
    worst = worse(worst, std::abs(log_unnormalised(raw, x) - raw_log_z - density));
  }
  const Layered back = standard.of_standard_cases(raw);
  for (int l = 0; l < model.layers(); ++l)
    worst = worse(worst, largest_of(back.bias(l) - model.bias(l)));
  worst = worse(worst, largest_of(back.weights(0) - model.weights(0)));
  return {worst, describe_case(model)};
}

}  // namespace

Check inverse_normal_check(const HalfSweep& move) {
  return bounded_check(
      "inverse-normal", "gaussian",
      "production draws of Gaussian units are a + sigma^2 W h + sigma Phi^-1 of theirs: error over "
      "its bound",
      1, [move](Stream& s) { return gaussian_draws(s, move); });
}

std::vector<Check> gaussian_checks() {
  return {
      inverse_normal_check(half_sweep),
      bounded_check(
          "log-z-quadrature", "gaussian",
          "exact log Z against the sum over hidden states and the integral over visible ones",
          1e-10, log_z_by_quadrature),
      bounded_check("gradient-slope", "gaussian",
                    "the exact gradient against central differences of the exact log-likelihood",
                    1e-7, gaussian_gradient),
      bounded_check(
          "standardised-density", "gaussian",
          "a model of standardised cases, rewritten for raw ones, has the density that the change "
          "of variables gives",
          1e-9, standardised_density)};
}

}  // namespace boltzmark
