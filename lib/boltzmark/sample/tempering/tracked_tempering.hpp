#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"
#include "boltzmark/target/layered_target.hpp"

namespace boltzmark {

class LayeredPopulation;
class TemperedGroup;

/// The settings of a tracked run; the defaults are those of carlson2016, Sec. 4.4.
struct TrackingOptions {
  int chains = 2000;
  int sweeps = 25;  ///< of every chain between two updates of Zhat
  Ladder ladder = Ladder::linear(100);
  Eigen::VectorXd log_prior = {};  ///< log r_k up to a constant [rungs]; empty: uniform
  double alpha = 0.2;              ///< of the partial update; 0 leaves Zhat as it is
  States states = States::joint;
  StreamKey key = {};
};

/// Where a tracked run stands: what another one goes on from, with draws of its own.
struct TrackedPlace {
  std::vector<Eigen::MatrixXf> states;  ///< per layer [units x chains]
  std::vector<int> rungs;               ///< [chains]
  Eigen::VectorXd log_z_hat;            ///< [rungs]
};

/// What tracked chains were seen doing while Zhat stayed.
struct TrackedSamples {
  RungSums sums;  ///< soft
  LadderTraffic traffic;
};

/// Simulated tempering that goes on while its model changes a little between updates of Zhat:
/// tempered samples for a trainer, and a running estimate of log Z.
///   log Zhat_k <- log Zhat_k + alpha (log r_1 - log r_k + log c_k - log c_1), where c_k is the
///   mean of q(b_k | x) over the chains after the last sweep                 [carlson2016, Eq. 24]
/// Randomness  per chain and sweep: its units' draws and one for its rung
/// Invariant   the same bytes for any number of threads
class TrackedTempering final : public Sampler {
 public:
  /// Draws every chain from p1, puts it on a uniform rung and holds it there for `settle_sweeps`.
  /// Shapes  log_z_hat [rungs], of this model
  /// Throws  InvalidArgument if shapes differ, chains, sweeps or settle_sweeps is below 1, or alpha
  /// is outside [0, 1]
  TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                   const TrackingOptions& options, const Eigen::VectorXd& log_z_hat,
                   int settle_sweeps);
  /// Goes on from a place.
  /// Throws  InvalidArgument if shapes differ, a rung is outside the ladder, or as above
  TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                   const TrackingOptions& options, const TrackedPlace& place);
  TrackedTempering(const TrackedTempering&) = delete;
  TrackedTempering& operator=(const TrackedTempering&) = delete;
  ~TrackedTempering() override;

  std::string name() const override { return "tracked tempering"; }
  int chains() const override { return options_.chains; }
  /// Goes on under other parameters, with the base that it has.
  void set_model(const Layered& model) override;
  const PackedModel& packed() const override { return model_->packed; }
  /// Moves every chain and updates Zhat.
  /// Throws  InvalidArgument if the model's shape is another, or sweeps < 1
  void advance(int sweeps) override;
  /// Moves every chain options.sweeps times under a model of the same shape, and updates Zhat.
  void advance(std::shared_ptr<const TemperedModel> model);
  /// Throws  InvalidArgument: the chains' rungs and draws cannot be saved yet
  void save(CheckpointWriter& out) const override;
  void restore(CheckpointReader& in) override;

  /// Moves every chain at its own rung, and leaves rungs and Zhat as they are.
  /// Throws  InvalidArgument if sweeps < 1
  void hold(int sweeps);
  /// Moves every chain and its rung, and leaves Zhat as it is. `top_states` takes states at b = 1.
  /// Throws  InvalidArgument if sweeps < 1
  TrackedSamples keep(int sweeps, TopStates* top_states = nullptr);
  /// Goes on with another Zhat.  Throws  InvalidArgument if it is not of finite values, one a rung
  void set_log_z_hat(const Eigen::VectorXd& log_z_hat);
  /// Returns where the run stands, without its place in the draws.
  TrackedPlace place() const;

  /// The running estimate of log Z at b = 1.
  double log_z() const { return log_z_hat_[log_z_hat_.size() - 1]; }
  const Eigen::VectorXd& log_z_hat() const { return log_z_hat_; }
  /// The last update's c_k [rungs], summing to 1.
  const Eigen::VectorXd& occupancy() const { return occupancy_; }
  /// The last update's full estimate of log Z at b = 1, alpha = 1: not smoothed.  [Eq. 12]
  double log_z_full() const { return log_z_full_; }
  /// The model of the last update.
  const std::shared_ptr<const TemperedModel>& model() const { return model_; }
  /// q(b_K | x) of every chain after its last sweep [chains].
  std::span<const double> weights() const override { return top_weights_; }
  /// Copies every chain's states.  Throws  InvalidArgument unless `out` has as many chains
  void copy_states(Chains& out) const override;

 private:
  TrackedTempering(const std::shared_ptr<const TemperedModel>& model,
                   const TrackingOptions& options, const Eigen::VectorXd& log_z_hat);
  void put(const TrackedPlace& place);
  void update_log_z(const Eigen::MatrixXd& probabilities);

  std::shared_ptr<const TemperedModel> model_;
  SimulatedTemperingOptions options_;
  int sweeps_;
  double alpha_;
  Eigen::VectorXd log_prior_;
  Eigen::VectorXd log_z_hat_;
  Eigen::VectorXd occupancy_;
  double log_z_full_ = 0;
  std::vector<double> top_weights_;
  std::vector<LayeredPopulation*> layered_;  ///< the populations below, by their own type
  Populations populations_;
  std::vector<TemperedGroup> groups_;
};

}  // namespace boltzmark
