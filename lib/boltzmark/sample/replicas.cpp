#include "boltzmark/sample/replicas.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/sample/parallel_tempering.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {
namespace {

class Replicas {
 public:
  Replicas(const Target& target, const ReplicaOptions& options)
      : options_(options),
        populations_(target, chains(), options.key),
        log_ratio_(Eigen::VectorXd::Zero(chains())),
        rungs_(chains()),
        betas_(chains()),
        chain_at_(chains()),
        accepted_(Eigen::VectorXd::Zero(pairs())),
        swap_draws_(round_up(pairs(), 4) * width()) {
    for (int c = 0; c < chains(); ++c) place(c, c % rungs());
    populations_.for_each([](Population& population, int) { population.draw_base(); });
  }

  ReplicaResult run() {
    ReplicaResult result{.samples = empty_store()};
    const std::int64_t steps = options_.burn_in + options_.sweeps;
    ProgressMeter meter(options_.progress, static_cast<double>(steps));
    for (std::int64_t step = 0; step < steps; ++step) {
      sweep();
      if (step >= options_.burn_in) keep(result.samples, step - options_.burn_in);
      swap(static_cast<std::uint64_t>(step));
      meter.add(1);
    }
    result.acceptance = accepted_ / (static_cast<double>(steps) * options_.bundles);
    return result;
  }

 private:
  int rungs() const { return options_.ladder.rungs(); }
  int pairs() const { return rungs() - 1; }
  int chains() const { return options_.bundles * rungs(); }
  static std::size_t round_up(int count, int unit) {
    return static_cast<std::size_t>((count + unit - 1) / unit) * unit;
  }
  std::size_t width() const { return round_up(options_.bundles, kChainBlock); }

  void place(int chain, int rung) {
    rungs_[chain] = rung;
    betas_[chain] = options_.ladder.single(rung);
    chain_at_[chain / rungs() * rungs() + rung] = chain;
  }

  SampleStore empty_store() const {
    return {.ladder = options_.ladder,
            .log_prior = Eigen::VectorXd::Constant(rungs(), -std::log(rungs())),
            .log_z_hat = Eigen::VectorXd::Zero(rungs()),
            .log_ratio = Eigen::MatrixXd(options_.sweeps, chains()),
            .rung = Eigen::MatrixXi(options_.sweeps, chains()),
            .random_rungs = false};
  }

  void sweep() {
    populations_.for_each([&](Population& population, int first) {
      const auto size = static_cast<std::size_t>(population.chains());
      population.move({betas_.data() + first, size});
      population.log_ratio({log_ratio_.data() + first, size});
    });
  }

  void keep(SampleStore& store, std::int64_t sweep) const {
    store.log_ratio.row(sweep) = log_ratio_;
    for (int c = 0; c < chains(); ++c) store.rung(sweep, c) = rungs_[c];
  }

  void swap(std::uint64_t step) {
    PhiloxDraws(options_.key)
        .fill(swap_draws_.data(), {.layer = static_cast<std::uint32_t>(Purpose::swap),
                                   .units = static_cast<std::uint32_t>(round_up(pairs(), 4)),
                                   .chains = static_cast<std::uint32_t>(width()),
                                   .sweep = step});
    for (const int parity : {0, 1})
      for (int bundle = 0; bundle < options_.bundles; ++bundle)
        for (int lower = parity; lower < pairs(); lower += 2) swap_pair(bundle, lower);
  }

  void swap_pair(int bundle, int lower) {
    const int low = chain_at_[bundle * rungs() + lower];
    const int high = chain_at_[bundle * rungs() + lower + 1];
    const double p = swap_probability(options_.ladder[lower], options_.ladder[lower + 1],
                                      log_ratio_[low], log_ratio_[high]);
    const auto threshold = static_cast<std::uint64_t>(std::llround(p * 0x1p32));
    if (swap_draws_[lower * width() + bundle] >= threshold) return;
    place(low, lower + 1);
    place(high, lower);
    accepted_[lower] += 1;
  }

  const ReplicaOptions& options_;
  Populations populations_;
  Eigen::VectorXd log_ratio_;
  std::vector<int> rungs_;
  std::vector<float> betas_;
  std::vector<int> chain_at_;
  Eigen::VectorXd accepted_;
  std::vector<std::uint32_t> swap_draws_;
};

}  // namespace

void ReplicaOptions::check() const {
  if (bundles < 1) throw InvalidArgument(fmt::format("bundles = {} (must be at least 1)", bundles));
  if (burn_in < 0)
    throw InvalidArgument(fmt::format("burn_in = {} (must not be negative)", burn_in));
  if (sweeps < 1) throw InvalidArgument(fmt::format("sweeps = {} (must be at least 1)", sweeps));
}

ReplicaResult parallel_tempering_samples(const Target& target, const ReplicaOptions& options) {
  options.check();
  return Replicas(target, options).run();
}

}  // namespace boltzmark
