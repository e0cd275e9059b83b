#include "boltzmark/sample/annealing/annealing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {
namespace {

void ascend(Population& population, const AnnealingOptions& options, ProgressMeter& meter,
            Eigen::Ref<Eigen::VectorXd> log_weights) {
  std::vector<double> increments(population.chains());
  const Eigen::Map<const Eigen::VectorXd> step(increments.data(), population.chains());
  population.draw_base();
  for (int k = 1; k < options.ladder.rungs(); ++k) {
    population.log_increment(options.ladder.single(k - 1), options.ladder.single(k), increments);
    log_weights += step;
    if (k + 1 < options.ladder.rungs()) move_at(population, options, k, meter);
  }
  if (options.top_states != nullptr) population.move(std::vector<float>(population.chains(), 1.0F));
}

void descend(Population& population, const AnnealingOptions& options, ProgressMeter& meter,
             Eigen::Ref<Eigen::VectorXd> log_weights) {
  std::vector<double> increments(population.chains());
  const Eigen::Map<const Eigen::VectorXd> step(increments.data(), population.chains());
  for (int k = options.ladder.rungs() - 1; k > 0; --k) {
    move_at(population, options, k, meter);
    population.log_increment(options.ladder.single(k - 1), options.ladder.single(k), increments);
    log_weights -= step;
  }
}

void hand_over(std::optional<Populations> populations, const Eigen::VectorXd& log_weights,
               TopStates& top) {
  const Eigen::ArrayXd weights = (log_weights.array() - log_weights.maxCoeff()).exp();
  if (populations) top.states = std::move(*populations);
  top.visits.assign(weights.begin(), weights.end());
}

// What goes wrong with the chains of one process must not leave the others waiting for it.
template <class Work>
void work_shared(const SharedChains& shared, const ChainRange& own, Eigen::VectorXd& log_weights,
                 const Work& work) {
  std::string failure;
  try {
    work();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  shared.exchange(log_weights, own, failure);
}

// Each population makes its whole anneal in one task: chains never wait for each other.
template <class Anneal>
AnnealingResult run(const Target& target, const AnnealingOptions& options, Bound bound,
                    const Anneal& anneal) {
  options.check();
  require_marginal_moves(target);
  AnnealingResult result;
  result.log_weights = Eigen::VectorXd::Zero(options.chains);
  const ChainRange own = options.shared != nullptr ? options.shared->range(options.chains)
                                                   : ChainRange{0, options.chains};
  const std::int64_t unmade =
      bound == Bound::lower ? options.sweeps_at(options.ladder.rungs() - 1) : 0;
  ProgressMeter meter(options.progress, static_cast<double>(own.count) *
                                            static_cast<double>(options.sweeps - unmade));
  std::optional<Populations> populations;
  const auto work = [&] {
    if (own.count == 0) return;
    populations.emplace(own.count, [&](int first, int count) {
      return target.populate(own.first + first, count, options.key);
    });
    populations->for_each([&](Population& population, int place) {
      const int first = own.first + place;
      anneal(population, first, meter, result.log_weights.segment(first, population.chains()));
    });
  };
  if (options.shared != nullptr)
    work_shared(*options.shared, own, result.log_weights, work);
  else
    work();
  const WeightSummary summary = summarise(result.log_weights);
  result.estimate = estimate_from_weights(summary, bound);
  result.pareto_k = summary.pareto_k;
  result.mean_log_weight = result.log_weights.mean();
  if (bound == Bound::lower && options.top_states != nullptr)
    hand_over(std::move(populations), result.log_weights, *options.top_states);
  return result;
}

}  // namespace

ChainRange SharedChains::range(int chains) const {
  const std::int64_t blocks = (chains + kChainBlock - 1) / kChainBlock;
  const auto first_of = [&](int r) {
    return std::min(chains, static_cast<int>(blocks * r / ranks) * kChainBlock);
  };
  return {first_of(rank), first_of(rank + 1) - first_of(rank)};
}

void AnnealingOptions::check() const {
  if (chains < 2) throw InvalidArgument(fmt::format("chains = {} (must be at least 2)", chains));
  if (sweeps < 0) throw InvalidArgument(fmt::format("sweeps = {} (must not be negative)", sweeps));
}

std::int64_t AnnealingOptions::sweeps_at(int rung) const {
  return sweeps_at_rung(rung, ladder.rungs() - 1, sweeps);
}

std::int64_t sweeps_at_rung(std::int64_t rung, std::int64_t steps, std::int64_t sweeps) {
  return rung * sweeps / steps - (rung - 1) * sweeps / steps;
}

void move_at(Population& population, const AnnealingOptions& options, int rung,
             ProgressMeter& meter) {
  const std::vector<float> betas(population.chains(), options.ladder.single(rung));
  for (std::int64_t s = options.sweeps_at(rung); s > 0; --s) {
    population.move(betas);
    meter.add(population.chains());
  }
}

AnnealingResult annealed_importance_sampling(const Target& target,
                                             const AnnealingOptions& options) {
  return run(target, options, Bound::lower,
             [&](Population& population, int, ProgressMeter& meter,
                 Eigen::Ref<Eigen::VectorXd> log_weights) {
               ascend(population, options, meter, log_weights);
             });
}

AnnealingResult reverse_annealing(const Target& target, const AnnealingOptions& options,
                                  const SetStates& start) {
  return run(target, options, Bound::upper,
             [&](Population& population, int first, ProgressMeter& meter,
                 Eigen::Ref<Eigen::VectorXd> log_weights) {
               start(population, first);
               descend(population, options, meter, log_weights);
             });
}

}  // namespace boltzmark
