#include "experiments/kit/ranks/chain_ranks.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/ranks/host.hpp"

namespace boltzmark::experiments {
namespace {

/// Returns the bytes of all ranks, in their order, at every rank.
/// Throws  Error at every rank, naming the host, if there is a failure at one
std::string gather_all(RankLink& link, const std::string& bytes, const std::string& failure) {
  // The first letter tells bytes from failures.
  const std::string said =
      failure.empty() ? "b" + bytes : fmt::format("fhost {}: {}", host_name(), failure);
  std::string all = "b";
  for (const std::string& text : link.gather(said)) {
    if (text.front() == 'f' && all.front() == 'b') all = text;
    if (all.front() == 'b') all.append(text, 1);
  }
  all = link.broadcast(all);
  if (all.front() == 'f') throw Error(all.substr(1));
  return all.substr(1);
}

/// Calls body with each layer's part of each block, and its bytes.
template <class AnyChains, class Body>
void for_blocks(AnyChains& chains, const Body& body) {
  for (int b = 0; b < chains.blocks(); ++b)
    for (int l = 0; l < chains.layers(); ++l)
      body(chains.block(l, b), sizeof(float) * kChainBlock * chains.size(l));
}

}  // namespace

SharedChains share_chains(RankLink& link) {
  SharedChains shared{.rank = link.rank(), .ranks = link.ranks()};
  shared.exchange = [&link](Eigen::VectorXd& values, const ChainRange& own,
                            const std::string& failure) {
    const std::string bytes(reinterpret_cast<const char*>(values.data() + own.first),
                            sizeof(double) * own.count);
    const std::string all = gather_all(link, bytes, failure);
    std::memcpy(values.data(), all.data(), all.size());
  };
  return shared;
}

Chains gather_states(RankLink& link, const Layered& model, int chains,
                     const std::vector<Chains>& own) {
  const SharedChains shared{.rank = link.rank(), .ranks = link.ranks()};
  std::string bytes;
  if (shared.range(chains).count > 0)
    for (const Chains& group : own)
      for_blocks(group, [&](const float* block, std::size_t size) {
        bytes.append(reinterpret_cast<const char*>(block), size);
      });
  const std::string all = gather_all(link, bytes, "");
  Chains states(model, chains);
  const char* next = all.data();
  for_blocks(states, [&](float* block, std::size_t size) {
    std::memcpy(block, next, size);
    next += size;
  });
  return states;
}

}  // namespace boltzmark::experiments
