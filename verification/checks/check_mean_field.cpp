// Checks of mean field in deep models, the positive phase of salakhutdinov2010.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "boltzmark/exact/likelihood/likelihood.hpp"
#include "boltzmark/learn/phases/mean_field.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/check_slopes.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

/// A model of two to five layers of any units but Gaussian ones, at most 2^15 hidden states.
Layered draw_network(Stream& stream, double scale, int fewest = 2) {
  constexpr std::array kCodes = {0, 0, 1, 2, 3};
  const int layers = fewest + draw_below(stream, 6 - fewest);
  std::vector<Layer> all(static_cast<std::size_t>(layers));
  std::vector<Eigen::MatrixXd> weights;
  for (Layer& layer : all) {
    layer.unit = Unit::from_code(kCodes[stream.below(kCodes.size())]);
    layer.bias = draw_matrix(stream, draw_size(stream, 3), 1, scale);
  }
  for (std::size_t l = 0; l + 1 < all.size(); ++l)
    weights.push_back(draw_matrix(stream, all[l].bias.size(), all[l + 1].bias.size(), scale));
  return Layered(std::move(all), std::move(weights));
}

double draw_scale(Stream& stream) {
  constexpr double kScales[] = {0.3, 1, 3, 10, 100};
  return kScales[stream.below(5)];
}

Eigen::MatrixXf draw_visible(Stream& stream, const Layered& model, int cases) {
  return draw_states(stream, model.layer(0).unit, model.size(0), cases);
}

/// q of one case in double: the input and the mean of every hidden unit.
struct Law {
  State inputs, means;
};

void update_side(const Layered& model, int parity, Law& q) {
  for (int l = parity == 0 ? 2 : 1; l < model.layers(); l += 2) {
    q.inputs[l] = layer_input(model, q.means, l);
    for (Eigen::Index u = 0; u < q.means[l].size(); ++u)
      q.means[l][u] = mean_value(model.layer(l).unit, q.inputs[l][u]);
  }
}

double bound_of(const Layered& model, const Law& q) {
  double sum = -energy(model, q.means);
  for (int l = 1; l < model.layers(); ++l)
    for (Eigen::Index u = 0; u < q.means[l].size(); ++u)
      sum += log_partition(model.layer(l).unit, q.inputs[l][u]) - q.inputs[l][u] * q.means[l][u];
  return sum;
}

/// Any q, with the given visible state.
Law draw_law(Stream& stream, const Layered& model, const Eigen::VectorXd& visible) {
  Law q;
  q.inputs.push_back(visible);
  q.means.push_back(visible);
  for (int l = 1; l < model.layers(); ++l) {
    q.inputs.emplace_back(draw_matrix(stream, model.size(l), 1, 4));
    q.means.emplace_back(model.size(l));
    for (Eigen::Index u = 0; u < q.means[l].size(); ++u)
      q.means[l][u] = mean_value(model.layer(l).unit, q.inputs[l][u]);
  }
  return q;
}

CaseOutcome below_log_f(Stream& stream) {
  const Layered model = draw_network(stream, draw_scale(stream));
  const Eigen::MatrixXf data = draw_visible(stream, model, 5);
  const MeanFieldStop stop = stream.below(2) == 0 ? MeanFieldStop::converged()
                                                  : MeanFieldStop{.updates = draw_below(stream, 6)};
  const VariationalBounds bounds = variational_bounds(model, data, stop);
  double worst = 0;
  for (int c = 0; c < data.cols(); ++c) {
    const double truth = log_unnormalised(model, data.col(c).cast<double>());
    const double excess = bounds.log_f[static_cast<std::size_t>(c)] - truth;
    // An RBM's q is p(h|v), but for inputs in float32, whose error counts squared, and below.
    const double gap = model.is_rbm() ? std::max(excess, -excess / 100) : excess;
    worst = worse(worst, gap / std::max(1.0, std::abs(truth)));
  }
  return {worst, describe_case(model)};
}

