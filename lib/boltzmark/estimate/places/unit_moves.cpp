#include "boltzmark/estimate/places/unit_moves.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/random/draws.hpp"

namespace boltzmark {

NumberedSides::NumberedSides(const Layered& model, int parity) : sides(list_side(model, parity)) {
  std::vector<Eigen::Index> first = {0};
  for (int l = 0; l < model.layers(); ++l) first.push_back(first.back() + model.size(l));
  const auto number = [&](const UnitPlace& place) { return first[place.layer] + place.unit; };
  std::transform(sides.places.begin(), sides.places.end(), std::back_inserter(units), number);
  std::transform(sides.other_places.begin(), sides.other_places.end(), std::back_inserter(others),
                 number);
}

// How far from the likelier end: so many steps of a discrete unit, each as likely as the step before it times
// e^{-|input| spacing}; of a continuous one the exponential law that ends at the other end.
double value_at(Unit unit, double input, double uniform) {
  if (!unit.is_discrete()) {
    const double rate = std::abs(input), width = unit.highest() - unit.lowest();
    const double away =
        rate > 0 ? -std::log1p(uniform * std::expm1(-rate * width)) / rate : uniform * width;
    return input > 0 ? unit.highest() - std::min(away, width)
                     : unit.lowest() + std::min(away, width);
  }
  const double step = -std::abs(input) * unit.spacing(), all = unit.values();
  const double steps =
      step < 0 ? std::log1p(uniform * std::expm1(all * step)) / step : uniform * all;
  const int away = std::min(unit.steps(), static_cast<int>(steps));
  return unit.value(input > 0 ? unit.steps() - away : away);
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Draws16 = Eigen::Array<std::uint32_t, Eigen::Dynamic, kMovedChains, Eigen::RowMajor>;
using States16 = Eigen::Matrix<float, Eigen::Dynamic, kMovedChains, Eigen::RowMajor>;

template <class Of>
MatrixXd by_unit(const std::vector<Unit>& units, const MatrixXd& inputs, const Of& of) {
  MatrixXd values(inputs.rows(), inputs.cols());
  for (Index c = 0; c < inputs.cols(); ++c)
    for (Index i = 0; i < inputs.rows(); ++i) values(i, c) = of(units[i], inputs(i, c));
  return values;
}

/// Inputs of the side's units by mean field, and what it tells of log Z.
struct MeanFieldEnds {
  MatrixXd inputs;         // [units x columns]
  VectorXd log_z;          // [columns]
  MatrixXd means, others;  // [units, others x columns]
};

// By a few updates from columns of means, in each of which a group is held.
MeanFieldEnds mean_field_ends(const Bipartite& sides, MatrixXd means,
                              const std::vector<UnitGroup>& held,
                              const std::vector<double>& values) {
  constexpr int kUpdates = 4;
  const auto hold = [&] {
    for (Index c = 0; c < means.cols(); ++c) means(held[c], c).setConstant(values[c]);
  };
  MatrixXd inputs, other;
  hold();
  for (int update = 0; update < kUpdates; ++update) {
    other = (sides.weights * means).colwise() + sides.other_input;
    inputs = (sides.weights.transpose() * by_unit(sides.other, other, mean_value)).colwise() +
             sides.bias;
    means = by_unit(sides.enumerated, inputs, mean_value);
    hold();
  }
  other = (sides.weights * means).colwise() + sides.other_input;
  MatrixXd entropies =
      by_unit(sides.enumerated, inputs, log_partition) - inputs.cwiseProduct(means);
  for (Index c = 0; c < means.cols(); ++c) entropies(held[c], c).setZero();
  const MatrixXd of_others = by_unit(sides.other, other, log_partition);
  VectorXd log_z = means.transpose() * sides.bias + entropies.colwise().sum().transpose() +
                   of_others.colwise().sum().transpose();
  return {std::move(inputs), std::move(log_z), std::move(means),
          by_unit(sides.other, other, mean_value)};
}

// Values of all units of a side, given their inputs.
class SideDraws {
 public:
  SideDraws(const std::vector<Unit>& units, std::uint32_t layer, StreamKey key)
      : units_(units),
        layer_(layer),
        draws_(key),
        words_((std::ssize(units) + 3) / 4 * 4, kMovedChains),
        two_values_(std::all_of(units.begin(), units.end(), [&](Unit unit) {
          return unit == units[0] && unit.values() == 2;
        })) {}

  void draw(const States16& inputs, std::uint64_t sweep, States16& values) {
    draws_.fill(words_.data(), {.layer = layer_,
                                .units = static_cast<std::uint32_t>(words_.rows()),
                                .chains = kMovedChains,
                                .sweep = sweep});
    const auto uniforms = (words_.topRows(inputs.rows()).cast<float>() + 0.5F) * 0x1p-32F;
    if (two_values_) {
      const auto low = static_cast<float>(units_[0].lowest()),
                 width = static_cast<float>(units_[0].spacing());
      values = (uniforms * (1 + (-width * inputs.array()).exp()) < 1.0F)
                   .select(States16::Constant(inputs.rows(), kMovedChains, low + width), low);
      return;
    }
    values.resize(inputs.rows(), kMovedChains);
    for (Index i = 0; i < inputs.rows(); ++i)
      for (Index c = 0; c < kMovedChains; ++c)
        values(i, c) = static_cast<float>(
            value_at(units_[i], static_cast<double>(inputs(i, c)), (words_(i, c) + 0.5) * 0x1p-32));
  }

 private:
  const std::vector<Unit>& units_;
  std::uint32_t layer_;
  PhiloxDraws draws_;
  Draws16 words_;
  bool two_values_;
};

}  // namespace

std::vector<HeldMeans> hold_each(const NumberedSides& side, const VectorXd& means,
                                 const std::vector<UnitGroup>& groups,
                                 const std::vector<double>& values) {
  constexpr std::size_t kBlock = 32;
  const Bipartite& sides = side.sides;
  const MeanFieldEnds free = mean_field_ends(sides, means, {{}}, {0});
  std::vector<HeldMeans> found(groups.size());
  parallel_for((groups.size() + kBlock - 1) / kBlock, [&](std::size_t block) {
    const std::size_t first = block * kBlock, last = std::min(groups.size(), first + kBlock);
    const auto part = [&](const auto& all) {
      return std::vector(all.begin() + static_cast<std::ptrdiff_t>(first),
                         all.begin() + static_cast<std::ptrdiff_t>(last));
    };
    const MeanFieldEnds ends = mean_field_ends(
        sides, means.replicate(1, static_cast<Index>(last - first)), part(groups), part(values));
    for (std::size_t k = first; k < last; ++k) {
      const auto column = static_cast<Index>(k - first);
      found[k] = {.log_ratio = ends.log_z[column] - free.log_z[0],
                  .change = (ends.inputs.col(column) - free.inputs)(groups[k]).sum(),
                  .ends = Eigen::VectorXf(std::ssize(side.units) + std::ssize(side.others))};
      found[k].ends(side.units) = ends.means.col(column).cast<float>();
      found[k].ends(side.others) = ends.others.col(column).cast<float>();
    }
  });
  return found;
}

MovedUnits move_units(const NumberedSides& side, const std::vector<UnitMove>& moves, int steps,
                      const Eigen::MatrixXf& states, StreamKey key) {
  const Bipartite& sides = side.sides;
  const Eigen::MatrixXf weights = sides.weights.cast<float>();
  const Eigen::VectorXf bias = sides.bias.cast<float>(),
                        other_bias = sides.other_input.cast<float>();
  SideDraws units(sides.enumerated, 0, key), others(sides.other, 1, key);
  States16 x = states, y, inputs;
  const auto follow = [&](int sweep) {
    inputs.noalias() = weights * x;
    inputs.colwise() += other_bias;
    others.draw(inputs, static_cast<std::uint64_t>(sweep), y);
  };
  MovedUnits moved{VectorXd::Zero(kMovedChains),
                   Eigen::MatrixXf(std::ssize(side.units) + std::ssize(side.others), kMovedChains)};
  std::vector<LogSum> beyond(kMovedChains);
  const auto move_of = [&](Index c) -> const UnitMove& { return moves[moves.size() > 1 ? c : 0]; };
  follow(0);
  for (int t = 1; t <= steps; ++t) {
    inputs.noalias() = weights.transpose() * y;
    inputs.colwise() += bias;
    units.draw(inputs, static_cast<std::uint64_t>(t), x);
    for (Index c = 0; c < kMovedChains; ++c) {
      const UnitMove& move = move_of(c);
      double gained = 0;
      for (const Index u : move.units) {
        const double from = states(u, c), way = move.to - from;
        gained += way / steps * static_cast<double>(inputs(u, c));
        x(u, c) = static_cast<float>(from + way * t / steps);
      }
      moved.log_weights[c] += gained;
      if (!move.beyond) continue;
      const double from = states(move.units[0], c), way = move.to - from;
      const double width = std::abs(way / steps);
      const double past = (from + way * t / steps - *move.beyond) * (way > 0 ? 1 : -1);
      // Of the step's surroundings, what is beyond and not past the end.
      if (const double part = std::min(width, past + width / 2) - (t < steps ? 0 : width / 2);
          part > 0)
        beyond[c].add(moved.log_weights[c] + std::log(part));
    }
    follow(t);
  }
  for (Index c = 0; c < kMovedChains; ++c)
    if (move_of(c).beyond) moved.log_weights[c] = beyond[c].log();
  moved.values(side.units, Eigen::all) = x;
  moved.values(side.others, Eigen::all) = y;
  return moved;
}

}  // namespace boltzmark
