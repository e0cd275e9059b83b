#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "boltzmark/model/base.hpp"
#include "boltzmark/model/layered.hpp"
#include "boltzmark/target/target.hpp"

namespace boltzmark {

/// A small binary model with every state in a table, moved by the double-precision law of block
/// Gibbs: what samplers and estimators are tested on. It must outlive its populations.
/// Units are counted through the layers, visible layer first; bit u of a state is unit u. The
/// marginal is that of the even layers, the odd ones summed out: v of an RBM.
class TableTarget final : public Target {
 public:
  /// Most units of a model.
  static constexpr int kMaxUnits = 20;

  /// Throws  InvalidArgument if a unit is not Bernoulli, there are more than kMaxUnits, or shapes
  /// of model and base differ
  TableTarget(const Layered& model, const Base& base);

  /// Makes chains, all in state 0; the draws are those of PhiloxDraws(key).
  std::unique_ptr<Population> populate(int first_chain, int chains, StreamKey key) const override;

  int units() const { return static_cast<int>(units_.size()); }
  std::uint32_t states() const { return std::uint32_t{1} << units(); }
  /// Computes D(x) = log f(x) - log p1(x) of a joint state.
  double log_ratio(std::uint32_t state) const { return log_ratio_[state]; }
  /// Computes log f_b of the marginal state that a joint one belongs to.
  double log_density(std::uint32_t state, double inverse_temperature) const;
  /// Returns the bits of the marginal state: the even layers.
  std::uint32_t marginal_mask() const { return marginal_mask_; }

  /// One unit: its place, its bias and base logit, and its couplings to units before and after.
  struct Unit {
    int layer = 0;
    int place = 0;  ///< in its layer
    double bias = 0;
    double base_logit = 0;
    std::vector<double> couplings;  ///< [units]

    bool summed() const { return layer % 2 == 1; }
  };
  const Unit& unit(int u) const { return units_[u]; }
  /// Computes the input of a unit at inverse temperature b: b input + (1 - b) base logit.
  double input(int unit, std::uint32_t state, double inverse_temperature) const;

 private:
  std::vector<Unit> units_;
  std::vector<double> log_ratio_;
  std::uint32_t marginal_mask_ = 0;
  double log_normaliser_ = 0;  // of p1
};

/// Chains of a TableTarget, whose states can be read and set.
class TablePopulation final : public Population {
 public:
  TablePopulation(const TableTarget& target, int first_chain, int chains, StreamKey key);

  int chains() const override { return static_cast<int>(states_.size()); }
  void draw_base() override;
  void move(std::span<const float> inverse_temperatures) override;
  void log_ratio(std::span<double> out) override;
  void log_densities(const Ladder& ladder, std::span<double> out) override;
  void log_increment(float from, float to, std::span<double> out) override;
  void copy_chain(int chain, const Population& from, int source) override;

  std::uint32_t state(int chain) const { return states_[chain]; }
  void set_state(int chain, std::uint32_t state) { states_[chain] = state; }

 private:
  void update_layer(int layer, int first_unit, int last_unit, std::span<const float> betas);
  void update_block(int first, int last_unit, std::span<const float> betas, int block,
                    const std::uint32_t* draws);

  const TableTarget* target_;
  int first_chain_;
  StreamKey key_;
  std::uint64_t sweep_ = 0;
  std::vector<std::uint32_t> states_;
};

}  // namespace boltzmark
