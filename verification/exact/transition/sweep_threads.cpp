#include <tbb/task_arena.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "boltzmark/core/parallel.hpp"
#include "boltzmark/transition/sweep.hpp"
#include "verification/exact/support/enumeration_models.hpp"
#include "verification/exact/support/every_path.hpp"

using namespace boltzmark;
using enumeration_test::random_network;

namespace {

constexpr int kChains = 100;
// In products, tables, tables made afresh and rows; where there are tiles, they stand in for
// tables.
constexpr Packing kPackings[] = {{},
                                 {.chains = kChains, .sweeps = 1000},
                                 {.chains = kChains, .sweeps = 1},
                                 {.chains = 1, .sweeps = 1000}};

/// Counts how often each range is drawn.
class CountedDraws final : public Draws {
 public:
  explicit CountedDraws(StreamKey key) : draws_(key) {}
  void fill(std::uint32_t* out, const DrawRange& range) const override {
    const std::lock_guard lock(mutex_);
    ++counts_[{range.layer, range.first_unit, range.first_chain, range.sweep}];
    draws_.fill(out, range);
  }
  int ranges() const { return static_cast<int>(counts_.size()); }
  int most() const {
    int most = 0;
    for (const auto& [range, count] : counts_) most = std::max(most, count);
    return most;
  }

 private:
  PhiloxDraws draws_;
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>, int>
      counts_;
};

// What threads make of the chains; every range is to be drawn once.
auto shared_sweeps(const Layered& model, const Packing& packing, int threads) {
  Chains chains(model, kChains);
  chains.randomise(make_key(4));
  const CountedDraws draws(make_key(3));
  std::vector<float> betas(kChains);
  for (std::size_t c = 0; c < kChains; ++c) betas[c] = 1 / (1 + 0.01F * static_cast<float>(c));
  std::vector<float> inputs;
  Eigen::MatrixXf states;
  tbb::task_arena arena(threads);  // as many, whatever this machine has
  arena.execute([&] {
    const ThreadLimit limit(threads);
    const PackedModel packed(model, packing);
    const SweepOptions options{.rule = Rule::flip(), .inverse_temperatures = betas};
    sweep(packed, chains, draws, options);
    SweepOptions next = options;
    next.first_sweep = 1;
    half_sweep(packed, chains, draws, next, 0);
    fill_inputs(packed, chains, 1, inputs);
    draw_layer(packed, chains, draws, next, 1, inputs);
    states = chains.get_layer(1);
    set_means(packed, chains, 1);
  });
  CHECK(draws.most() == 1);
  return std::tuple{draws.ranges(), inputs, states, chains.get_layer(0), chains.get_layer(1)};
}

}  // namespace

TEST_CASE("threads that share a layer's units draw each range once and leave one thread's bytes") {
  const std::vector<std::pair<std::vector<int>, std::vector<int>>> shapes = {
      {{0, 0}, {661, 543}}, {{0, 0, 0}, {260, 410, 250}}};
  for (const auto& [codes, sizes] : shapes) {
    const Layered model = random_network(codes, sizes, 0.3, 3);  // its sums round
    on_every_path([&] {
      for (const Packing& packing : kPackings) {
        const auto alone = shared_sweeps(model, packing, 1);
        CHECK((shared_sweeps(model, packing, 2) == alone));
        CHECK((shared_sweeps(model, packing, 3) == alone));
      }
    });
  }
}
