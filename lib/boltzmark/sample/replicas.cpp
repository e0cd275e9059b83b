#include "boltzmark/sample/replicas.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/draws.hpp"
#include "boltzmark/sample/ladder_swaps.hpp"

namespace boltzmark {
namespace {

class Replicas {
 public:
  Replicas(const Target& target, const ReplicaOptions& options)
      : options_(options),
        populations_(target, chains(), options.key),
        log_ratio_(Eigen::VectorXd::Zero(chains())),
        swaps_(inverse_temperatures(options.ladder), options.bundles) {
    populations_.for_each([](Population& population, int) { population.draw_base(); });
  }

  ReplicaResult run() {
    ReplicaResult result{.samples = empty_store()};
    const std::int64_t steps = options_.burn_in + options_.sweeps;
    ProgressMeter meter(options_.progress, static_cast<double>(steps));
    for (std::int64_t step = 0; step < steps; ++step) {
      sweep();
      if (step >= options_.burn_in) keep(result.samples, step - options_.burn_in);
      swaps_.swap({log_ratio_.data(), static_cast<std::size_t>(chains())},
                  PhiloxDraws(options_.key), static_cast<std::uint64_t>(step));
      meter.add(1);
    }
    const std::vector<double> shares = swaps_.acceptance(static_cast<std::uint64_t>(steps));
    result.acceptance = Eigen::Map<const Eigen::VectorXd>(shares.data(), rungs() - 1);
    return result;
  }

 private:
  int rungs() const { return options_.ladder.rungs(); }
  int chains() const { return options_.bundles * rungs(); }

  static std::vector<double> inverse_temperatures(const Ladder& ladder) {
    return {ladder.singles().begin(), ladder.singles().end()};
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
      population.move({swaps_.chain_inverse_temperatures().data() + first, size});
      population.log_ratio({log_ratio_.data() + first, size});
    });
  }

  void keep(SampleStore& store, std::int64_t sweep) const {
    store.log_ratio.row(sweep) = log_ratio_;
    for (int c = 0; c < chains(); ++c) store.rung(sweep, c) = swaps_.chain_rungs()[c];
  }

  const ReplicaOptions& options_;
  Populations populations_;
  Eigen::VectorXd log_ratio_;
  LadderSwaps swaps_;
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
