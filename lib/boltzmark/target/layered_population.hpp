#pragma once

#include <cstdint>
#include <memory>
#include <span>
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

  /// Goes on with other parameters of the same shape.
  void set_model(std::shared_ptr<const TemperedModel> model) {
    chains_.set_model(std::move(model));
  }
  /// Replaces a layer's states.  Shapes  states [units x chains], values of the units
  void set_layer(int layer, const Eigen::Ref<const Eigen::MatrixXf>& states) {
    chains_.set_layer(layer, states);
  }
  const TemperedChains& tempered_chains() const { return chains_; }

 private:
  TemperedChains chains_;
  PhiloxDraws draws_;
  Rule rule_;
  std::uint64_t sweeps_ = 0;
};

}  // namespace boltzmark
