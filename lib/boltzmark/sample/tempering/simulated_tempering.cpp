#include "boltzmark/sample/tempering/simulated_tempering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/core/parallel.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/tempering/tempered_group.hpp"

namespace boltzmark {
namespace {

// Pieces of a run between two reports of its progress.
constexpr Eigen::Index kReportSweeps = 200;
// The initial rounds stop when no rung's occupancy is off by more than this factor, in nats.
constexpr double kBalanced = 1;
// An occupancy below this is raised to it: one round can then move log Zhat by 700 nats at most.
constexpr double kLeastLogOccupancy = -700;
// What Fig. 1 adds to counts, so that their logs exist.
constexpr double kCountFloor = 0.1;

Eigen::VectorXd normalised_prior(const SimulatedTemperingOptions& options) {
  const Eigen::Index rungs = options.ladder.rungs();
  if (options.log_prior.size() == 0)
    return Eigen::VectorXd::Constant(rungs, -std::log(static_cast<double>(rungs)));
  require_rungs("log_prior", options.log_prior, rungs);
  return normalised_log_prior(options.log_prior);
}

void check(const Target& target, const SimulatedTemperingOptions& options) {
  if (options.states == States::collapsed) require_marginal_moves(target);
  require_chains(options.top_states, options.chains);
  if (options.sweeps < 1)
    throw InvalidArgument(fmt::format("sweeps = {} (must be at least 1)", options.sweeps));
  if (options.max_rounds < 0 || options.round_sweeps < 0)
    throw InvalidArgument(fmt::format("max_rounds, round_sweeps = {}, {} (must not be negative)",
                                      options.max_rounds, options.round_sweeps));
  if (options.log_z_hat.size() != 0)
    require_rungs("log_z_hat", options.log_z_hat, options.ladder.rungs());
  if (options.top_start && options.log_z_hat.size() == 0)
    throw InvalidArgument("top_start (must go with log_z_hat)");
  if (options.keep_log_f && options.states == States::joint)
    throw InvalidArgument("keep_log_f = true (must go with collapsed states)");
}

/// One run: its populations, its groups, and the sweeps that it has made.
class Run {
 public:
  Run(const Target& target, const SimulatedTemperingOptions& options)
      : options_(options),
        log_prior_(normalised_prior(options)),
        log_z_hat_(Eigen::VectorXd::Zero(options.ladder.rungs())) {
    const bool guesses =
        options.start == Start::smc && options.log_z_hat.size() == 0 && target.joint_rule().empty();
    const int sweeps =
        guesses ? smc_start_sweeps(options.ladder, options.chains, options.sweeps) : 0;
    if (options.top_start)
      start_from_top(target);
    else if (sweeps > 0)
      start_from_smc(target, sweeps);
    else
      start_from_base(target);
  }

  std::optional<Populations>& populations() { return populations_; }

  TemperedRun finish() {
    TemperedRun run{.store = SampleStore{options_.ladder}};
    if (!options_.top_start) iterate(run);
    run.initial_sweeps = static_cast<int>(done_);
    sample(run);
    return run;
  }

 private:
  void take_given_log_z_hat() { log_z_hat_ = options_.log_z_hat.array() - options_.log_z_hat[0]; }
  void make_groups() {
    for (int g = 0; g < populations_->groups(); ++g)
      groups_.emplace_back(populations_->group(g), populations_->first_chain(g), options_);
  }
  Eigen::Index round_sweeps() const {
    return options_.round_sweeps > 0 ? options_.round_sweeps : std::max(1, options_.sweeps / 25);
  }
  void start_from_base(const Target& target);
  void start_from_smc(const Target& target, int sweeps);
  void start_from_top(const Target& target);
  void heat(Eigen::Index sweeps);
  void hold(Eigen::Index sweeps);
  void iterate(TemperedRun& run);
  void restart();
  void sample(TemperedRun& run);
  void sweep(TemperedRecord& record);
  InitialRound round(Eigen::Index sweeps);
  void for_each_group(const std::function<void(TemperedGroup&)>& body) {
    parallel_for(groups_.size(), [&](std::size_t g) { body(groups_[g]); });
  }
  void report(Eigen::Index sweeps) {
    done_ += sweeps;
    if (options_.progress) options_.progress(static_cast<double>(done_) / options_.sweeps);
  }

