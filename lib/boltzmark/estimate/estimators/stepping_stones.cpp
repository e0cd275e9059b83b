#include "boltzmark/estimate/estimators/stepping_stones.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"

namespace boltzmark {
namespace {

enum class Direction { forward, backward };

// One direction's ratios: sample at rung k has weight exp(step(k) D) in ratio pair(k).
class Ratios {
 public:
  Ratios(const SampleStore& store, Direction direction)
      : store_(store), up_(direction == Direction::forward) {
    std::vector<LogSum> sums(store.rungs() - 1);
    counts_ = Eigen::VectorXd::Zero(store.rungs() - 1);
    for_each_weight([&](Eigen::Index, Eigen::Index, int pair, double log_weight) {
      sums[pair].add(log_weight);
      counts_[pair] += 1;
    });
    log_means_.resize(counts_.size());
    for (Eigen::Index p = 0; p < counts_.size(); ++p)
      log_means_[p] = sums[p].log() - std::log(counts_[p]);
  }

  Estimate estimate(int chains_per_group) const {
    Estimate result;
    if (counts_.minCoeff() == 0) {
      result.refuse(Status::unvisited_rung, "a rung has no sample: run more sweeps");
      return result;
    }
    result.log_z_rungs = Eigen::VectorXd::Zero(store_.rungs());
    for (Eigen::Index p = 0; p < counts_.size(); ++p)
      result.log_z_rungs[p + 1] = result.log_z_rungs[p] + (up_ ? 1 : -1) * log_means_[p];
    result.log_z = result.log_z_rungs[store_.rungs() - 1];
    set_error_by_groups(result, chains_per_group);
    return result;
  }

 private:
  // Calls body(sweep, chain, pair, log weight) for every sample that has a ratio.
  template <class Body>
  void for_each_weight(const Body& body) const {
    for (Eigen::Index c = 0; c < store_.chains(); ++c)
      for (Eigen::Index s = 0; s < store_.sweeps(); ++s) {
        const int rung = store_.rung(s, c);
        const int pair = up_ ? rung : rung - 1;
        if (pair < 0 || pair + 1 >= store_.rungs()) continue;
        const double step = store_.ladder[pair + 1] - store_.ladder[pair];
        body(s, c, pair, (up_ ? step : -step) * store_.log_ratio(s, c));
      }
  }

  // The influence of a sample is  N / n_k (w / mean w - 1).
  void set_error_by_groups(Estimate& result, int chains_per_group) const {
    const Eigen::Index bundles = store_.chains() / chains_per_group;
    const int batches = batches_per_chain(bundles, store_.sweeps());
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(bundles * batches);
    double square = 0;
    for_each_weight([&](Eigen::Index s, Eigen::Index c, int pair, double log_weight) {
      const double influence =
          store_.samples() / counts_[pair] * std::expm1(log_weight - log_means_[pair]);
      sums[c / chains_per_group * batches + s * batches / store_.sweeps()] += influence;
      square += influence * influence;
    });
    set_error(result, {.groups = sums,
                       .batches = batches,
                       .samples = store_.samples(),
                       .mean_square = square / store_.samples()});
  }

  const SampleStore& store_;
  bool up_;
  Eigen::VectorXd counts_;     // samples of each ratio
  Eigen::VectorXd log_means_;  // of their weights
};

}  // namespace

SteppingStones stepping_stones(const SampleStore& store) {
  store.check();
  if (!store.random_rungs && store.bundle() != store.rungs())
    throw InvalidArgument(fmt::format("chains = {} (must be bundles of {}, one a rung)",
                                      store.chains(), store.rungs()));
  const auto chains_per_group = static_cast<int>(store.bundle());
  SteppingStones stones;
  stones.forward = Ratios(store, Direction::forward).estimate(chains_per_group);
  stones.backward = Ratios(store, Direction::backward).estimate(chains_per_group);
  stones.joined = stones.forward.status == Status::unvisited_rung ? stones.forward
                  : stones.backward.status == Status::unvisited_rung
                      ? stones.backward
                      : sandwich(stones.forward, stones.backward);
  return stones;
}

}  // namespace boltzmark
