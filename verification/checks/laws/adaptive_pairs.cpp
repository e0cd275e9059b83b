#include "verification/checks/laws/adaptive_pairs.hpp"

#include <algorithm>

#include "boltzmark/core/numeric.hpp"
#include "boltzmark/exact/spectrum/operator.hpp"
#include "boltzmark/sample/chains/adaptive_chains.hpp"
#include "verification/checks/worst.hpp"

namespace boltzmark {
namespace {

// -E of every state.
Eigen::VectorXd log_f_of(const StateSpace& space) {
  return space.log_p().array() + space.log_z() - space.log_weight();
}

// Equal weights of all states make no difference, and are left out.
Eigen::MatrixXd stationary_of(const Eigen::VectorXd& log_f, const std::vector<float>& ladder,
                              const Eigen::VectorXd& log_g) {
  Eigen::MatrixXd log_pi(log_f.size(), log_g.size());
  for (Eigen::Index k = 0; k < log_g.size(); ++k)
    log_pi.col(k) = static_cast<double>(ladder[k]) * log_f.array() - log_g[k];
  Eigen::MatrixXd pi = (log_pi.array() - log_pi.maxCoeff()).exp();
  return pi / pi.sum();
}

Eigen::MatrixXd step_law(const Eigen::VectorXd& log_f, const std::vector<float>& ladder,
                         const Eigen::VectorXd& log_g, int from) {
  const auto rungs = static_cast<int>(log_g.size());
  Eigen::MatrixXd law = Eigen::MatrixXd::Zero(log_f.size(), rungs);
  law.col(from).setOnes();
  for (const int to : {from - 1, from + 1}) {
    if (to < 0 || to >= rungs) continue;
    for (Eigen::Index x = 0; x < log_f.size(); ++x) {
      const double p =
          proposal_probability(rungs, from, to) *
          rung_step_probability(ladder, {log_g.data(), static_cast<std::size_t>(rungs)}, log_f[x],
                                from, to);
      law(x, to) = p;
      law(x, from) -= p;
    }
  }
  return law;
}

}  // namespace

AdaptivePairs exact_pairs(const Layered& model, const std::vector<float>& ladder,
                          const Eigen::VectorXd& log_g, const Rule& rule) {
  const StateSpace space(model);
  const Eigen::VectorXd log_f = log_f_of(space);
  AdaptivePairs pairs{
      .p = space.p(), .log_f = log_f, .stationary = stationary_of(log_f, ladder, log_g)};
  for (int k = 0; k < static_cast<int>(ladder.size()); ++k) {
    const double b = static_cast<double>(ladder[k]);
    pairs.sweeps.push_back(
        sweep_matrix(StateSpace(tempered(model, Base::uniform(model), b)), rule));
    pairs.steps.push_back(step_law(log_f, ladder, log_g, k));
  }
  return pairs;
}

Eigen::VectorXd rung_log_z(const Layered& model, const std::vector<float>& ladder) {
  const Eigen::VectorXd log_f = log_f_of(StateSpace(model));
  Eigen::VectorXd log_z(static_cast<Eigen::Index>(ladder.size()));
  for (Eigen::Index k = 0; k < log_z.size(); ++k)
    log_z[k] = log_sum_exp(Eigen::VectorXd(static_cast<double>(ladder[k]) * log_f));
  return log_z;
}

JointLaw product_law(const AdaptivePairs& pairs) {
  JointLaw law;
  for (int k = 0; k < pairs.rungs(); ++k)
    law.emplace_back(pairs.p * pairs.stationary.col(k).transpose());
  return law;
}

JointLaw advance(const AdaptivePairs& pairs, const JointLaw& law, SwapRule rule, bool at_lag) {
  JointLaw next(law.size(), Eigen::MatrixXd::Zero(pairs.states(), pairs.states()));
  for (int from = 0; from < pairs.rungs(); ++from) {
    const Eigen::MatrixXd moved =
        pairs.sweeps[pairs.top()].transpose() * law[from] * pairs.sweeps[from];
    for (int to = std::max(0, from - 1); to <= std::min(pairs.top(), from + 1); ++to) {
      const Eigen::MatrixXd flow = moved * pairs.steps[from].col(to).asDiagonal();
      if (exchanges(rule, at_lag, from, to, pairs.top()))
        next[to] += flow.transpose();
      else
        next[to] += flow;
    }
  }
  return next;
}

double largest_difference(const JointLaw& a, const JointLaw& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = worse(worst, largest_of(a[k] - b[k]));
  return worst;
}

}  // namespace boltzmark