  const SimulatedTemperingOptions& options_;
  Eigen::VectorXd log_prior_, log_z_hat_;
  std::optional<Populations> populations_;
  std::vector<TemperedGroup> groups_;
  Eigen::Index done_ = 0;
};

void Run::start_from_base(const Target& target) {
  populations_.emplace(target, options_.chains, options_.key);
  if (options_.log_z_hat.size() != 0) take_given_log_z_hat();
  populations_->for_each([](Population& population, int) { population.draw_base(); });
  make_groups();
  for_each_group([](TemperedGroup& group) { group.draw_uniform_rungs(); });
}

void Run::start_from_smc(const Target& target, int sweeps) {
  SmcStart start = smc_start(target, options_.ladder, options_.chains, sweeps, options_.key);
  populations_ = std::move(start.populations);
  log_z_hat_ = std::move(start.log_z_hat);
  make_groups();
  report(sweeps);
  heat(std::min(round_sweeps(), options_.sweeps / 2 - done_));
}

// Spreads the chains over the rungs and lets each forget b = 1 at its own: a chain may not leave
// its rung yet, or the rounds would begin with all chains near the top.
void Run::heat(Eigen::Index sweeps) {
  for_each_group([](TemperedGroup& group) { group.draw_uniform_rungs(); });
  hold(sweeps);
}

void Run::hold(Eigen::Index sweeps) {
  for_each_group([&](TemperedGroup& group) { group.hold(sweeps); });
  report(sweeps);
}

// The weights stay those given: chains that know of mass that these leave out do not come down, and would by
// others.
void Run::start_from_top(const Target& target) {
  populations_.emplace(target, options_.chains, options_.key);
  take_given_log_z_hat();
  populations_->for_each(options_.top_start);
  make_groups();
  for_each_group([&](TemperedGroup& group) {
    group.set_rungs(std::vector<int>(group.rungs().size(), options_.ladder.rungs() - 1));
  });
  const Eigen::Index half = options_.sweeps / 2;
  hold(std::min(round_sweeps(), half));
  TemperedRecord unkept(options_.ladder.rungs(), options_.chains, half - done_, 1);
  sweep(unkept);
}

void Run::restart() {
  if (!options_.restart.keep_states)
    populations_->for_each([](Population& population, int) { population.draw_base(); });
  if (options_.restart.uniform_rungs)
    for_each_group([](TemperedGroup& group) { group.draw_uniform_rungs(); });
}

// Makes the record's sweeps in pieces, so that progress is seen and a run can be stopped.
void Run::sweep(TemperedRecord& record) {
  const Eigen::VectorXd log_weight = log_prior_ - log_z_hat_;
  for (Eigen::Index first = 0; first < record.sweeps; first += kReportSweeps) {
    const Eigen::Index last = std::min(first + kReportSweeps, record.sweeps);
    for_each_group([&](TemperedGroup& group) { group.run(log_weight, record, first, last); });
    report(last - first);
  }
}

InitialRound Run::round(Eigen::Index sweeps) {
  TemperedRecord record(options_.ladder.rungs(), options_.chains, sweeps,
                        batches_per_chain(options_.chains, sweeps));
  sweep(record);
  InitialRound found{
      .log_z_hat = log_z_hat_, .sums = record.finish(), .trips = record.traffic().trips};
  found.occupancy = found.sums.weight.rowwise().sum();
  if (options_.occupancies == Assignment::hard) found.occupancy.array() += kCountFloor;
  found.occupancy /= found.occupancy.sum();
  const Eigen::ArrayXd excess =
      found.occupancy.array().log().max(kLeastLogOccupancy) - log_prior_.array();
  found.imbalance = excess.abs().maxCoeff();
  log_z_hat_.array() += excess - excess[0];
  return found;
}

void Run::iterate(TemperedRun& run) {
  const Eigen::Index most = options_.initial_only ? options_.sweeps : options_.sweeps / 2;
  const Eigen::Index budget = most - done_;
  const Eigen::Index wanted = round_sweeps();
  const Eigen::Index rounds =
      std::min<Eigen::Index>(options_.max_rounds, std::max<Eigen::Index>(budget, 0) / wanted);
  for (Eigen::Index r = 0; r < rounds; ++r) {
    if (r > 0) restart();
    run.rounds.push_back(round(wanted));
    run.settled = run.rounds.back().imbalance < kBalanced;
    if (run.settled && options_.stop_early) break;
  }
}

void Run::sample(TemperedRun& run) {
  const Eigen::Index sweeps = options_.initial_only ? 0 : options_.sweeps - done_;
  const Eigen::Index rungs = options_.ladder.rungs();
  SampleStore& store = run.store;
  store.log_prior = log_prior_;
  store.log_z_hat = log_z_hat_;
  store.log_ratio.resize(sweeps, options_.chains);
  store.rung.resize(sweeps, options_.chains);
  if (options_.keep_log_f)
    store.log_f.resize(static_cast<std::size_t>(sweeps * options_.chains * rungs));
  TemperedRecord record(rungs, options_.chains, sweeps, batches_per_chain(options_.chains, sweeps));
  record.store = &store;
  record.top_states = options_.top_states;
  if (options_.states == States::joint) record.sums.first = record.sums.second = record.sums.weight;
  sweep(record);
  run.sums = record.finish();
  run.trips = record.traffic().trips;
}

}  // namespace

TemperedRun simulated_tempering(const Target& target, const SimulatedTemperingOptions& options,
                                std::optional<Populations>* left) {
  check(target, options);
  Run run(target, options);
  TemperedRun result = run.finish();
  if (left != nullptr) *left = std::move(run.populations());
  return result;
}

Ladder adaptive_ladder(const Target& target, const AdaptiveLadderOptions& options) {
  Ladder linear = Ladder::linear(options.rungs);
  if (options.rungs == 2) return linear;
  const TemperedRun pilot = simulated_tempering(target, {.chains = options.chains,
                                                         .sweeps = options.sweeps,
                                                         .ladder = linear,
                                                         .key = options.key,
                                                         .progress = options.progress});
  const Eigen::ArrayXd weight = pilot.sums.weight.rowwise().sum().array().max(1e-300);
  const Eigen::ArrayXd mean = pilot.sums.first.rowwise().sum().array() / weight;
  const Eigen::ArrayXd square = pilot.sums.second.rowwise().sum().array() / weight;
  const Eigen::VectorXd deviation = (square - mean.square()).max(0.0).sqrt();
  // A model equal to its base has D constant: any ladder is as good.
  return deviation.maxCoeff() > 0 ? equalise(linear, deviation, options.rungs) : linear;
}

}  // namespace boltzmark
