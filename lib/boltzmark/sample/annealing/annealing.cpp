#include "boltzmark/sample/annealing/annealing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/random/stream.hpp"
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
  if (steps < 1) throw InvalidArgument(fmt::format("steps = {} (must be at least 1)", steps));
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

namespace {

constexpr double kLeastIslands =
    0.1;  // of all, beyond the first, that the weight must be spread over

// Log of the mean of e^x.
double log_mean(const Eigen::Ref<const Eigen::VectorXd>& x) {
  const double highest = x.maxCoeff();
  return highest + std::log((x.array() - highest).exp().mean());
}

// What each chain weighs of all.
Eigen::VectorXd shares_of(const Eigen::Ref<const Eigen::VectorXd>& log_weights) {
  Eigen::VectorXd shares = (log_weights.array() - log_weights.maxCoeff()).exp();
  shares /= shares.sum();
  return shares;
}

class SmcRun {
 public:
  SmcRun(const Target& target, const SmcOptions& options)
      : options_(options),
        islands_(options.islands > 0 ? options.islands : default_islands(chains())),
        populations_(target, chains(), options.annealing.key),
        log_weights_(Eigen::VectorXd::Zero(chains())),
        increments_(Eigen::VectorXd::Zero(chains())),
        base_(Eigen::VectorXd::Zero(islands_)),
        log_z_(Eigen::MatrixXd::Zero(ladder().rungs(), islands_)),
        offspring_(chains(), 1),
        families_(static_cast<std::size_t>(chains())),
        meter_(options.annealing.progress,
               static_cast<double>(chains()) * static_cast<double>(options.annealing.sweeps)) {
    std::iota(families_.begin(), families_.end(), 0);
  }

  SmcResult finish() {
    populations_.for_each([&](Population& population, int first) {
      population.draw_base();
      weigh_next(population, first, 0);
    });
    for (int k = 1; k < ladder().rungs(); ++k) {
      log_weights_ += increments_;
      close_rung(k);
      populations_.for_each([&](Population& population, int first) {
        move_at(population, options_.annealing, k, meter_);
        if (k + 1 < ladder().rungs()) weigh_next(population, first, k);
      });
    }
    Estimate estimate = summarise_islands();
    if (options_.annealing.top_states != nullptr) tell_families(*options_.annealing.top_states);
    return {std::move(estimate), log_chain_weights(), resamplings_, std::move(populations_)};
  }

  /// Of the chains left at b = 1, without the Z of their islands.
  const Eigen::VectorXd& log_weights_since_resampling() const { return log_weights_; }

 private:
  const Ladder& ladder() const { return options_.annealing.ladder; }
  int chains() const { return options_.annealing.chains; }
  int first_of(int island) const { return island * chains() / islands_; }

  void weigh_next(Population& population, int first, int rung) {
    population.log_increment(
        ladder().single(rung), ladder().single(rung + 1),
        {increments_.data() + first, static_cast<std::size_t>(population.chains())});
  }

  // Reads Z of the rung off the weights, and resamples the islands that need it.
  void close_rung(int rung) {
    bool any = false;
    std::fill(offspring_.begin(), offspring_.end(), 1);
    for (int i = 0; i < islands_; ++i) {
      auto weights = log_weights_.segment(first_of(i), first_of(i + 1) - first_of(i));
      log_z_(rung, i) = base_[i] + log_mean(weights);
      any = resample(rung, i, weights) || any;
    }
    if (!any) return;
    const std::vector<int> parents = populations_.resample(offspring_);
    for (std::size_t c = 0; c < parents.size(); ++c) families_[c] = families_[parents[c]];
  }

  bool resample(int rung, int island, Eigen::Ref<Eigen::VectorXd> log_weights) {
    const Eigen::VectorXd shares = shares_of(log_weights);
    const auto n = static_cast<double>(shares.size());
    if (1 / shares.squaredNorm() >= options_.resample_below * n) return false;
    Stream stream(options_.annealing.key, Purpose::resample,
                  static_cast<std::uint64_t>(rung) * islands_ + island);
    systematic_offspring({shares.data(), shares.data() + shares.size()}, stream.uniform(),
                         {offspring_.data() + first_of(island), static_cast<std::size_t>(n)});
    base_[island] = log_z_(rung, island);
    log_weights.setZero();
    ++resamplings_;
    return true;
  }

  // A chain stands for its share of its island's Z.
  Eigen::VectorXd log_chain_weights() const {
    Eigen::VectorXd log_weights = log_weights_;
    for (int i = 0; i < islands_; ++i)
      log_weights.segment(first_of(i), first_of(i + 1) - first_of(i)).array() += base_[i];
    return log_weights;
  }

