#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/stream.hpp"

// Models with modes at known places and log Z in closed form.
namespace well_models {

/// A model and its log Z.
struct Planted {
  boltzmark::Layered model;
  double log_z = 0;
};

/// A golf hole: all hidden units off leave the visible ones free; all on pin them, 13 nats higher,
/// with hundreds of nats of barrier between. From a uniform base the hole is the heavier at b near
/// 1 alone, where no chain crosses.
///   Z = sum_m C(n, m) e^{-c m} (1 + e^{w m})^N
inline Planted golf_hole(int visible, int hidden, double depth = 13) {
  using namespace boltzmark;
  const double input = 10, weight = input / hidden;  // of a visible unit in the hole
  const double free = visible * std::log(2.0);
  const double cost = (visible * std::log1p(std::exp(input)) - free - depth) / hidden;
  double log_z = free;
  for (int m = 1; m <= hidden; ++m) {
    const double term = std::lgamma(hidden + 1.0) - std::lgamma(m + 1.0) -
                        std::lgamma(hidden - m + 1.0) - cost * m +
                        visible * std::log1p(std::exp(weight * m));
    const double high = std::max(log_z, term);
    log_z = high + std::log1p(std::exp(std::min(log_z, term) - high));
  }
  return {Layered::rbm(Eigen::MatrixXd::Constant(visible, hidden, weight),
                       Eigen::VectorXd::Zero(visible), Eigen::VectorXd::Constant(hidden, -cost)),
          log_z};
}

/// A model with a mode that is met from its own visible state and hardly elsewhere.
struct PlantedWell {
  boltzmark::Layered model;
  Eigen::VectorXf hidden;
  Eigen::MatrixXf visible;  ///< [visible x 1]
};

/// The visible units follow a pattern p where all hidden units but one are on, and its opposite
/// where fewer are; the hidden ones turn on at p alone. All on is a mode by a margin of 3 nats, and
/// far below all off.
inline PlantedWell hidden_well(int visible, int hidden) {
  using namespace boltzmark;
  constexpr double kWeight = 5, kMargin = 3;
  Stream stream(make_key(7, "hidden well"), Purpose::test);
  Eigen::VectorXd sign(visible);
  for (double& s : sign) s = stream.below(2) == 0 ? 1.0 : -1.0;
  const double on = static_cast<double>((sign.array() > 0).count());
  return {Layered::rbm(kWeight * sign * Eigen::RowVectorXd::Ones(hidden),
                       -kWeight * (hidden - 2) * sign,
                       Eigen::VectorXd::Constant(hidden, kMargin - kWeight * on)),
          Eigen::VectorXf::Ones(hidden), (sign.array() > 0).cast<float>()};
}

}  // namespace well_models
