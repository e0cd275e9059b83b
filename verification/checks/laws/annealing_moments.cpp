#include "verification/checks/laws/annealing_moments.hpp"

#include <cmath>
#include <vector>

#include "boltzmark/core/numeric.hpp"
#include "verification/checks/laws/recovered_sweep.hpp"

namespace boltzmark {
namespace {

// The sweeps of one rung, acting on measures (push) and on functions (pull).
class RungKernel {
 public:
  RungKernel(const Layered& model, const Base& base, const AnnealingRung& rung, float beta,
             const AnnealingKernel& kernel)
      : kernel_(kernel), sweep_(rung.space, kernel.rule) {
    if (kernel.law == SweepLaw::exact) return;
    const RecoveredSweep recovered(model, base, kernel.rule, beta);
    matrix_ = recovered.side_matrix(kernel.summed) * recovered.side_matrix(1 - kernel.summed);
  }
  void push(StateBlock& measures) const {
    for (int s = 0; s < kernel_.sweeps; ++s) {
      if (kernel_.law == SweepLaw::exact)
        sweep_.push(measures, kernel_.summed);
      else
        measures = (matrix_.transpose() * measures).eval();
    }
  }
  void pull(StateBlock& functions) const {
    for (int s = 0; s < kernel_.sweeps; ++s) {
      if (kernel_.law == SweepLaw::exact)
        sweep_.pull(functions, kernel_.summed);
      else
        functions = (matrix_ * functions).eval();
    }
  }

 private:
  AnnealingKernel kernel_;
  SweepOperator sweep_;
  Eigen::MatrixXd matrix_;
};

// Multiplies a measure by exp(log_factor), and moves its sum into log_total.
void scale(Eigen::Ref<Eigen::VectorXd, 0, Eigen::InnerStride<>> measure,
           const Eigen::VectorXd& log_factor, double& log_total) {
  const Eigen::ArrayXd logs = measure.array().log() + log_factor.array();
  const double highest = logs.maxCoeff();
  measure = (logs - highest).exp();
  const double sum = measure.sum();
  measure /= sum;
  log_total += highest + std::log(sum);
}

// What is propagated, in columns of measures over the joint states. Weighted measures are kept at
// sum 1 with the logs of their sums apart; log weights are kept centred at each step.
class PathMoments {
 public:
  explicit PathMoments(const Eigen::VectorXd& start) : columns_(start.size(), 5) {
    for (const int c : {kWeight, kSquare, kLaw}) columns_.col(c) = start;
    for (const int c : {kLog, kLogSquare}) columns_.col(c).setZero();
  }

  void weigh(const Eigen::VectorXd& increment) {
    scale(columns_.col(kWeight), increment, log_weight_);
    scale(columns_.col(kSquare), 2 * increment, log_square_);
    const double mean = columns_.col(kLaw).dot(increment);
    const Eigen::ArrayXd centred = increment.array() - mean;
    mean_log_ += mean;
    columns_.col(kLogSquare).array() +=
        centred * (2 * columns_.col(kLog).array() + centred * columns_.col(kLaw).array());
    columns_.col(kLog).array() += centred * columns_.col(kLaw).array();
  }

  StateBlock& columns() { return columns_; }

  AnnealingMoments result(double log_z) const {
    return {.log_z = log_z,
            .log_mean = log_weight_ + std::log(columns_.col(kWeight).sum()),
            .log_second_moment = log_square_ + std::log(columns_.col(kSquare).sum()),
            .mean_log = mean_log_ + columns_.col(kLog).sum(),
            .variance_log = columns_.col(kLogSquare).sum()};
  }

 private:
  enum Column : int { kWeight, kSquare, kLaw, kLog, kLogSquare };

  StateBlock columns_;
  double log_weight_ = 0, log_square_ = 0, mean_log_ = 0;
};

}  // namespace

AnnealingRung::AnnealingRung(const Layered& model, const Base& base, double inverse_temperature,
                             int summed)
    : space(tempered(model, base, inverse_temperature)) {
  // log f_b is (1 - b) times log p1's normaliser below the negative energy of the tempered model.
  log_z = space.log_z() - (1 - inverse_temperature) * log_normaliser(model, base);
  const int kept = 1 - summed;
  std::vector<LogSum> sums(space.side_states(kept));
  for (std::size_t x = 0; x < space.states(); ++x)
    sums[space.side_part(kept, x)].add(space.log_p()[static_cast<Eigen::Index>(x)]);
  log_marginal.resize(static_cast<Eigen::Index>(space.states()));
  for (std::size_t x = 0; x < space.states(); ++x)
    log_marginal[static_cast<Eigen::Index>(x)] = sums[space.side_part(kept, x)].log() + log_z;
}

AnnealingMoments exact_ais_moments(const Layered& model, const Base& base, const Ladder& ladder,
                                   const AnnealingKernel& kernel) {
  AnnealingRung below(model, base, ladder[0], kernel.summed);
  PathMoments moments(below.space.p());
  for (int k = 1; k < ladder.rungs(); ++k) {
    AnnealingRung rung(model, base, ladder[k], kernel.summed);
    moments.weigh(rung.log_marginal - below.log_marginal);
    // No weight depends on the sweeps of the highest rung.
    if (k + 1 < ladder.rungs())
      RungKernel(model, base, rung, ladder.single(k), kernel).push(moments.columns());
    below = std::move(rung);
  }
  return moments.result(below.log_z);
}

double exact_log_weight_moment(const Layered& model, const Base& base, const Ladder& ladder,
                               double power, const AnnealingKernel& kernel) {
  AnnealingRung below(model, base, ladder[0], kernel.summed);
  StateBlock measure = below.space.p();
  double log_total = 0;
  for (int k = 1; k < ladder.rungs(); ++k) {
    AnnealingRung rung(model, base, ladder[k], kernel.summed);
    scale(measure.col(0), power * (rung.log_marginal - below.log_marginal), log_total);
    RungKernel(model, base, rung, ladder.single(k), kernel).push(measure);
    below = std::move(rung);
  }
  return log_total;
}

Eigen::VectorXd exact_reverse_annealing(const Layered& model, const Base& base,
                                        const Ladder& ladder, const AnnealingKernel& kernel) {
  AnnealingRung below(model, base, ladder[0], kernel.summed);
  StateBlock mean = StateBlock::Ones(static_cast<Eigen::Index>(below.space.states()), 1);
  double log_scale = 0;
  // E[e^-R | v_k] from E[e^-R | v_{k-1}], the lowest rung first.
  for (int k = 1; k < ladder.rungs(); ++k) {
    AnnealingRung rung(model, base, ladder[k], kernel.summed);
    Eigen::ArrayXd logs =
        mean.col(0).array().log() + (below.log_marginal - rung.log_marginal).array();
    const double highest = logs.maxCoeff();
    mean.col(0) = (logs - highest).exp();
    log_scale += highest;
    RungKernel(model, base, rung, ladder.single(k), kernel).pull(mean);
    below = std::move(rung);
  }
  return mean.col(0).array().log() + log_scale;
}

Eigen::VectorXd annealed_law(const Layered& model, const Base& base, const Ladder& ladder,
                             const AnnealingKernel& kernel) {
  StateBlock law = AnnealingRung(model, base, ladder[0]).space.p();
  for (int k = 1; k < ladder.rungs(); ++k) {
    const AnnealingRung rung(model, base, ladder[k], kernel.summed);
    RungKernel(model, base, rung, ladder.single(k), kernel).push(law);
  }
  return law.col(0);
}

}  // namespace boltzmark
