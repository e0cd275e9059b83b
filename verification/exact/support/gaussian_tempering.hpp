#pragma once

#include <Eigen/Core>
#include <cmath>

#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/sample_store.hpp"

namespace estimate_test {

using namespace boltzmark;

/// A target on the line whose state is D itself: p1 = N(mean, variance), and D given b is
/// N(mean + variance b, variance), so that  log Z(b) = mean b + variance b^2 / 2.
struct GaussianTarget {
  double mean = 1;
  double variance = 6;

  double log_z(double b) const { return mean * b + 0.5 * variance * b * b; }
  double draw(double b, Stream& stream) const {
    return mean + variance * b + std::sqrt(variance) * stream.normal();
  }
};

struct StoreShape {
  int rungs = 6;
  Eigen::Index sweeps = 80;
  Eigen::Index chains = 40;
};

/// Makes a store of zeros.
inline SampleStore store_on(const Ladder& ladder, Eigen::Index sweeps, Eigen::Index chains) {
  return {.ladder = ladder,
          .log_prior = Eigen::VectorXd::Zero(ladder.rungs()),
          .log_z_hat = Eigen::VectorXd::Zero(ladder.rungs()),
          .log_ratio = Eigen::MatrixXd::Zero(sweeps, chains),
          .rung = Eigen::MatrixXi::Zero(sweeps, chains)};
}

/// Makes a store without samples: a linear ladder, a prior that is not uniform, and a Zhat that is
/// not quite Z.
inline SampleStore empty_store(const GaussianTarget& target, const StoreShape& shape) {
  SampleStore store = store_on(Ladder::linear(shape.rungs), shape.sweeps, shape.chains);
  for (int k = 0; k < shape.rungs; ++k) {
    const double b = store.ladder[k];
    store.log_prior[k] = 0.5 * b;
    store.log_z_hat[k] = target.log_z(b) + 0.3 * std::sin(3 * b);
  }
  store.log_prior.array() -= std::log(store.log_prior.array().exp().sum());
  return store;
}

inline int draw_rung(Eigen::VectorXd log_weight, Stream& stream) {
  Eigen::VectorXd p(log_weight.size());
  rung_probabilities(Eigen::VectorXd::Zero(p.size()), log_weight, p);
  double u = stream.uniform();
  int k = 0;
  while (k + 1 < p.size() && u >= p[k]) u -= p[k++];
  return k;
}

/// Runs simulated tempering from its stationary law. A move at b is the autoregression of the given
/// memory that leaves p(D | b) unchanged; at b = 0 D is drawn afresh, as a Gibbs sweep draws p1.
inline SampleStore tempered_store(const GaussianTarget& target, const StoreShape& shape,
                                  double memory, Stream& stream) {
  SampleStore store = empty_store(target, shape);
  const Eigen::VectorXd weight = store.log_prior - store.log_z_hat;
  Eigen::VectorXd betas(shape.rungs), log_z(shape.rungs);
  for (int k = 0; k < shape.rungs; ++k) {
    betas[k] = store.ladder[k];
    log_z[k] = target.log_z(betas[k]);
  }
  for (Eigen::Index c = 0; c < shape.chains; ++c) {
    int k = draw_rung(weight + log_z, stream);
    double d = target.draw(betas[k], stream);
    for (Eigen::Index s = 0; s < shape.sweeps; ++s) {
      const double centre = target.mean + target.variance * betas[k];
      const double kept = k == 0 ? 0 : memory;
      d = centre + kept * (d - centre) +
          std::sqrt((1 - kept * kept) * target.variance) * stream.normal();
      store.log_ratio(s, c) = d;
      store.rung(s, c) = k;
      k = draw_rung(weight + betas * d, stream);
    }
  }
  return store;
}

/// Draws rungs and D independently.
inline SampleStore independent_store(const GaussianTarget& target, const StoreShape& shape,
                                     Stream& stream) {
  SampleStore store = empty_store(target, shape);
  Eigen::VectorXd weight = store.log_prior - store.log_z_hat;
  for (int k = 0; k < shape.rungs; ++k) weight[k] += target.log_z(store.ladder[k]);
  for (Eigen::Index n = 0; n < store.rung.size(); ++n) {
    store.rung.data()[n] = draw_rung(weight, stream);
    store.log_ratio.data()[n] = target.draw(store.ladder[store.rung.data()[n]], stream);
  }
  return store;
}

}  // namespace estimate_test