CaseOutcome never_falls(Stream& stream, const MeanFieldHalf& update) {
  const Layered model = draw_network(stream, draw_scale(stream), 3);
  Law q = draw_law(stream, model, draw_visible(stream, model, 1).col(0).cast<double>());
  double worst = 0, before = bound_of(model, q);
  for (int half = 1; half <= 12; ++half) {
    update_side(model, half % 2, q);
    const double after = bound_of(model, q);
    worst = worse(worst, (before - after) / std::max(1.0, std::abs(before)));
    before = after;
  }
  // Production's halves miss the best mean by float32's rounding, which costs its square.
  Chains chains(model, 1);
  chains.set_layer(0, q.means[0].cast<float>());
  MeanField field(model);
  field.start(chains);
  before = field.bounds(model, chains)[0];
  for (int half = 1; half <= 12; ++half) {
    update(field, chains, half % 2);
    const double after = field.bounds(model, chains)[0];
    worst = worse(worst, 1e-2 * (before - after) / std::max(1.0, std::abs(before)));
    before = after;
  }
  return {worst, describe_case(model)};
}

// Every layer's start and halves, each from the means that production had before.
CaseOutcome follows_law(Stream& stream, const MeanFieldHalf& update) {
  const double scale = draw_scale(stream);
  const Layered model = draw_network(stream, scale);
  const int cases = draw_size(stream, 20);
  Chains chains(model, cases);
  chains.set_layer(0, draw_visible(stream, model, cases));
  MeanField field(model);
  field.start(chains);
  double worst = 0;
  const auto compare = [&](int layer, int chain, const Eigen::VectorXd& inputs) {
    // Inputs are sums in float32, whose slope is at most 1; a mean is within 2^-20.
    const double most = 1 + scale * 12;
    for (int u = 0; u < model.size(layer); ++u)
      worst = worse(worst, std::abs(chains.get(layer, u, chain) -
                                    mean_value(model.layer(layer).unit, inputs[u])) /
                               most);
  };
  for (int c = 0; c < cases; ++c) {
    for (int l = 1; l < model.layers(); ++l) {
      const State below = chains.get_chain(c);
      const int times = l + 1 < model.layers() ? 2 : 1;
      compare(l, c, times * (model.weights(l - 1).transpose() * below[l - 1]) + model.bias(l));
    }
  }
  for (int half = 1; half <= 4; ++half) {
    const Chains before = chains;
    update(field, chains, half % 2);
    for (int l = half % 2 == 0 ? 2 : 1; l < model.layers(); l += 2)
      for (int c = 0; c < cases; ++c) compare(l, c, layer_input(model, before.get_chain(c), l));
  }
  return {worst, describe_case(model)};
}

// At the fixed point the means give the slope of the bound, their own part of it being 0.
CaseOutcome slope_at_fixed_point(Stream& stream) {
  const Layered model = draw_network(stream, 0.5, 3);
  const Eigen::VectorXd visible = draw_visible(stream, model, 1).col(0).cast<double>();
  Law q = draw_law(stream, model, visible);
  for (int half = 1; half <= 2000; ++half) update_side(model, half % 2, q);
  Parameters at{.weights = model.weights(), .biases = {}}, slope = model.zero_parameters();
  for (int l = 0; l < model.layers(); ++l) {
    at.biases.push_back(model.bias(l));
    slope.biases[l] = q.means[l];
    if (l + 1 < model.layers()) slope.weights[l] = q.means[l] * q.means[l + 1].transpose();
  }
  const double worst = slope_error(at, slope, [&] {
    const Layered moved = with_parameters(model, at);
    Law again = q;
    for (int half = 1; half <= 200; ++half) update_side(moved, half % 2, again);
    return bound_of(moved, again);
  });
  return {worst, describe_case(model)};
}

}  // namespace

Check bound_never_falls_check(const MeanFieldHalf& update) {
  return bounded_check("bound-never-falls", "mean-field",
                       "no half update lowers the bound, from any q (relative)", 1e-11,
                       [update](Stream& s) { return never_falls(s, update); });
}

Check updates_follow_law_check(const MeanFieldHalf& update) {
  return bounded_check(
      "updates-follow-law", "mean-field",
      "the bottom-up pass and each half update in float32 against the law in double", 0x1p-18,
      [update](Stream& s) { return follows_law(s, update); });
}

std::vector<Check> mean_field_checks() {
  const auto update = std::mem_fn(&MeanField::update_side);
  return {
      bounded_check(
          "bound-below", "mean-field",
          "E_q[log f] + H(q) <= log f(v), every case, after any number of updates, weights to "
          "+-100; equal for an RBM",
          1e-10, below_log_f),
      bound_never_falls_check(update),
      updates_follow_law_check(update),
      bounded_check(
          "bound-slope", "mean-field",
          "statistics of the means at the fixed point against central differences of the bound",
          1e-6, slope_at_fixed_point),
  };
}

}  // namespace boltzmark
