#pragma once

#include <memory>
#include <string>

#include "boltzmark/target/target.hpp"
#include "boltzmark/transition/tempered_model.hpp"

namespace boltzmark {

class LayeredPopulation;

/// Returns the parity of the side with more units: 1 the odd layers, those of equal sides too, or 0.
int larger_side(const Layered& model);

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
