#include "boltzmark/sample/tempering/adaptive_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/core/quantiles.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/tempered_group.hpp"
#include "boltzmark/transition/chains.hpp"

namespace boltzmark {
namespace {

constexpr int kMostIslands = 8;
constexpr int kAdaptiveReportSweeps = 200;  // between two reports of progress
constexpr double kFlatness = 0.8;           // of a rung's share of visits
constexpr double kFirstStage = 0.5;         // of SAMS's sweeps that are not averaged
constexpr double kLargestStep = 1;  // of SAMS's first stage, in nats: c_k / r_k can reach 1 / r_k

// The first chain of every island; whole blocks where there are enough, since a block is swept
// whole.
std::vector<int> island_edges(int chains) {
  const int blocks = (chains + kChainBlock - 1) / kChainBlock;
  const int unit = blocks >= 4 ? kChainBlock : 1;
  const int units = (chains + unit - 1) / unit;
  const int islands = std::min(kMostIslands, units);
  std::vector<int> edges;
  for (int i = 0; i <= islands; ++i) edges.push_back(std::min(chains, i * units / islands * unit));
  return edges;
}

/// One island: chains that share a Zhat.
class Island {
 public:
  Island(const Target& target, const AdaptiveTemperingOptions& options, int number, int chains)
      : options_{.chains = chains,
                 .ladder = options.ladder,
                 .occupancies =
                     options.adaptation == Adaptation::sams ? Assignment::soft : Assignment::hard,
                 .key = derive_key(options.key, "island", fmt::format("{}", number))},
        population_(of_chains(chains, target.populate(0, chains, options_.key))),
        group_(*population_, 0, options_),
        log_prior_(options.log_prior),
        log_z_hat_(options.log_z_hat),
        visits_(Eigen::VectorXd::Zero(log_prior_.size())),
        trips_(chains, TripCounter(options.ladder.rungs() - 1)) {
    if (options.top_states != nullptr) top_states_.emplace(target, chains, options_.key);
    const bool weighs = log_z_hat_.size() == 0 && target.joint_rule().empty();
    const int smc = options.start == Start::smc && weighs
                        ? smc_start_sweeps(options.ladder, chains, options.sweeps)
                        : 0;
    if (smc > 0) {
      start_from_smc(target, smc);
      initial_sweeps_ = smc + std::max(1, options.sweeps / 25);
    } else {
      if (log_z_hat_.size() == 0) log_z_hat_ = Eigen::VectorXd::Zero(log_prior_.size());
      population_->draw_base();
    }
    group_.draw_uniform_rungs();
    group_.hold(initial_sweeps_ - smc);
    const int half = options.sweeps / 2;
    first_stage_ = std::floor(kFirstStage * (half - initial_sweeps_));
  }

  /// The sweeps that the start took.
  int initial_sweeps() const { return initial_sweeps_; }
  double top_log_z() const { return log_z_hat_[log_z_hat_.size() - 1]; }

  /// Makes sweep t = 1, 2, .. after the start, one that is averaged or not.
  void step(Adaptation adaptation, double t, bool averaged) {
    TemperedRecord record(log_prior_.size(), options_.chains, 1, 1);
    if (averaged && top_states_) record.top_states = &*top_states_;
    group_.run(log_prior_ - log_z_hat_, record, 0, 1);
    const Eigen::VectorXd counts = record.sums.weight.rowwise().sum();
    if (adaptation == Adaptation::sams)
      follow_expectation(counts / options_.chains, t);
    else
      follow_visits(counts, t);
    log_z_hat_.array() -= log_z_hat_[0];
  }
  /// Lets the trip counters see where the chains are.
  void count_trips() {
    for (std::size_t c = 0; c < trips_.size(); ++c) trips_[c].visit(group_.rungs()[c]);
  }
  /// Hands over states at b = 1 to those of the chains from first on.
  void tell(int first, TopStates& top) const {
    std::copy(top_states_->visits.begin(), top_states_->visits.end(), top.visits.begin() + first);
    const Populations& own = top_states_->states;
    for (int g = 0; g < own.groups(); ++g)
      for (int c = 0; c < own.group(g).chains(); ++c)
        top.states.take_chain(first + own.first_chain(g) + c, own.group(g), c);
  }
  void add_to(LadderTraffic& traffic) const {
    for (const TripCounter& counter : trips_) counter.add_to(traffic);
  }
  /// Whether every rung has been visited.
  bool all_visited() const { return all_visited_; }

 private:
  void start_from_smc(const Target& target, int sweeps) {
    SmcStart start = smc_start(target, options_.ladder, options_.chains, sweeps,
                               derive_key(options_.key, "start"));
    log_z_hat_ = std::move(start.log_z_hat);
    for (int c = 0; c < options_.chains; ++c) start.populations.copy_chain(c, *population_, c);
  }

  void follow_visits(const Eigen::VectorXd& counts, double t) {
    const auto rungs = static_cast<double>(counts.size());
    const Eigen::VectorXd visits = (counts.array() / log_prior_.array().exp()) / rungs;
    log_z_hat_ += gain_ * visits;
    visits_ += visits;
    if (visits_.minCoeff() >= kFlatness * visits_.mean()) {
      all_visited_ = true;
      gain_ *= 0.5;
      visits_.setZero();
    }
    if (all_visited_) gain_ = std::max(gain_, rungs / (t * options_.chains));
  }

