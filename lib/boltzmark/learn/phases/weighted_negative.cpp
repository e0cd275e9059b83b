#include "boltzmark/learn/phases/weighted_negative.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/statistics.hpp"

namespace boltzmark {
namespace {

void check_weights(std::span<const double> weights, const Chains& chains) {
  if (weights.size() != static_cast<std::size_t>(chains.chains()))
    throw InvalidArgument(
        fmt::format("weights = {} values (must be {})", weights.size(), chains.chains()));
  for (const double weight : weights)
    if (!(weight >= 0 && std::isfinite(weight)))
      throw InvalidArgument(fmt::format("weights = {} (must be finite and not negative)", weight));
  if (*std::max_element(weights.begin(), weights.end()) == 0)
    throw InvalidArgument("weights = 0 everywhere (must have a positive one)");
}

}  // namespace

void subtract_weighted_negative(const PackedModel& model, std::span<const double> weights,
                                Chains& chains, Parameters& sum) {
  for (int l = 1; l < chains.layers(); l += 2) set_means(model, chains, l);
  if (weights.empty()) return add_statistics(chains, {}, -1.0 / chains.chains(), sum);
  check_weights(weights, chains);
  // Relative to the largest, so that float32 holds those that matter however small all are.
  const double largest = *std::max_element(weights.begin(), weights.end());
  std::vector<float> relative(weights.size());
  std::transform(weights.begin(), weights.end(), relative.begin(),
                 [&](double weight) { return static_cast<float>(weight / largest); });
  add_statistics(chains, relative, -1 / std::accumulate(relative.begin(), relative.end(), 0.0),
                 sum);
}

}  // namespace boltzmark
