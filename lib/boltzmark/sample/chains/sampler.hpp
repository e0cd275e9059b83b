#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "boltzmark/core/checkpoint.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// What moves the chains that a trainer draws its negative samples from: one small interface, behind
/// which CD's short chains, persistent ones and whole ladders are alike.
///   set_model, advance, copy_states and weights, and again under the next model
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Names the algorithm as the field does.
  virtual std::string name() const = 0;
  /// Returns how many states at b = 1 it gives.
  virtual int chains() const = 0;

  /// Goes on under other parameters of a model of the same shape, which must live while they serve.
  /// Throws  InvalidArgument if shapes differ or a parameter is outside the range of float32
  virtual void set_model(const Layered& model) = 0;
  /// Returns the parameters as packed for the sweeps, which serve a positive phase as well.
  virtual const PackedModel& packed() const = 0;
  /// Returns those that the states at b = 1 were drawn under: the model's, unless it adds its own.
  virtual const PackedModel& negative_packed() const { return packed(); }

  /// Offers the cases of a minibatch, for chains that start at them; others go on where they are.
  /// Shapes  cases, inputs: of chains() cases and of their hidden units, which must live until the
  /// states are copied; weights [chains] of the cases, or empty for 1 each
  virtual void start_at(const Chains& /*cases*/, std::span<const float> /*inputs*/,
                        std::span<const float> /*weights*/) {}
  /// Makes sweeps of every chain.
  virtual void advance(int sweeps) = 0;
  /// Returns what an advance costs on average, in sweeps of one chain.
  virtual double chain_sweeps(int sweeps) const { return static_cast<double>(chains()) * sweeps; }
  /// Copies the states at b = 1.  Shapes  out of the model's layers, chains() chains
  virtual void copy_states(Chains& out) const = 0;
  /// Gives these states for good: without a copy where the next advance does not need them.
  virtual void take_states(Chains& out) { copy_states(out); }
  /// Returns the weights that make these states samples of the model, up to a common factor.
  /// Shapes  [chains], or empty for 1 each
  virtual std::span<const double> weights() const { return {}; }

  /// Returns a rung for each state at b = 1 of a sampler with a ladder, counted from its lowest b:
  /// where its chain was last before it came there, or set out.  Shapes  [chains], or empty
  virtual std::vector<int> rungs() const { return {}; }
  /// Returns log g of adaptive weights, relative to that of b = 1.
  /// Shapes  [chains x rungs], a chain's rungs side by side, or empty
  virtual std::vector<double> log_weights() const { return {}; }
  /// Returns how often all chains went from b = 1 to the lowest rung of a ladder and back by its own
  /// moves so far; none without a ladder.
  virtual std::optional<std::uint64_t> round_trips() const { return std::nullopt; }

  /// Is told the gradient that its states took part in, before anything is added to it.
  virtual void follow(const Parameters& /*gradient*/) {}

  /// Writes and reads back all that the next advance depends on, beside the model. After a throw of
  /// restore the sampler is only good for another restore.
  /// Throws  Error if what is read is no sampler's of this kind and shape
  virtual void save(CheckpointWriter& out) const = 0;
  virtual void restore(CheckpointReader& in) = 0;
};

/// What a sampler of a model starts from.
struct SamplerSetup {
  const Layered& model;
  Packing packing = {};  ///< whose chains are those that the sampler is to give
  Rule rule = Rule::gibbs();
  StreamKey key = {};                            ///< of the initial states
  const Chains* start = nullptr;                 ///< those at b = 1 and of the chains at other
                                                 ///< temperatures that serve them, or more of which
                                                 ///< the first serve; null: uniformly random
  std::shared_ptr<const Draws> draws = nullptr;  ///< of units and swaps; null: Philox under the key
  double learning_rate = 0;                      ///< that training starts at
  bool cases_are_states = true;  ///< those that chains begin at; false: some are means
};

/// Returns the draws of a sampler's units and swaps.
std::shared_ptr<const Draws> draws_of(const SamplerSetup& setup);

/// Returns the states at b = 1 that a sampler starts from.
/// Throws  InvalidArgument if setup.start is not of the model or of fewer than packing.chains chains
Chains initial_states(const SamplerSetup& setup);

/// Returns a setting of this name.  Throws  InvalidArgument unless it is at least 1
int at_least_one(const char* name, int value);

/// Writes and reads back the states of chains.
void save_states(const Chains& chains, CheckpointWriter& out);
void restore_states(Chains& chains, CheckpointReader& in);

}  // namespace boltzmark
