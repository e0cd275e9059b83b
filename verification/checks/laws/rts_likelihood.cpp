#include "verification/checks/laws/rts_likelihood.hpp"

#include <cmath>

#include "boltzmark/estimate/estimators/mixture_solver.hpp"

namespace boltzmark {

RtsLikelihood rts_likelihood(const std::vector<RtsStage>& stages, const Eigen::VectorXd& log_prior,
                             const Eigen::VectorXd& log_z) {
  const Eigen::Index rungs = log_z.size();
  Eigen::VectorXd weight = Eigen::VectorXd::Zero(rungs), expected = weight;
  Eigen::MatrixXd overlap = Eigen::MatrixXd::Zero(rungs, rungs);
  double log_mixtures = 0;
  for (const RtsStage& stage : stages) {
    weight += stage.sums.weight.rowwise().sum();
    Eigen::VectorXd p = log_prior - stage.log_z_hat + log_z;
    const double highest = p.maxCoeff();
    p = (p.array() - highest).exp();
    const double sum = p.sum();
    p /= sum;
    log_mixtures += stage.sums.samples * (highest + std::log(sum));
    expected += stage.sums.samples * p;
    overlap += stage.sums.samples * (p * p.transpose());
  }
  return {.value = weight.dot(log_z) - log_mixtures,
          .gradient = weight - expected,
          .hessian = -mixture_hessian(overlap)};
}

}  // namespace boltzmark
