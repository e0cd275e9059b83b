#include "boltzmark/estimate/estimators/markov_chain.hpp"

#include <Eigen/LU>
#include <functional>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"

namespace boltzmark {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Writes where a sample's rung goes next; returns false at the end of a chain, where none is known.
using Step = std::function<bool(Index place, VectorXd& law)>;

Step counted_step(const SampleStore& store) {
  return [&store](Index place, VectorXd& law) {
    if ((place + 1) % store.sweeps() == 0) return false;
    law = VectorXd::Unit(store.rungs(), store.rung.data()[place + 1]);
    return true;
  };
}

Step rao_blackwellised_step(const SampleStore& store, States states) {
  return [law_of = RungLaw(store, states)](Index place, VectorXd& law) {
    law_of(place, law);
    return true;
  };
}

// Sums of transition laws, a column for each rung that is left.
MatrixXd sum_transitions(const SampleStore& store, const Step& step) {
  const auto samples = samples_by_rung(store);
  MatrixXd sums = MatrixXd::Zero(store.rungs(), store.rungs());
  parallel_for(samples.size(), [&](std::size_t j) {
    VectorXd law(store.rungs());
    for (const Index n : samples[j])
      if (step(n, law)) sums.col(static_cast<Index>(j)) += law;
  });
  return sums;
}

// h of the Poisson equation, with pi'h = 0.
VectorXd solve_poisson(const MatrixXd& transition, const VectorXd& stationary) {
  const Index rungs = stationary.size(), top = rungs - 1;
  const VectorXd right =
      VectorXd::Unit(rungs, top) / stationary[top] - VectorXd::Unit(rungs, 0) / stationary[0];
  const MatrixXd system = MatrixXd::Identity(rungs, rungs) - transition +
                          VectorXd::Ones(rungs) * stationary.transpose();
  return system.partialPivLu().solve(right);
}

MatrixXd influences(const SampleStore& store, const Step& step, const MatrixXd& transition,
                    const VectorXd& left, const VectorXd& stationary) {
  const VectorXd h = solve_poisson(transition, stationary), mean = transition * h;
  MatrixXd result = MatrixXd::Zero(store.sweeps(), store.chains());
  parallel_for(static_cast<std::size_t>(store.chains()), [&](std::size_t chain) {
    VectorXd law(store.rungs());
    const auto first = static_cast<Index>(chain) * store.sweeps();
    for (Index n = first; n < first + store.sweeps(); ++n) {
      const int j = store.rung.data()[n];
      if (step(n, law))
        result.data()[n] = store.samples() * stationary[j] / left[j] * (law.dot(h) - mean[j]);
    }
  });
  return result;
}

}  // namespace

std::optional<VectorXd> stationary_law(MatrixXd p) {
  const Index states = p.rows();
  for (Index n = states - 1; n > 0; --n) {
    const double leaving = p.row(n).head(n).sum();
    if (!(leaving > 0)) return std::nullopt;
    p.col(n).head(n) /= leaving;
    p.topLeftCorner(n, n) += p.col(n).head(n) * p.row(n).head(n);
  }
  VectorXd law(states);
  law[0] = 1;
  for (Index n = 1; n < states; ++n) law[n] = law.head(n).dot(p.col(n).head(n));
  if (!(law.minCoeff() > 0)) return std::nullopt;
  return law / law.sum();
}

Estimate stationary_estimate(const SampleStore& store, Transitions transitions, States states) {
  store.check();
  need_random_rungs(store);
  Estimate estimate;
  const Step step = transitions == Transitions::counted ? counted_step(store)
                                                        : rao_blackwellised_step(store, states);
  const MatrixXd sums = sum_transitions(store, step);
  const VectorXd left = sums.colwise().sum();
  if (!judge_visits(estimate, left)) return estimate;
  const MatrixXd transition = sums.transpose().array().colwise() / left.array();
  const auto stationary = stationary_law(transition);
  if (!stationary) {
    estimate.refuse(Status::not_converged,
                    "not every rung leads to every other one: run more sweeps");
    return estimate;
  }
  estimate.log_z_rungs = log_z_from_occupancies(*stationary, store.log_prior, store.log_z_hat);
  estimate.log_z = estimate.log_z_rungs[store.rungs() - 1];
  set_error(estimate, influences(store, step, transition, left, *stationary));
  judge_mixing(estimate, store);
  return estimate;
}

}  // namespace boltzmark
