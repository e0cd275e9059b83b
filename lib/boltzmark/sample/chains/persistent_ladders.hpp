#pragma once

#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"
#include "boltzmark/sample/tempering/parallel_tempering.hpp"

namespace boltzmark {

/// Parallel tempering from update to update while the model changes: a ladder of inverse
/// temperatures for each state that is asked for.                           [Desjardins et al. 2010]
/// They start as PersistentChains do.  Randomness  as theirs, and the swap draws of the ladders
class PersistentLadders final : public Sampler {
 public:
  /// Makes ladders whose step is `sweeps` sweeps and the swaps.
  /// Throws  InvalidArgument if the ladder does not ascend within [0, 1] or end at 1
  PersistentLadders(const SamplerSetup& setup, std::vector<float> inverse_temperatures, int sweeps);

  std::string name() const override { return "parallel tempering"; }
  int chains() const override { return ladders_.bundles(); }
  void set_model(const Layered& model) override { packed_.update(model); }
  const PackedModel& packed() const override { return packed_; }
  /// Throws  InvalidArgument unless `sweeps` are whole steps
  void advance(int sweeps) override;
  double chain_sweeps(int sweeps) const override {
    return static_cast<double>(ladders_.chains().chains()) * sweeps;
  }
  void copy_states(Chains& out) const override;
  /// Those from which the chains that are at b = 1 now set out: which of a ladder's chains it is.
  std::vector<int> rungs() const override;
  std::optional<std::uint64_t> round_trips() const override { return ladders_.round_trips(); }
  void save(CheckpointWriter& out) const override { ladders_.save(out); }
  void restore(CheckpointReader& in) override { ladders_.restore(in); }

  const ParallelTempering& ladders() const { return ladders_; }

 private:
  PackedModel packed_;
  ParallelTempering ladders_;
  std::shared_ptr<const Draws> draws_;
};

}  // namespace boltzmark
