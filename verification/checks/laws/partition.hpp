#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "boltzmark/exact/state_space.hpp"
#include "boltzmark/random/stream.hpp"

namespace boltzmark {

/// A partition of the states of a small model into sets X_1, .., X_K, numbered from 0 here, and the
/// Gibbs sampler of the law that weights g give it:
///   p(x; g) ~ p(x) / g_k  for x in X_k                             [salakhutdinov2010, Eqs. 4, 8]
class Partition {
 public:
  /// Shapes  set_of [states], each in 0..K-1
  /// Throws  InvalidArgument if the model cannot be enumerated, set_of has not one number a state,
  /// or a set is empty
  Partition(const Layered& model, std::vector<int> set_of);

  const StateSpace& space() const { return space_; }
  int sets() const { return sets_; }
  int set_of(std::size_t state) const { return set_of_[state]; }
  /// Throws  InvalidArgument if there is no such state
  void require_state(std::size_t state) const;
  /// Lists the units in the order of a sweep: odd layers, then even ones.
  std::span<const int> sweep_order() const { return order_; }

  /// Sums a function of the state over each set.  Shapes  values [states], result [sets]
  Eigen::VectorXd sums(const Eigen::Ref<const Eigen::VectorXd>& values) const;
  /// Computes the law of a unit's value given the others under p(x; g).
  /// Shapes  log_g [sets], law [values of the unit]
  void unit_law(int unit, std::size_t state, std::span<const double> log_g,
                std::span<double> law) const;

 private:
  StateSpace space_;
  std::vector<int> set_of_, order_;
  int sets_ = 0;
};

/// How log g changes after an update that ends in X_k: Wang and Landau's algorithm, or FPCD as one of
/// its kind, whose fast weights -log g a data point in X_d pulls back.
///   Wang-Landau  log g_k += log(1 + gamma_t),  gamma_t = gamma or gamma / t       [Eq. 5]
///   FPCD         log g_k += rate,  log g_d -= rate,  after all shrank to `keep` of it   [Eq. 9]
class WeightRule {
 public:
  /// Leaves g as it is: plain Gibbs sampling.
  static WeightRule frozen() { return WeightRule(0, false); }
  /// Throws  InvalidArgument if factor <= 0; so does the next
  static WeightRule constant(double factor);
  static WeightRule vanishing(double factor);
  /// Throws  InvalidArgument if rate <= 0, data_set < 0 or keep is outside (0, 1]
  static WeightRule fast_weights(double rate, int data_set, double keep = 1);

  /// Throws  InvalidArgument if the data's set is none of so many
  void require_sets(int sets) const;
  /// Changes log g after update t, counted from 1, that ends in `set`.
  void apply(std::uint64_t t, int set, std::span<double> log_g) const;
  /// Tells whether log g is a function of how often each set was visited.
  bool counts_suffice() const { return !vanishing_ && keep_ == 1; }
  /// Computes log g after t updates from those counts, where they suffice, g having started at 1.
  double log_weight(int set, double visits, double t) const {
    return size_ * (visits - (set == data_set_ ? t : 0));
  }

 private:
  WeightRule(double size, bool vanishing) : size_(size), vanishing_(vanishing) {}

  double size_;  // of a step of log g; gamma where it vanishes
  bool vanishing_;
  int data_set_ = -1;
  double keep_ = 1;
};

/// One chain on a partition: a sweep under p(x; g), then the weights' update.
class PartitionChain {
 public:
  /// It starts with every weight 1.  The partition must outlive it.
  /// Throws  InvalidArgument if the partition has no such state, or not the rule's set
  PartitionChain(const Partition& partition, const WeightRule& rule, std::size_t state);

  /// Makes one update.  Randomness  one uniform draw of the stream per unit
  void update(Stream& stream);

  std::uint64_t updates() const { return updates_; }
  std::size_t state() const { return state_; }
  int set() const { return partition_->set_of(state_); }
  std::span<const double> log_g() const { return log_g_; }

 private:
  const Partition* partition_;
  WeightRule rule_;
  std::size_t state_;
  std::uint64_t updates_ = 0;
  std::vector<double> log_g_, law_;
};

/// What a chain on a partition starts from, and where it ends.
struct PartitionStart {
  Eigen::VectorXd law;         ///< of its first state [states]; all weights are 1
  std::vector<int> ends = {};  ///< sets whose first visit ends the chain
};

/// Makes the law that is one state.  Throws  InvalidArgument if there is no such state
Eigen::VectorXd point_law(const Partition& partition, std::size_t state);

/// Computes the law of a chain's state after each update: of (state, visits of each set), the
/// weights being a function of the visits, propagated whole and summed over the visits. Chains that
/// have ended are missing from it.
/// Shapes  result [states x updates + 1], column t after t updates
/// Throws  InvalidArgument if the visits do not fix the weights, the rule's set is none of the
/// partition's, the law has not one number a state, updates < 0, or states x (updates + 1)^(sets - 1) exceeds 2^24
/// Accuracy  at most 1e-20 is lost of each composition of t = 0..updates into visits of the sets
/// Cost  a sweep of a vector over the states for each composition that holds more
Eigen::MatrixXd partition_law(const Partition& partition, const WeightRule& rule,
                              const PartitionStart& start, int updates);

/// Computes the share of updates 1..n that end in each set, from their laws.  Shapes  [sets]
Eigen::VectorXd occupancies(const Partition& partition,
                            const Eigen::Ref<const Eigen::MatrixXd>& laws);

}  // namespace boltzmark
