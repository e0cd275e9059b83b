#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace boltzmark {

/// Gamma_t, by how much an adaptive weight grows: its size, or its size over t.
struct AdaptingFactor {
  bool vanishing = false;
  double size = 10;

  /// Tells whether the size is positive and finite, as it must be.
  bool is_valid() const;
  /// Returns gamma_t of the t-th update, from 1.
  double at(std::uint64_t update) const;
  /// Writes it as it is parsed: constant:10, vanishing:10.
  std::string name() const;
  friend bool operator==(const AdaptingFactor&, const AdaptingFactor&) = default;
};
/// Parses a name; returns none unless it is constant:X or vanishing:X with finite X > 0.
std::optional<AdaptingFactor> parse_adapting_factor(std::string_view text);

/// Whose visits raise a chain's adaptive weights: its own, or the mean over all chains.
enum class WeightSharing { own, shared };
std::string_view name(WeightSharing sharing);
/// Parses a name; returns none if it is not one.
std::optional<WeightSharing> parse_weight_sharing(std::string_view text);

/// The ladder and the adaptive weights of adaptive simulated tempering.
struct AdaptiveOptions {
  std::vector<float> inverse_temperatures = {};  ///< ascending, two or more, the last one 1
  AdaptingFactor factor = {};
  WeightSharing weights = WeightSharing::own;
};

/// When a slow chain and its fast one exchange states: the readings of salakhutdinov2010, Sec. 6.1
/// and 8. All but `last` exchange the states of that moment, for which the fast one is at b = 1.
enum class SwapRule {
  last,  ///< at every lag, with the last state that the fast chain had at b = 1: the paper's practice
  lag,    ///< at every lag, if the fast chain is at b = 1 then
  each,   ///< after every sweep that ends with it at b = 1
  entry,  ///< after every sweep with which it arrives at b = 1
};
std::string_view name(SwapRule rule);
/// Parses a name; returns none if it is not one.
std::optional<SwapRule> parse_swap_rule(std::string_view text);

/// How slow chains are coupled to fast ones.
struct CouplingOptions {
  SwapRule swap = SwapRule::last;
  int lag = 50;  ///< sweeps
  friend bool operator==(const CouplingOptions&, const CouplingOptions&) = default;
};

}  // namespace boltzmark