  // One state of each family, drawn by weight, with the weight of all: copies are no finds of their own.
  void tell_families(TopStates& top) {
    const Eigen::VectorXd log_weights = log_chain_weights();
    const Eigen::ArrayXd weights = (log_weights.array() - log_weights.maxCoeff()).exp();
    std::vector<double> sums(families_.size(), 0);
    std::vector<std::size_t> kept(families_.size());
    Stream choices(options_.annealing.key, Purpose::data);
    for (std::size_t c = 0; c < families_.size(); ++c) {
      const auto family = static_cast<std::size_t>(families_[c]);
      const double weight = weights[c];
      sums[family] += weight;
      if (choices.uniform() * sums[family] < weight) kept[family] = c;
    }
    top.visits.assign(families_.size(), 0);
    for (std::size_t family = 0; family < sums.size(); ++family)
      if (sums[family] > 0) top.visits[kept[family]] = sums[family];
    populations_.for_each([&](const Population& population, int first) {
      for (int c = 0; c < population.chains(); ++c) top.states.take_chain(first + c, population, c);
    });
  }

  Estimate summarise_islands() const {
    const Eigen::VectorXd last = log_z_.row(log_z_.rows() - 1);
    WeightSummary summary = summarise(last);
    const double effective_islands = summary.effective_samples;
    summary.effective_samples = summarise(log_chain_weights()).effective_samples;
    Estimate estimate = estimate_from_weights(summary, Bound::lower);
    // Chains of one island share ancestors: many of equal weight may be a single find.
    if (effective_islands < 1 + kLeastIslands * islands_)
      estimate.refuse(Status::few_effective_samples,
                      fmt::format("{:.1f} of {} islands hold the weight: run more chains or sweeps",
                                  effective_islands, islands_));
    estimate.log_z_rungs.resize(log_z_.rows());
    for (Eigen::Index k = 0; k < log_z_.rows(); ++k)
      estimate.log_z_rungs[k] = log_mean(log_z_.row(k).transpose());
    return estimate;
  }

  const SmcOptions& options_;
  int islands_;
  Populations populations_;
  Eigen::VectorXd log_weights_;
  Eigen::VectorXd increments_;
  Eigen::VectorXd base_;   // log Z of each island up to its last resampling
  Eigen::MatrixXd log_z_;  // [rungs x islands]
  std::vector<int> offspring_;
  std::vector<int> families_;  // the chain that each chain's ancestor in the base was
  int resamplings_ = 0;
  ProgressMeter meter_;
};

}  // namespace

void SmcOptions::check() const {
  annealing.check();
  if (!(resample_below >= 0 && resample_below <= 1))
    throw InvalidArgument(
        fmt::format("resample_below = {} (must be within [0, 1])", resample_below));
  if (islands != 0 && (islands < 2 || islands > annealing.chains))
    throw InvalidArgument(
        fmt::format("islands = {} (must be 0, or within 2..{})", islands, annealing.chains));
}

int default_islands(int chains) { return std::clamp(chains / 8, 2, 10); }

void systematic_offspring(std::span<const double> weights, double u, std::span<int> offspring) {
  if (offspring.size() != weights.size())
    throw InvalidArgument(fmt::format("offspring = {} of {} weights (must be one of each)",
                                      offspring.size(), weights.size()));
  const auto n = static_cast<double>(weights.size());
  double sum = 0, below = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum = i + 1 < weights.size() ? std::min(1.0, sum + weights[i]) : 1.0;
    const double upto = std::ceil(n * sum - u);
    offspring[i] = static_cast<int>(upto - below);
    below = upto;
  }
}

SmcResult annealed_smc(const Target& target, const SmcOptions& options) {
  options.check();
  require_marginal_moves(target);
  return SmcRun(target, options).finish();
}

namespace {

void equalise_weights(const Eigen::VectorXd& log_weights, StreamKey key, Populations& populations) {
  const Eigen::VectorXd weights = shares_of(log_weights);
  std::vector<int> offspring(static_cast<std::size_t>(weights.size()));
  Stream stream(key, Purpose::start);
  systematic_offspring({weights.data(), offspring.size()}, stream.uniform(), offspring);
  populations.resample(offspring);
}

}  // namespace

int smc_start_sweeps(const Ladder& ladder, int chains, int sweeps) {
  return chains < 2 ? 0 : std::min<int>(3 * (ladder.rungs() - 1), std::int64_t{3} * sweeps / 10);
}

SmcStart smc_start(const Target& target, const Ladder& ladder, int chains, int sweeps,
                   StreamKey key) {
  const SmcOptions options{
      .annealing = {.ladder = ladder, .chains = chains, .sweeps = sweeps, .key = key},
      .islands = 2};
  options.check();
  require_marginal_moves(target);
  SmcRun run(target, options);
  SmcResult smc = run.finish();
  equalise_weights(run.log_weights_since_resampling(), key, smc.populations);
  return {std::move(smc.estimate.log_z_rungs), std::move(smc.populations)};
}

}  // namespace boltzmark
