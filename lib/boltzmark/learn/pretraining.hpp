#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "boltzmark/learn/initial.hpp"
#include "boltzmark/learn/trainer.hpp"

namespace boltzmark {

/// What greedy pretraining takes beside its recipe.
struct PretrainingOptions {
  std::vector<int> epochs = {};  ///< of each RBM of the stack, from the bottom
  int batch = 100;
  double learning_rate = 0.05;  ///< of CD-1; of CD-k the k-th part
};

/// Joins the RBMs of a stack into a deep model, whose weights are theirs and in which the biases of a
/// shared layer add up: then log p(h) of a layer is the mean of what its two RBMs say.
/// Throws  InvalidArgument if there is none or layers that should be shared differ
Layered compose_stack(std::span<const Layered> rbms);

/// Pretrains a deep Boltzmann machine greedily: RBM after RBM, each on states drawn from the one
/// below, by contrastive divergence with tied copies.
///   bottom   CD-1, weights from N(0, .001^2)
///   others   CD-k at rate / k, k = ceil(epoch / 20), weights from N(0, .01^2)
///   all      weight decay .001, momentum .5 for five epochs, then .9; biases from 0
///                                     [Salakhutdinov & Hinton 2009, Sec. 3.2]
/// The velocity starts from 0 whenever momentum or k change.
/// Randomness  that of Trainer and StackedCases, under keys derived from `key`
/// Invariant   the same bytes for any number of threads, and after checkpoint and restore
class Pretraining {
 public:
  /// Updates under one setting.
  struct Stage {
    int rbm = 0;     ///< from the bottom
    int sweeps = 1;  ///< k of CD-k
    double momentum = 0;
    std::uint64_t updates = 0;
  };

  /// Shapes  sizes [layers], the visible layer first; 3 or more
  /// Throws  InvalidArgument if epochs are not one positive number for each RBM, or as Trainer
  Pretraining(std::vector<int> sizes, NetworkUnits units, std::shared_ptr<CaseSource> cases,
              PretrainingOptions options, StreamKey key);

  /// Makes one update, if there is one left.  Throws  Diverged
  void step();
  std::uint64_t updates() const;        ///< made so far, of all RBMs
  std::uint64_t total_updates() const;  ///< to be made in all
  bool finished() const { return trainer_ == nullptr; }
  const std::vector<Stage>& stages() const { return stages_; }
  /// Returns the deep model made of the RBMs as they are.
  Layered model() const;

  /// Writes the RBMs, the run of the one in training and all counters, with the names of
  /// the other inputs.
  std::string checkpoint() const;
  /// Continues from a checkpoint.
  /// Throws  DataError if the bytes are not a whole checkpoint or come from other inputs
  void restore(std::string_view bytes);

 private:
  void plan();
  void start_stage();
  std::uint64_t updates_before(std::size_t stage) const;
  CheckpointInputs inputs() const;

  std::shared_ptr<CaseSource> cases_;
  PretrainingOptions options_;
  StreamKey key_;
  std::vector<Layered> rbms_;
  std::vector<Stage> stages_;
  std::size_t stage_ = 0;
  std::unique_ptr<Trainer> trainer_;  ///< of this stage; none at the end
};

}  // namespace boltzmark
