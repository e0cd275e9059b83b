#pragma once

#include <utility>
#include <vector>

#include "boltzmark/random/stream.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {

/// Throws  InvalidArgument unless values of this name are finite and one for each of so many rungs
void require_rungs(const char* name, const Eigen::VectorXd& values, Eigen::Index rungs);
/// Returns log r_k, sum_k r_k = 1, of log r_k up to a constant.
Eigen::VectorXd normalised_log_prior(const Eigen::VectorXd& log_prior);

/// Where the chains of a run write what they saw; a chain writes only to its own columns.
struct TemperedRecord {
  Eigen::Index sweeps = 0;
  SampleStore* store = nullptr;     ///< null: sums alone
  TopStates* top_states = nullptr;  ///< null: states at b = 1 are not kept
  RungSums sums;
  std::vector<Eigen::Vector3d> end_squares;  ///< per chain
  std::vector<TripCounter> trip_counters;    ///< per chain

  TemperedRecord(Eigen::Index rungs, Eigen::Index chains, Eigen::Index kept_sweeps, int batches);
  /// Adds the chains' squares, in their order, to the sums.
  RungSums finish();
  LadderTraffic traffic() const { return traffic_of(trip_counters); }
};

/// The rungs of one population's chains, and the loop that moves both. One thread's work.
class TemperedGroup {
 public:
  TemperedGroup(Population& population, int first_chain, const SimulatedTemperingOptions& options);

  /// Puts every chain on a uniformly drawn rung.
  void draw_uniform_rungs();
  /// Puts every chain on a rung.  Shapes  rungs [chains], each 0..rungs-1
  void set_rungs(std::vector<int> rungs) { rungs_ = std::move(rungs); }
  /// Makes sweeps with every chain on its rung, and records nothing.
  void hold(Eigen::Index sweeps);
  /// Makes sweeps first..last-1 of the record's with the rungs' weights log r_k - log Zhat_k.
  void run(const Eigen::VectorXd& log_weight, TemperedRecord& record, Eigen::Index first,
           Eigen::Index last);
  const std::vector<int>& rungs() const { return rungs_; }  ///< of every chain now

 private:
  void move();
  void measure();
  void add_sample(int chain, Eigen::Index sweep, TemperedRecord& record);
  void add_soft(int chain, Eigen::Index group, TemperedRecord& record) const;
  void add_ends(int chain, double low, double high, TemperedRecord& record) const;
  void keep(int chain, Eigen::Index sweep, SampleStore& store) const;
  int next_rung(int chain);

  Population* population_;
  int first_chain_;
  const SimulatedTemperingOptions* options_;
  std::vector<Stream> streams_;  ///< per chain
  std::vector<Stream> choices_;  ///< per chain: which state at b = 1 is taken
  std::vector<int> rungs_;       ///< per chain
  std::vector<float> inverse_temperatures_;
  std::vector<double> log_ratios_;     ///< [chains]
  std::vector<double> log_densities_;  ///< [chains x rungs], collapsed only
  Eigen::VectorXd betas_;
  Eigen::VectorXd probabilities_;  ///< q(b_k | x) of the chain at hand
};

}  // namespace boltzmark
