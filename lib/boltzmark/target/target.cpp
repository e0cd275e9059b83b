#include "boltzmark/target/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {

void Population::observe(const Eigen::Ref<const Eigen::MatrixXf>&) {
  throw InvalidArgument("target (must have visible units that can be observed)");
}

const Chains& Population::layer_states() const {
  throw InvalidArgument("target (must be a network of layers)");
}

void require_marginal_moves(const Target& target) {
  if (const std::string rule = target.joint_rule(); !rule.empty())
    throw InvalidArgument(fmt::format(
        "rule = {} (must be gibbs: AIS, RAISE, SMC and collapsed states weigh by the "
        "marginal of the visible units, of which other rules are no kernel; joint states take any)",
        rule));
}

std::unique_ptr<Population> of_chains(int chains, std::unique_ptr<Population> population) {
  if (!population || population->chains() != chains)
    throw InvalidArgument(fmt::format("population = {} chains (must be the {} asked for)",
                                      population ? population->chains() : 0, chains));
  return population;
}

Populations::Populations(const Target& target, int chains, StreamKey key)
    : Populations(chains, [&](int first_chain, int count) {
        return target.populate(first_chain, count, key);
      }) {}

Populations::Populations(int chains, const Populate& populate) : chains_(chains) {
  if (chains < 1) throw InvalidArgument(fmt::format("chains = {} (must be at least 1)", chains));
  const int blocks = (chains + kChainBlock - 1) / kChainBlock;
  const int groups = std::min(blocks, thread_count());
  for (int g = 0; g < groups; ++g) {
    const int first = g * blocks / groups * kChainBlock;
    const int last = std::min(chains, (g + 1) * blocks / groups * kChainBlock);
    first_chains_.push_back(first);
    groups_.push_back(of_chains(last - first, populate(first, last - first)));
  }
}

void Populations::copy_chain(int chain, Population& to, int place) const {
  const int from = group_of(chain);
  to.copy_chain(place, *groups_[from], chain - first_chains_[from]);
}

void Populations::take_chain(int chain, const Population& from, int source) {
  const int to = group_of(chain);
  groups_[to]->copy_chain(chain - first_chains_[to], from, source);
}

void Populations::for_each(const std::function<void(Population&, int)>& body) {
  parallel_for(groups_.size(), [&](std::size_t g) { body(*groups_[g], first_chains_[g]); });
}

int Populations::group_of(int chain) const {
  const auto after = std::upper_bound(first_chains_.begin(), first_chains_.end(), chain);
  return static_cast<int>(after - first_chains_.begin()) - 1;
}

namespace {

// Its own number of a chain with offspring, else that of one with surplus copies, in order.
std::vector<int> parents_of(std::span<const int> offspring) {
  std::vector<int> parents(offspring.size());
  std::size_t parent = 0;
  int copies = 0;
  for (std::size_t chain = 0; chain < offspring.size(); ++chain) {
    parents[chain] = static_cast<int>(chain);
    if (offspring[chain] > 0) continue;
    while (offspring[parent] - 1 <= copies) {
      ++parent;
      copies = 0;
    }
    ++copies;
    parents[chain] = static_cast<int>(parent);
  }
  return parents;
}

}  // namespace

std::vector<int> Populations::resample(std::span<const int> offspring) {
  if (static_cast<int>(offspring.size()) != chains_ ||
      std::any_of(offspring.begin(), offspring.end(), [](int n) { return n < 0; }) ||
      std::accumulate(offspring.begin(), offspring.end(), 0) != chains_)
    throw InvalidArgument(
        fmt::format("offspring (must be {} numbers that add up to it, none negative)", chains_));
  // A chain that is copied keeps its state, so nothing that is read is ever written.
  std::vector<int> parents = parents_of(offspring);
  for (int chain = 0; chain < chains_; ++chain)
    if (const int parent = parents[static_cast<std::size_t>(chain)]; parent != chain)
      take_chain(chain, *groups_[group_of(parent)], parent - first_chains_[group_of(parent)]);
  return parents;
}

}  // namespace boltzmark
