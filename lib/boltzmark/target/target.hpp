#pragma once

#include <Eigen/Core>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "boltzmark/random/key.hpp"
#include "boltzmark/target/ladder.hpp"

namespace boltzmark {

class Chains;

/// A group of chains of one target, moved and read by one thread.
/// Densities are those of  log f_b = b log f + (1 - b) log p1  with p1 normalised. A target with
/// latent variables (the hidden units) also knows the marginal of the rest ("collapsed").
class Population {
 public:
  virtual ~Population() = default;
  virtual int chains() const = 0;

  /// Draws every chain's state from p1, independently.
  virtual void draw_base() = 0;
  /// Moves chain c once by a kernel that leaves f_{b[c]} unchanged, and counts one sweep.
  /// Shapes  inverse_temperatures [chains], values of a Ladder
  virtual void move(std::span<const float> inverse_temperatures) = 0;
  /// Writes D(x) = log f(x) - log p1(x) of every chain's joint state, which is finite: a wall is a large
  /// negative number.  Shapes  [chains]
  virtual void log_ratio(std::span<double> out) = 0;
  /// Writes log f_b of every chain's marginal state at every rung, log p1 included.
  /// Shapes  [chains x rungs], a chain's rungs side by side
  virtual void log_densities(const Ladder& ladder, std::span<double> out) = 0;
  /// Writes log f_to - log f_from of every chain's marginal state: AIS's increment.
  /// Shapes  [chains]
  virtual void log_increment(float from, float to, std::span<double> out) = 0;
  /// Sets what is observed, the visible units of every chain: where reverse annealing starts.
  /// Shapes  states [visible x chains]
  /// Throws  InvalidArgument if the target has no such units, a value is no state of theirs, or they are
  /// not the whole state that moves keep: a deep model's
  virtual void observe(const Eigen::Ref<const Eigen::MatrixXf>& states);
  /// Copies the state of a chain of another population of the same target: resampling.
  virtual void copy_chain(int chain, const Population& from, int source) = 0;
  /// Returns the states of all layers of a network.
  /// Throws  InvalidArgument if the target is none
  virtual const Chains& layer_states() const;
};

/// What samplers and estimators see of a distribution with density f / Z and of its base p1.
class Target {
 public:
  virtual ~Target() = default;
  /// Makes chains first_chain .. first_chain + chains - 1 of a run. A chain's draws depend on the
  /// key, its number and the sweep alone, so runs do not depend on how chains are grouped.
  /// Shapes  first_chain a multiple of kChainBlock
  virtual std::unique_ptr<Population> populate(int first_chain, int chains,
                                               StreamKey key) const = 0;
  /// Names the rule of moves that leave f_b of the joint state unchanged but are no kernel of its
  /// marginal, for they keep latent variables; empty where they are one, as block Gibbs is.
  virtual std::string joint_rule() const { return {}; }
};

/// Refuses moves that are no kernel of the marginal state, by which a method weighs or draws rungs.
/// Throws  InvalidArgument naming the rule
void require_marginal_moves(const Target& target);

/// Returns a population that a target was asked for.
/// Throws  InvalidArgument if it is none, or has another number of chains
std::unique_ptr<Population> of_chains(int chains, std::unique_ptr<Population> population);

/// Chains split into one population per thread; results do not depend on the split.
class Populations {
 public:
  /// Makes the population of a range of chains.
  using Populate = std::function<std::unique_ptr<Population>(int first_chain, int chains)>;

  /// Throws  InvalidArgument if chains < 1
  Populations(const Target& target, int chains, StreamKey key);
  Populations(int chains, const Populate& populate);

  int chains() const { return chains_; }
  int groups() const { return static_cast<int>(groups_.size()); }
  int first_chain(int group) const { return first_chains_[group]; }
  Population& group(int g) { return *groups_[g]; }
  const Population& group(int g) const { return *groups_[g]; }
  /// Copies a chain's state to a chain of a population of the same target.
  void copy_chain(int chain, Population& to, int place) const;
  /// Copies to a chain the state of one of a population of the same target.
  void take_chain(int chain, const Population& from, int source);

  /// Calls body(population, first chain) for every group, in parallel.
  void for_each(const std::function<void(Population&, int)>& body);

  /// Copies states so that chain c's old state is held by offspring[c] chains: a chain that has
  /// offspring keeps its own state, and those without take the surplus copies in order. If the
  /// offspring of a range of chains add up to its size, copies stay within the range. Returns the chain
  /// whose state each holds now.
  /// Shapes  offspring, returned [chains]
  /// Throws  InvalidArgument if sizes differ, one is negative or they do not add up to chains()
  std::vector<int> resample(std::span<const int> offspring);

 private:
  int group_of(int chain) const;

  int chains_;
  std::vector<int> first_chains_;
  std::vector<std::unique_ptr<Population>> groups_;
};

/// Sets the states of a population, whose first chain has the given number.
using SetStates = std::function<void(Population& population, int first_chain)>;

}  // namespace boltzmark