  void follow_expectation(const Eigen::VectorXd& occupancy, double t) {
    const Eigen::ArrayXd excess = occupancy.array() / log_prior_.array().exp() - 1;
    if (t <= first_stage_) {
      const double gain = std::min(1.0, static_cast<double>(occupancy.size()) / t);
      log_z_hat_.array() += gain * excess.min(kLargestStep);
    } else {
      log_z_hat_.array() += excess / (t - first_stage_ + std::exp(-log_prior_.minCoeff()));
    }
    visits_ += occupancy;
    all_visited_ = visits_.minCoeff() > kFlatness / 8 * visits_.mean();
  }

  SimulatedTemperingOptions options_;
  std::unique_ptr<Population> population_;
  TemperedGroup group_;
  Eigen::VectorXd log_prior_, log_z_hat_, visits_;
  std::vector<TripCounter> trips_;
  std::optional<TopStates> top_states_;
  int initial_sweeps_ = 0;
  double first_stage_ = 0;  // sweeps
  double gain_ = 1;
  bool all_visited_ = false;
};

AdaptiveTemperingOptions checked(AdaptiveTemperingOptions options) {
  const Eigen::Index rungs = options.ladder.rungs();
  if (options.sweeps < 2 || options.chains < 2)
    throw InvalidArgument(fmt::format("chains, sweeps = {}, {} (must be at least 2)",
                                      options.chains, options.sweeps));
  if (options.log_prior.size() == 0) options.log_prior = Eigen::VectorXd::Zero(rungs);
  if (options.log_prior.size() != rungs || !options.log_prior.allFinite() ||
      (options.log_z_hat.size() != 0 && options.log_z_hat.size() != rungs) ||
      !options.log_z_hat.allFinite())
    throw InvalidArgument(
        fmt::format("log_prior, log_z_hat = {}, {} values (must be {} finite ones)",
                    options.log_prior.size(), options.log_z_hat.size(), rungs));
  options.log_prior = normalised_log_prior(options.log_prior);
  return options;
}

// The averages over the second half of the sweeps; islands are independent.
Estimate estimate_of_tops(const Eigen::MatrixXd& top_log_z) {
  const Eigen::Index kept = top_log_z.rows() - top_log_z.rows() / 2;
  const Eigen::VectorXd means = top_log_z.bottomRows(kept).colwise().mean();
  const auto islands = static_cast<double>(means.size());
  Estimate estimate{.log_z = means.mean()};
  const double spread = (means.array() - estimate.log_z).square().sum() / (islands - 1);
  estimate.std_error = std::sqrt(spread / islands);
  const double half = students_t_quantile(islands - 1, 0.975) * estimate.std_error;
  estimate.lower = estimate.log_z - half;
  estimate.upper = estimate.log_z + half;
  return estimate;
}

// A chain forgets its past once a trip. Judging by the spread of the islands would keep the runs
// in which it happens to be small.
void judge(Estimate& estimate, const LadderTraffic& traffic, bool all_visited) {
  estimate.effective_samples = static_cast<double>(traffic.trips);
  if (estimate.effective_samples < kFewEffectiveSamples)
    estimate.refuse(Status::few_effective_samples,
                    fmt::format("{} round trips (fewer than {:.0f}): run more sweeps, or use rts",
                                traffic.trips, kFewEffectiveSamples));
  judge_exchanges(estimate, traffic);
  if (!all_visited)
    estimate.refuse(Status::not_converged,
                    "an island has not visited its rungs evenly yet: run more sweeps, or use rts");
}

}  // namespace

AdaptiveTemperingRun adaptive_tempering(const Target& target,
                                        const AdaptiveTemperingOptions& given) {
  const AdaptiveTemperingOptions options = checked(given);
  const std::vector<int> edges = island_edges(options.chains);
  require_chains(options.top_states, options.chains);
  std::vector<std::unique_ptr<Island>> islands(edges.size() - 1);
  parallel_for(islands.size(), [&](std::size_t i) {
    islands[i] =
        std::make_unique<Island>(target, options, static_cast<int>(i), edges[i + 1] - edges[i]);
  });
  AdaptiveTemperingRun run;
  run.top_log_z.resize(options.sweeps, static_cast<Eigen::Index>(islands.size()));
  for (int first = 0; first < options.sweeps; first += kAdaptiveReportSweeps) {
    const int last = std::min(first + kAdaptiveReportSweeps, options.sweeps);
    parallel_for(islands.size(), [&](std::size_t i) {
      for (int t = first; t < last; ++t) {
        const bool averaged = t >= options.sweeps / 2;
        if (t >= islands[i]->initial_sweeps())
          islands[i]->step(options.adaptation, t - islands[i]->initial_sweeps() + 1.0, averaged);
        run.top_log_z(t, static_cast<Eigen::Index>(i)) = islands[i]->top_log_z();
        if (averaged) islands[i]->count_trips();
      }
    });
    if (options.progress) options.progress(static_cast<double>(last) / options.sweeps);
  }
  LadderTraffic traffic;
  bool all_visited = true;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    const Island& island = *islands[i];
    island.add_to(traffic);
    all_visited = all_visited && island.all_visited();
    if (options.top_states != nullptr) island.tell(edges[i], *options.top_states);
  }
  run.estimate = estimate_of_tops(run.top_log_z);
  judge(run.estimate, traffic, all_visited);
  return run;
}

}  // namespace boltzmark
