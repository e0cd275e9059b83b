#pragma once

#include <memory>
#include <vector>

#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// The cases of an RBM on a stack of others: the hidden states of the highest of these, drawn anew
/// at each update from the cases below, layer by layer.
///   h_l ~ p_l(h | h_{l-1})                              [Salakhutdinov & Hinton 2009, Sec. 3.2]
/// Randomness  that of the cases below, at update first_update + update; unit draws of each RBM's
/// hidden layer by the minibatch's chains, under a key derived from `key` and the RBM's number
class StackedCases final : public CaseSource {
 public:
  /// Shapes  below: RBMs from the bottom, each on the hidden layer of the one before; or none
  /// Throws  InvalidArgument if shapes differ
  StackedCases(std::shared_ptr<CaseSource> cases, std::vector<Layered> below,
               std::uint64_t first_update, StreamKey key);

  int units() const override;
  int cases() const override { return cases_->cases(); }
  bool are_values() const override { return below_.empty() ? cases_->are_values() : true; }
  bool are_states() const override { return below_.empty() ? cases_->are_states() : true; }
  bool vary() const override { return below_.empty() ? cases_->vary() : true; }
  void fill(Chains& chains, std::span<const int> cases, std::uint64_t update) override;
  std::uint64_t hash(std::uint64_t seed) const override;

 private:
  std::shared_ptr<CaseSource> cases_;
  std::vector<Layered> below_;
  std::vector<PackedModel> packed_;
  std::uint64_t first_update_;
  StreamKey key_;
};

}  // namespace boltzmark
