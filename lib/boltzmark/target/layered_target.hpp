#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "boltzmark/random/draws.hpp"
#include "boltzmark/target/target.hpp"
#include "boltzmark/transition/tempered_chains.hpp"

namespace boltzmark {

/// Chains of a layered model; the marginal state is the side that is not summed out (an RBM's
/// visible units).
/// Draws from the base are block Gibbs whatever the rule: at b = 0 they forget every state.
class LayeredPopulation final : public Population {
 public:
  LayeredPopulation(std::shared_ptr<const TemperedModel> model, int first_chain, int chains,
                    StreamKey key, Rule rule = Rule::gibbs());

  int chains() const override { return chains_.chains(); }
  void draw_base() override;
  void move(std::span<const float> inverse_temperatures) override;
  void log_ratio(std::span<double> out) override { chains_.log_ratio(out); }
  void log_densities(const Ladder& ladder, std::span<double> out) override {
    chains_.log_densities(ladder.singles(), out);
  }
  void log_increment(float from, float to, std::span<double> out) override;
  /// Throws  also  InvalidArgument if the even layers are summed out, the visible units with them
  void observe(const Eigen::Ref<const Eigen::MatrixXf>& states) override;
  /// Throws  std::bad_cast if `from` is a population of another kind of target
  void copy_chain(int chain, const Population& from, int source) override;
  const Chains& layer_states() const override { return chains_.states(); }

  /// Goes on with other parameters of the same shape.
  void set_model(std::shared_ptr<const TemperedModel> model) {
    chains_.set_model(std::move(model));
  }
  /// Replaces a layer's states.  Shapes  states [units x chains], values of the units
  void set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states) {
    chains_.set_layer(layer, states);
  }

 private:
  TemperedChains chains_;
  PhiloxDraws draws_;
  Rule rule_;
  std::uint64_t sweeps_ = 0;
};

/// A layered model between its base (b = 0) and itself (b = 1), moved by block sweeps: of Gibbs
/// sampling, or where states are joint of any rule that leaves the tempered laws unchanged.
class LayeredTarget final : public Target {
 public:
  /// Of the runs that most methods make.
  static constexpr Packing kPacking = {.chains = 100, .sweeps = 1000};

  /// Throws  InvalidArgument as TemperedModel
  LayeredTarget(Layered model, Base base, const Packing& packing = kPacking, int summed_side = 1);
  explicit LayeredTarget(std::shared_ptr<const TemperedModel> model, Rule rule = Rule::gibbs());
  /// Throws  InvalidArgument as the first, or if the rule has no law for a layer's units
  LayeredTarget(Layered model, Base base, Rule rule);
  std::unique_ptr<Population> populate(int first_chain, int chains, StreamKey key) const override;
  /// Makes such chains whose layers can be set.
  std::unique_ptr<LayeredPopulation> chains(int first_chain, int chains, StreamKey key) const;
  std::string joint_rule() const override;
  const TemperedModel& tempered_model() const { return *model_; }

 private:
  std::shared_ptr<const TemperedModel> model_;
  Rule rule_;
};

}  // namespace boltzmark
