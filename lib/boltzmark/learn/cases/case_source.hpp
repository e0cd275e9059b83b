#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boltzmark/model/case_values.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/random/key.hpp"
#include "boltzmark/transition/chains.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {

/// Where a trainer's cases come from: the values of the visible units, at each update.
class CaseSource {
 public:
  virtual ~CaseSource() = default;

  virtual int units() const = 0;
  virtual int cases() const = 0;
  /// Tells whether every value is its unit's greatest or least, as packed models ask; grey levels are not.
  virtual bool are_values() const = 0;
  /// Tells whether every value is a state of its unit, not a mean between two of them.
  virtual bool are_states() const = 0;
  /// Tells whether a case has other values at another update.
  virtual bool vary() const = 0;
  /// Puts cases, as they are at an update, side by side into the visible layer of chains.
  /// Shapes  chains: as many as cases, or more, which stay     Throws  InvalidArgument, as the sources here do, if
  /// shapes differ or there is no such case
  virtual void fill(Chains& chains, std::span<const int> cases, std::uint64_t update) = 0;
  /// Mixes all that the values depend on into a hash.
  virtual std::uint64_t hash(std::uint64_t seed) const = 0;
};

/// Cases as they are given.
class GivenCases : public CaseSource {
 public:
  /// Shapes  data [units x cases]
  /// Throws  InvalidArgument if a value is outside the unit's range, or not finite
  GivenCases(CaseValues data, Unit unit);

  int units() const override { return static_cast<int>(data_.rows()); }
  int cases() const override { return static_cast<int>(data_.cols()); }
  bool are_values() const override;
  bool are_states() const override;
  bool vary() const override { return false; }
  void fill(Chains& chains, std::span<const int> cases, std::uint64_t update) override;
  std::uint64_t hash(std::uint64_t seed) const override;

 protected:
  const CaseValues& data() const { return data_; }

 private:
  CaseValues data_;
  Unit unit_;
};

/// Cases drawn anew at each update: a unit takes its greatest value or its least, the given value x
/// being its mean. So are the images of grey levels that published likelihoods of MNIST are of.
///   P(greatest) = (x - least) / (greatest - least)
/// Randomness  key, Purpose::drawn_case, one uint32 per unit, stream = update * cases + case
class DrawnCases final : public GivenCases {
 public:
  /// Throws  InvalidArgument as GivenCases, or if units are Gaussian
  DrawnCases(CaseValues means, Unit unit, StreamKey key);

  bool are_values() const override { return true; }
  bool are_states() const override { return true; }
  bool vary() const override { return true; }
  void fill(Chains& chains, std::span<const int> cases, std::uint64_t update) override;
  std::uint64_t hash(std::uint64_t seed) const override;

 private:
  StreamKey key_;
};

/// Divides the cases into minibatches: a fresh permutation each epoch, each case once per epoch.
/// The last minibatch of an epoch is smaller when the batch does not divide the cases.
class Minibatches {
 public:
  /// Throws  InvalidArgument unless 1 <= batch <= cases
  Minibatches(int cases, int batch, StreamKey key);

  int per_epoch() const { return (cases_ + batch_ - 1) / batch_; }
  bool is_whole() const { return batch_ == cases_; }
  /// Returns the cases of one update; valid until the next call.
  /// Randomness  key, Purpose::minibatch, the epoch; cases in their own order if batch = cases
  std::span<const int> cases(std::uint64_t update);

 private:
  void permute(std::uint64_t epoch);

  int cases_;
  int batch_;
  StreamKey key_;
  std::uint64_t epoch_;
  std::vector<int> order_;
};

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
