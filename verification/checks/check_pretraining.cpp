// Checks of greedy pretraining: RBMs with tied copies, and the deep model that they make.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/learn/pretraining.hpp"
#include "boltzmark/sample/chains/contrastive_divergence.hpp"
#include "verification/checks/check_cases.hpp"
#include "verification/checks/laws/states.hpp"
#include "verification/checks/subjects.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

/// The RBM with its copies written out: every visible copy has the weights to every hidden one.
Layered written_out(const Layered& rbm, TiedCopies copies) {
  Layer visible = rbm.layer(0), hidden = rbm.layer(1);
  visible.bias = (copies.hidden * rbm.bias(0)).replicate(copies.visible, 1);
  hidden.bias = (copies.visible * rbm.bias(1)).replicate(copies.hidden, 1);
  return Layered({visible, hidden}, {rbm.weights(0).replicate(copies.visible, copies.hidden)});
}

State repeated(const State& state, TiedCopies copies) {
  return {state[0].replicate(copies.visible, 1), state[1].replicate(copies.hidden, 1)};
}

/// A stack of two to four RBMs, of any discrete units, in which neighbours share a layer.
std::vector<Layered> draw_stack(Stream& stream, int most_units, double scale) {
  const int rbms = 2 + draw_below(stream, 3);
  std::vector<Layered> stack;
  Layer shared, above;
  shared.unit = Unit::from_code(draw_below(stream, 3));
  shared.bias.resize(draw_size(stream, most_units));
  for (int l = 0; l < rbms; ++l) {
    above.unit = Unit::from_code(draw_below(stream, 3));
    above.bias.resize(draw_size(stream, most_units));
    for (Layer* layer : {&shared, &above})
      layer->bias = draw_matrix(stream, layer->bias.size(), 1, scale);
    stack.push_back(Layered({shared, above},
                            {draw_matrix(stream, shared.bias.size(), above.bias.size(), scale)}));
    shared = above;
  }
  return stack;
}

double means_distance(const Layered& a, const State& at, const Layered& b, const State& copies,
                      int layer) {
  const Eigen::VectorXd one = layer_input(a, at, layer), all = layer_input(b, copies, layer);
  double worst = 0;
  for (Eigen::Index u = 0; u < all.size(); ++u)
    worst = worse(worst, std::abs(mean_value(a.layer(layer).unit, one[u % one.size()]) -
                                  mean_value(b.layer(layer).unit, all[u])));
  return worst;
}

Eigen::VectorXd hidden_means(const Layered& rbm, const State& state) {
  Eigen::VectorXd means = layer_input(rbm, state, 1);
  for (double& mean : means) mean = mean_value(rbm.layer(1).unit, mean);
  return means;
}

Eigen::MatrixXd pair_statistics(const Layered& rbm, const State& state) {
  return state[0] * hidden_means(rbm, state).transpose();
}

// The means of either layer and the statistics at every state, whose copies are alike.
CaseOutcome tied_statistics(Stream& stream, const PairStatistics& statistics) {
  const Layered rbm = draw_stack(stream, 3, 2).front();
  const TiedCopies copies{draw_size(stream, 2), draw_size(stream, 2)};
  const Layered up = with_input_times(rbm, 1, copies.visible);
  const Layered down = with_input_times(rbm, 0, copies.hidden);
  const Layered all = written_out(rbm, copies);
  const StateSpace space(rbm);
  double worst = 0;
  for (std::size_t x = 0; x < space.states(); ++x) {
    const State state = state_at(space, x);
    const State tied = repeated(state, copies);
    worst = worse(worst, worse(means_distance(up, state, all, tied, 1),
                               means_distance(down, state, all, tied, 0)));
    // What an update adds: v h' of one pair is the mean of all pairs'.
    const Eigen::MatrixXd pair = statistics(up, state);
    const Eigen::MatrixXd pairs = pair_statistics(all, tied);
    Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(pair.rows(), pair.cols());
    for (int v = 0; v < copies.visible; ++v)
      for (int h = 0; h < copies.hidden; ++h)
        mean += pairs.block(v * pair.rows(), h * pair.cols(), pair.rows(), pair.cols()) /
                (copies.visible * copies.hidden);
    worst = worse(worst, largest_of(mean - pair));
  }
  return {worst,
          fmt::format("{}, {} x {} copies", describe_case(rbm), copies.visible, copies.hidden)};
}

/// log of the sum over one layer of e^{-E}, given the other's state.
double log_sum_given(const Layered& rbm, int layer, const Eigen::VectorXd& given) {
  State state{Eigen::VectorXd::Zero(rbm.size(0)), Eigen::VectorXd::Zero(rbm.size(1))};
  state[1 - layer] = given;
  double sum = rbm.bias(1 - layer).dot(given);
  for (const double input : layer_input(rbm, state, layer))
    sum += log_partition(rbm.layer(layer).unit, input);
  return sum;
}

// Of a stack of two: each RBM, its outer layer doubled, has a law of the shared layer; the deep
// model's is their geometric mean.
CaseOutcome composed_law(Stream& stream) {
  std::vector<Layered> stack = draw_stack(stream, 4, 2);
  stack.erase(stack.begin() + 2, stack.end());
  const Layered deep = compose_stack(stack);
  const TiedCopies bottom = copies_in_stack(0, 2), top = copies_in_stack(1, 2);
  const Layered below = written_out(stack[0], bottom), above = written_out(stack[1], top);
  const Layered lower({deep.layer(0), deep.layer(1)}, {deep.weights(0)});
  const Layered upper({deep.layer(1), deep.layer(2)}, {deep.weights(1)});
  const StateSpace space(lower);
  double worst = 0;
  for (std::size_t part = 0; part < space.side_states(1); ++part) {
    const Eigen::VectorXd h = state_at(space, space.side_state(1, part))[1];
    const double joined =
        log_sum_given(lower, 0, h) + log_sum_given(upper, 1, h) - deep.bias(1).dot(h);
    const double mean = (log_sum_given(below, 0, h.replicate(bottom.hidden, 1)) +
                         log_sum_given(above, 1, h.replicate(top.visible, 1))) /
                        2;
    worst = worse(worst, std::abs(joined - mean) / std::max(1.0, std::abs(mean)));
  }
  return {worst, describe_case(deep)};
}

}  // namespace

Check tied_statistics_check(const PairStatistics& statistics) {
  return bounded_check(
      "tied-statistics", "pretraining",
      "means and statistics of an RBM whose inputs are doubled are those of the RBM with tied "
      "copies, written out, on (v, v)",
      1e-12, [statistics](Stream& s) { return tied_statistics(s, statistics); });
}

std::vector<Check> pretraining_checks() {
  return {
      tied_statistics_check(pair_statistics),
      bounded_check(
          "composed-law", "pretraining",
          "log p(h1) of the deep model is the mean of what its two RBMs say, their outer layers "
          "doubled, up to a constant",
          1e-12, composed_law),
  };
}

}  // namespace boltzmark
