#include "boltzmark/estimate/places/small_masses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/places/numbered_sides.hpp"
#include "boltzmark/estimate/places/unit_draws.hpp"
#include "boltzmark/exact/enumeration/enumeration.hpp"
#include "boltzmark/exact/enumeration/plain.hpp"
#include "boltzmark/model/sides.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {
namespace {

constexpr int kDraws = 16;  // a place

// States drawn from a place's product law, and their log f / q.
struct NearStates {
  Eigen::MatrixXd states;       // of the listed side [units x draws]
  Eigen::VectorXd log_weights;  // [draws]
};

NearStates draw_near(const Bipartite& sides, const Eigen::VectorXd& other_means, Stream& draws) {
  const Eigen::VectorXd inputs = sides.bias + sides.weights.transpose() * other_means;
  const Eigen::Index units = inputs.size();
  NearStates drawn{Eigen::MatrixXd(units, kDraws), Eigen::VectorXd(kDraws)};
  double normaliser = 0;
  for (Eigen::Index i = 0; i < units; ++i)
    normaliser += log_partition(sides.enumerated[static_cast<std::size_t>(i)], inputs[i]);
  for (int n = 0; n < kDraws; ++n) {
    auto state = drawn.states.col(n);
    for (Eigen::Index i = 0; i < units; ++i)
      state[i] =
          value_at(sides.enumerated[static_cast<std::size_t>(i)], inputs[i], draws.uniform());
    const Eigen::VectorXd other = sides.other_input + sides.weights * state;
    drawn.log_weights[n] =
        log_weight(sides, other, sides.bias.dot(state)) - (inputs.dot(state) - normaliser);
  }
  return drawn;
}

Eigen::Index most_places(const Bipartite& sides) {
  constexpr double kWeights = 0x1p30;
  return static_cast<Eigen::Index>(kWeights / kDraws /
                                   std::max(1.0, static_cast<double>(sides.weights.size())));
}

// The first places, at most so many, that are elsewhere than what the uniform base's chains reach.
std::vector<Eigen::Index> away_from(const Eigen::VectorXd& reached, const Places& places,
                                    const std::vector<Eigen::Index>& listed, Eigen::Index most) {
  std::vector<Eigen::Index> away;
  for (int k = 0; k < places.count() && std::ssize(away) < most; ++k) {
    const Eigen::VectorXd means = places.means.col(k).cast<double>();
    const Eigen::VectorXd apart = (means - reached)(listed);
    if (apart.squaredNorm() > kSamePlace) away.push_back(k);
  }
  return away;
}

// The first place is a group, the second, two, four, eight, ..
int group_of(Eigen::Index place) { return std::bit_width(static_cast<std::size_t>(place)); }

// Shapes  log_weights [draws x places], -infinity where the draw is in another part
void add_groups(const Eigen::MatrixXd& log_weights, SmallMasses& small) {
  const Eigen::Index count = log_weights.cols();
  const double highest = log_weights.maxCoeff();
  const Eigen::ArrayXXd weights = (log_weights.array() - highest).exp();
  const Eigen::ArrayXd means = weights.colwise().mean();
  const Eigen::ArrayXd variances =
      (weights.rowwise() - means.transpose()).square().colwise().sum() / (kDraws - 1.0) / kDraws;
  Eigen::ArrayXd sums = Eigen::ArrayXd::Zero(group_of(count - 1) + 1), squares = sums, least = sums;
  small.groups.push_back(-1);
  for (Eigen::Index k = 0; k < count; ++k) {
    const int group = group_of(k);
    small.groups.push_back(group);
    sums[group] += means[k];
    squares[group] += variances[k];
    least[group] += std::exp(least_log_mass(log_weights.col(k)) - highest);
  }
  small.log_least = highest + least.log();
  small.log_masses = highest + sums.log();
  small.errors = (sums > 0).select(squares.sqrt() / sums, 0.0);
}

}  // namespace

SmallMasses small_masses(const Layered& model, const Places& places, int parity,
                         const Eigen::VectorXd& reached, double found, StreamKey key) {
  constexpr double kNothing = -8;  // nats
  SmallMasses small;
  if (!std::isfinite(log2_states(model, parity))) return small;
  const NumberedSides side(model, parity);
  const Bipartite& sides = side.sides;
  const std::vector<Eigen::Index>& listed = side.units;
  const std::vector<Eigen::Index> away = away_from(reached, places, listed, most_places(sides));
  const auto count = std::ssize(away);
  if (count < 1 || !(log_sum_exp(Eigen::VectorXd::Map(places.log_z.data(), places.count())(away)) >
                     found + kNothing))
    return small;
  Eigen::MatrixXd centres(model.units(), count + 1);
  centres << reached, places.means(Eigen::all, away).cast<double>();
  const Eigen::MatrixXd other_means =
      centres.rightCols(count)(side.others, Eigen::all);
  const Parts of_side{centres(listed, Eigen::all), Eigen::VectorXd::Ones(std::ssize(listed))};
  Eigen::MatrixXd log_weights(kDraws, count);
  parallel_for(static_cast<std::size_t>(count), [&](std::size_t k) {
    const auto place = static_cast<Eigen::Index>(k);
    Stream stream(key, Purpose::start, k);
    const NearStates drawn = draw_near(sides, other_means.col(place), stream);
    const std::vector<int> parts = of_side.parts_of(drawn.states);
    for (int n = 0; n < kDraws; ++n)
      log_weights(n, place) = parts[static_cast<std::size_t>(n)] == place + 1
                                  ? drawn.log_weights[n]
                                  : -std::numeric_limits<double>::infinity();
  });
  if (!(log_weights.maxCoeff() > -std::numeric_limits<double>::infinity())) return small;
  add_groups(log_weights, small);
  // Of all units, of which those of the other side count for nothing.
  small.parts.scales = Eigen::VectorXd::Zero(model.units());
  small.parts.scales(listed).setOnes();
  small.parts.centres = small.parts.scales.asDiagonal() * centres;
  return small;
}

}  // namespace boltzmark
