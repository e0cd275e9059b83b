#include "boltzmark/learn/phases/initial_chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/learn/cases/case_source.hpp"
#include "boltzmark/transition/sweep.hpp"

namespace boltzmark {
namespace {

constexpr int kCaseLayer = 0;
// With v held an RBM's h is exact after one sweep, and layers above it forget their start in a few.
constexpr int kSweeps = 50;

// A random choice of cases, over again where they are fewer than the chains.
std::vector<int> choose_cases(int cases, int chains, StreamKey key) {
  Minibatches minibatches(cases, std::min(cases, chains), key);
  const std::span<const int> first = minibatches.cases(0);
  std::vector<int> chosen;
  for (int c = 0; c < chains; ++c) chosen.push_back(first[c % first.size()]);
  return chosen;
}

}  // namespace

Chains chains_at_cases(const Layered& model, CaseSource& source, int chains, StreamKey key) {
  if (source.units() != model.size(kCaseLayer))
    throw InvalidArgument(fmt::format("source = {} units (must be {}, as the visible layer)",
                                      source.units(), model.size(kCaseLayer)));
  const StreamKey own = derive_key(key, "chains at cases");
  const PhiloxDraws draws(own);
  Chains states(model, chains);
  states.randomise(own);
  const std::vector<int> cases = choose_cases(source.cases(), chains, own);
  const PackedModel packed(model, {.chains = chains, .values = source.are_values()});
  for (int s = 0; s < kSweeps; ++s) {
    source.fill(states, cases, 0);
    sweep(packed, states, draws, {.first_sweep = static_cast<std::uint64_t>(s)});
  }
  return states;
}

}  // namespace boltzmark
