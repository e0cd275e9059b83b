#pragma once

#include <memory>
#include <vector>

#include "boltzmark/learn/trainer.hpp"
#include "boltzmark/sample/tempering/tracked_tempering.hpp"
#include "boltzmark/transition/tempered_chains.hpp"

namespace boltzmark::experiments {

/// The dna set as Sec. 4.4 uses it: 1,400 cases to train on and 600 held out.
struct DnaCases {
  CaseValues train;  ///< [180 x 1400]
  CaseValues valid;  ///< [180 x 600]
};
/// Loads it once in a process.
const DnaCases& dna_cases();

inline constexpr int kSettleSweeps = 100;  ///< that each chain starts with on its rung

/// The settings of a tracked training run of Sec. 4.4.
struct TrackedTrainingOptions {
  int hidden = 500;
  int chains = 2000;
  double alpha = 0.2;
  double prior_slope = 2;  ///< s of r_k ~ exp(s b_k)
  int pretraining = 100;   ///< updates of CD-1 by minibatches of 100 at rate 0.05
  StreamKey key = {};
};

/// Pretrains a 180-500 RBM of dna by CD-1.
Layered pretrain_dna(const TrackedTrainingOptions& options);
/// Makes the base of the dna set's smoothed rates.
Base dna_base(const Layered& model);
/// Makes log r_k = s b_k on K = 100 equally spaced rungs.
Eigen::VectorXd sloped_log_prior(const Ladder& ladder, double slope);
/// Runs the initial iterations of Sec. 2.4 on a model.  Returns  log Zhat [rungs]
Eigen::VectorXd initial_log_z(const std::shared_ptr<const TemperedModel>& model,
                              const TrackedTrainingOptions& options);
/// Turns training options into those of the tempered chains.
TrackingOptions tracking_options(const TrackedTrainingOptions& options);

/// Mean log-likelihoods, nats per case, or mean log f where log Z is still to be subtracted.
struct TrainValid {
  double train = 0;
  double valid = 0;
};

/// The negative phase of the present samples, ready for a gradient: sum -= its weighted mean.
void subtract_negative(const TemperedModel& model, const TrackedTempering& tempering,
                       Chains& buffer, Parameters& sum);

/// RMSspectral on full-batch gradients whose negative phase weighs all tempered samples, with log Z
/// tracked.                                                               [carlson2016, Sec. 4.4]
class TrackedTraining {
 public:
  explicit TrackedTraining(const TrackedTrainingOptions& options);

  /// Moves the chains 25 sweeps under the present parameters; the estimate of log Z follows.
  void sample();
  /// Computes the mean log f(v) of the present parameters over both sets of cases.
  TrainValid mean_log_f();
  /// Changes the parameters by one step.
  void update() { trainer_.step(); }

  const TrackedTempering& tempering() const { return *tempering_; }
  /// Returns the model of the last samples.
  const TemperedModel& model() const { return *tempering_->model(); }
  std::shared_ptr<const TemperedModel> shared_model() const { return tempering_->model(); }

 private:
  explicit TrackedTraining(std::unique_ptr<TrackedTempering> tempering);

  const TrackedTempering* tempering_;  ///< the trainer's sampler
  Trainer trainer_;
  TemperedChains cases_;  ///< all cases as chains: log f(v) by the samplers' kernel
};

}  // namespace boltzmark::experiments
