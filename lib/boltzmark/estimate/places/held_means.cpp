#include "boltzmark/estimate/places/held_means.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/model/unit.hpp"

namespace boltzmark {

NumberedSides::NumberedSides(const Layered& model, int parity) : sides(list_side(model, parity)) {
  std::vector<Eigen::Index> first = {0};
  for (int l = 0; l < model.layers(); ++l) first.push_back(first.back() + model.size(l));
  const auto number = [&](const UnitPlace& place) { return first[place.layer] + place.unit; };
  std::transform(sides.places.begin(), sides.places.end(), std::back_inserter(units), number);
  std::transform(sides.other_places.begin(), sides.other_places.end(), std::back_inserter(others),
                 number);
}

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

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
                              std::span<const HeldGroup> held) {
  constexpr int kUpdates = 4;
  const auto hold = [&] {
    for (Index c = 0; c < means.cols(); ++c)
      means(held[c].units, c) = VectorXd::Map(held[c].values.data(), std::ssize(held[c].units));
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
  for (Index c = 0; c < means.cols(); ++c)
    for (const Index u : held[c].units) {
      const Unit unit = sides.enumerated[u];
      entropies(u, c) = unit.is_discrete() ? unit.log_weight() : 0;
    }
  const MatrixXd of_others = by_unit(sides.other, other, log_partition);
  VectorXd log_z = means.transpose() * sides.bias + entropies.colwise().sum().transpose() +
                   of_others.colwise().sum().transpose();
  return {std::move(inputs), std::move(log_z), std::move(means),
          by_unit(sides.other, other, mean_value)};
}

}  // namespace

std::vector<HeldMeans> hold_each(const NumberedSides& side, const VectorXd& means,
                                 const std::vector<HeldGroup>& groups) {
  constexpr std::size_t kBlock = 32;
  const Bipartite& sides = side.sides;
  const MeanFieldEnds free = mean_field_ends(sides, means, std::vector(1, HeldGroup{}));
  std::vector<HeldMeans> found(groups.size());
  parallel_for((groups.size() + kBlock - 1) / kBlock, [&](std::size_t block) {
    const std::size_t first = block * kBlock, last = std::min(groups.size(), first + kBlock);
    const MeanFieldEnds ends =
        mean_field_ends(sides, means.replicate(1, static_cast<Index>(last - first)),
                        std::span(groups).subspan(first, last - first));
    for (std::size_t k = first; k < last; ++k) {
      const auto column = static_cast<Index>(k - first);
      const UnitGroup& units = groups[k].units;
      found[k] = {.log_ratio = ends.log_z[column] - free.log_z[0],
                  .inputs = ends.inputs.col(column)(units),
                  .changes = (ends.inputs.col(column) - free.inputs)(units),
                  .ends = Eigen::VectorXf(std::ssize(side.units) + std::ssize(side.others))};
      found[k].ends(side.units) = ends.means.col(column).cast<float>();
      found[k].ends(side.others) = ends.others.col(column).cast<float>();
    }
  });
  return found;
}

}  // namespace boltzmark
