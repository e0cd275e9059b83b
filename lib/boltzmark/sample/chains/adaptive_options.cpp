#include "boltzmark/sample/chains/adaptive_options.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "boltzmark/core/number.hpp"

namespace boltzmark {
namespace {

constexpr std::string_view kConstant = "constant:", kVanishing = "vanishing:";

constexpr std::array<std::string_view, 4> kSwapRules = {"last", "lag", "each", "entry"};

}  // namespace

bool AdaptingFactor::is_valid() const { return size > 0 && std::isfinite(size); }

double AdaptingFactor::at(std::uint64_t update) const {
  return vanishing ? size / static_cast<double>(update) : size;
}

std::string AdaptingFactor::name() const {
  return fmt::format("{}{}", vanishing ? kVanishing : kConstant, size);
}

std::optional<AdaptingFactor> parse_adapting_factor(std::string_view text) {
  for (const bool vanishing : {false, true}) {
    const std::string_view kind = vanishing ? kVanishing : kConstant;
    if (!text.starts_with(kind)) continue;
    const auto size = parse_number<double>(text.substr(kind.size()));
    if (size && AdaptingFactor{vanishing, *size}.is_valid())
      return AdaptingFactor{vanishing, *size};
  }
  return std::nullopt;
}

std::string_view name(WeightSharing sharing) {
  return sharing == WeightSharing::own ? "own" : "shared";
}

std::optional<WeightSharing> parse_weight_sharing(std::string_view text) {
  for (const WeightSharing sharing : {WeightSharing::own, WeightSharing::shared})
    if (name(sharing) == text) return sharing;
  return std::nullopt;
}

std::string_view name(SwapRule rule) { return kSwapRules[static_cast<std::size_t>(rule)]; }

std::optional<SwapRule> parse_swap_rule(std::string_view text) {
  for (std::size_t i = 0; i < kSwapRules.size(); ++i)
    if (kSwapRules[i] == text) return static_cast<SwapRule>(i);
  return std::nullopt;
}

}  // namespace boltzmark
