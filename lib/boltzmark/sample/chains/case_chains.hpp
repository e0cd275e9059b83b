#pragma once

#include <utility>
#include <vector>

#include "boltzmark/sample/chains/sampler.hpp"

namespace boltzmark {

/// Chains that start at the cases of each minibatch, and weigh as these: nothing but the number of sweeps
/// outlives an update.
/// Randomness  unit draws of the sweeps, counted from 0
class CaseChains : public Sampler {
 public:
  explicit CaseChains(const SamplerSetup& setup);

  int chains() const override { return chains_.chains(); }
  void start_at(const Chains& cases, std::span<const float> inputs,
                std::span<const float> weights) override;
  void advance(int sweeps) override;
  void copy_states(Chains& out) const override { out = chains_; }
  void take_states(Chains& out) override { std::swap(out, chains_); }
  std::span<const double> weights() const override { return weights_; }
  void save(CheckpointWriter& out) const override { out.write(sweeps_); }
  void restore(CheckpointReader& in) override { sweeps_ = in.read(); }

 protected:
  /// Makes sweeps, the first of them the first-th: hidden units first, given these inputs by the cases.
  virtual void move(Chains& chains, const Draws& draws, std::span<const float> inputs,
                    std::uint64_t first, int sweeps) = 0;

 private:
  Chains chains_;
  std::shared_ptr<const Draws> draws_;
  std::span<const float> inputs_;
  std::vector<double> weights_;
  std::uint64_t sweeps_ = 0;
};

}  // namespace boltzmark
