// The methods whose chains go once through the ladder.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "boltzmark/core/error.hpp"
#include "boltzmark/core/numeric.hpp"
#include "boltzmark/estimate/estimators/rts.hpp"
#include "boltzmark/estimate/held/both_ways.hpp"
#include "boltzmark/estimate/methods.hpp"
#include "boltzmark/sample/annealing/annealing.hpp"
#include "boltzmark/sample/estimate.hpp"
#include "boltzmark/sample/tempering/mixing.hpp"
#include "boltzmark/sample/tempering/simulated_tempering.hpp"

namespace boltzmark {
namespace {

// One rung a sweep, or the ladder asked for.
Ladder annealing_ladder(const MethodSettings& settings) {
  return settings.ladder.value_or(Ladder::linear(settings.sweeps + 1));
}

AnnealingOptions annealing_options(const MethodSettings& settings) {
  return {.ladder = annealing_ladder(settings),
          .chains = settings.chains,
          .sweeps = settings.sweeps,
          .key = settings.key,
          .top_states = settings.top_states,
          .shared = settings.shared,
          .progress = settings.progress};
}

// The steps of chains that anneal for so many sweeps. Makes no ladder: a method's memory is known
// before there is any.
int annealing_steps(const MethodSettings& settings, int sweeps) {
  return settings.ladder ? settings.ladder->rungs() - 1 : sweeps;
}

MethodWork annealing_work(const MethodSettings& settings) {
  return {settings.chains, settings.sweeps, annealing_steps(settings, settings.sweeps) + 1,
          double{1} * settings.chains * settings.sweeps};
}

// No weight depends on AIS's sweeps of the highest rung.
MethodWork ais_work(const MethodSettings& settings) {
  MethodWork work = annealing_work(settings);
  const int steps = work.temperatures - 1;
  work.moves -= double{1} * settings.chains *
                static_cast<double>(sweeps_at_rung(steps, steps, settings.sweeps));
  return work;
}

double no_bytes(const MethodSettings&) { return 0; }

// Sets a group's visible units to cases first_chain, first_chain + 1, ..; they wrap around.
void set_cases(Population& population, int first_chain, const CaseValues& cases) {
  Eigen::MatrixXf states(cases.rows(), population.chains());
  for (int c = 0; c < population.chains(); ++c)
    states.col(c) = cases.col((first_chain + c) % cases.cols());
  population.observe(states);
}

// How many chains begin in each case: first in all once, then in all again.  Shapes  [cases]
Eigen::VectorXd chains_of_cases(const MethodSettings& settings) {
  Eigen::VectorXd chains =
      Eigen::VectorXd::Zero(std::min<Eigen::Index>(settings.cases.cols(), settings.chains));
  for (int chain = 0; chain < settings.chains; ++chain) ++chains[chain % chains.size()];
  return chains;
}

// Chains from one case are not independent: each case has one weight, the mean of its chains'.
WeightSummary summarise_cases(const Eigen::VectorXd& log_weights, const Eigen::VectorXd& chains) {
  const Eigen::Index cases = chains.size();
  if (cases == log_weights.size()) return summarise(log_weights);
  Eigen::VectorXd of_cases(cases);
  for (Eigen::Index k = 0; k < cases; ++k)
    of_cases[k] =
        log_sum_exp(log_weights(Eigen::seqN(k, static_cast<Eigen::Index>(chains[k]), cases))) -
        std::log(chains[k]);
  return summarise(of_cases, chains);
}

// The cases are where the run is at b = 1: after a sweep, for they have no hidden states.
void tell_cases(const Target& target, const MethodSettings& settings, TopStates& top) {
  top.states = Populations(target, settings.chains, derive_key(settings.key, "cases"));
  top.states.for_each([&](Population& population, int first_chain) {
    set_cases(population, first_chain, settings.cases);
    population.move(std::vector<float>(static_cast<std::size_t>(population.chains()), 1.0F));
  });
  const Eigen::VectorXd chains = chains_of_cases(settings);
  top.visits.assign(static_cast<std::size_t>(settings.chains), 0);
  std::copy(chains.begin(), chains.end(), top.visits.begin());
}

Estimate raise_from_cases(const Target& target, const MethodSettings& settings) {
  if (settings.cases.cols() < 2)
    throw InvalidArgument("cases = 1 (must be at least 2: one tells no error)");
  const auto start = [&](Population& population, int first_chain) {
    set_cases(population, first_chain, settings.cases);
  };
  if (settings.top_states != nullptr) tell_cases(target, settings, *settings.top_states);
  const AnnealingResult result = reverse_annealing(target, annealing_options(settings), start);
  Estimate estimate = estimate_from_weights(
      summarise_cases(result.log_weights, chains_of_cases(settings)), Bound::upper);
  estimate.warnings.emplace_back("no bound, unless the cases are exact samples of the model");
  return estimate;
}

// Without cases, half of the sweeps find states at b = 1; the others anneal them.
int case_sweeps(const MethodSettings& settings) {
  return settings.cases.size() > 0 ? 0 : settings.sweeps / 2;
}

MethodSettings after_cases(MethodSettings settings) {
  settings.sweeps -= case_sweeps(settings);
  settings.key = derive_key(settings.key, "raise");
  return settings;
}

// The weights of the chains that were at b = 1, by their visits there.
Estimate weigh_by_visits(const Eigen::VectorXd& log_weights, const std::vector<double>& visits) {
  std::vector<double> logs, counts;
  for (std::size_t c = 0; c < visits.size(); ++c) {
    if (visits[c] == 0) continue;
    logs.push_back(log_weights[c]);
    counts.push_back(visits[c]);
  }
  const auto n = static_cast<Eigen::Index>(logs.size());
  if (n < 2) {
    Estimate none;
    none.refuse(Status::not_converged,
                fmt::format("{} of {} chains were at b = 1 (fewer than 2): run more sweeps", n,
                            visits.size()));
    return none;
  }
  return estimate_from_weights(
      summarise(Eigen::VectorXd::Map(logs.data(), n), Eigen::VectorXd::Map(counts.data(), n)),
      Bound::upper);
}

// Reverse paths that would lower the estimate are rare, and none of the weights tells that they are
// missing: the run that the cases are from has an estimate of its own.
void hold_to_run(const TemperedRun& run, Estimate& estimate) {
  constexpr double kErrors = 3;
  const Estimate by_rts = rts(run.sums, run.store.log_prior, run.store.log_z_hat);
  const double off = std::abs(estimate.log_z - by_rts.log_z);
  if (off > kErrors * std::hypot(estimate.std_error, by_rts.std_error))
    estimate.refuse(Status::not_converged,
                    fmt::format("RTS by the run that the cases are from says {:.4f} +- {:.4f}: run "
                                "more sweeps",
                                by_rts.log_z, by_rts.std_error));
}

// From states that a tempered run visits at b = 1, one a chain. With R_c the weight of the case of chain c
// and n_c its kept sweeps at b = 1,
//   log Z = -log (sum_c n_c e^{-R_c} / sum_c n_c)
// whose error is the jackknife's over chains: a chain that was seldom or never at b = 1 adds little or
// nothing to the effective samples. No bound: the cases are samples of the model only as far as the run
// has mixed.
Estimate raise_from_samples(const Target& target, const MethodSettings& settings) {
  if (settings.sweeps < 2)
    throw InvalidArgument("sweeps = 1 (must be at least 2: half of them find the cases)");
  const auto part = [&](double from, double share) {
    return [&progress = settings.progress, from, share](double done) {
      if (progress) progress(from + share * done);
    };
  };
  const double share = case_sweeps(settings) / static_cast<double>(settings.sweeps);
  AnnealingOptions annealing = annealing_options(after_cases(settings));
  annealing.progress = part(share, 1 - share);
  require_marginal_moves(target);
  std::optional<TopStates> own;
  TopStates& top = settings.top_states != nullptr
                       ? *settings.top_states
                       : own.emplace(target, settings.chains, settings.key);
  const TemperedRun run = simulated_tempering(target, {.chains = settings.chains,
                                                       .sweeps = case_sweeps(settings),
                                                       .ladder = tempering_ladder(settings),
                                                       .log_prior = settings.log_prior,
                                                       .states = settings.states,
                                                       .top_states = &top,
                                                       .key = settings.key,
                                                       .progress = part(0, share)});
  const AnnealingResult result =
      reverse_annealing(target, annealing, [&](Population& population, int first_chain) {
        for (int c = 0; c < population.chains(); ++c)
          top.states.copy_chain(first_chain + c, population, c);
      });
  Estimate estimate = weigh_by_visits(result.log_weights, top.visits);
  judge_mixing(estimate, run.store);
  hold_to_run(run, estimate);
  estimate.warnings.emplace_back("cases are from a tempered run, no exact samples: no bound");
  return estimate;
}

BothWays anneal_down(const Method&, const Estimate& told, const LayeredTarget& target,
                     const Modes& modes, const MethodSettings& settings) {
  return {told, anneal_from_modes(target, modes, annealing_options(settings)).estimate};
}

Estimate run_raise(const Target& target, const MethodSettings& settings) {
  return settings.cases.size() > 0 ? raise_from_cases(target, settings)
                                   : raise_from_samples(target, settings);
}

MethodWork raise_work(const MethodSettings& settings) {
  MethodWork work = annealing_work(settings);
  work.temperatures = annealing_steps(settings, settings.sweeps - case_sweeps(settings)) + 1;
  return work;
}

// The tempered run's samples, of half of the sweeps.
double raise_bytes(const MethodSettings& settings) {
  return settings.cases.size() > 0 ? 0 : settings.chains * kSampleBytes / 2;
}

double raise_rung_bytes(const MethodSettings& settings) {
  return settings.cases.size() > 0 ? 0 : kRungBytes * tempering_ladder(settings).rungs();
}

}  // namespace

Method ais_method() {
  return {.name = "ais",
          .summary = "annealed importance sampling: a lower bound in the mean",
          .source = Source::annealed,
          .run =
              [](const Target& target, const MethodSettings& settings) {
                return annealed_importance_sampling(target, annealing_options(settings)).estimate;
              },
          .work = ais_work,
          .sweep_bytes = no_bytes,
          .other_way = anneal_down,
          .shares_chains = true,
          .shares_states = true};
}

Method raise_method() {
  return {.name = "raise",
          .summary = "reverse annealing (RAISE): an upper bound in the mean from exact samples",
          .source = Source::annealed,
          .reads = {.log_prior = true, .states = true, .cases = true},
          .run = run_raise,
          .work = raise_work,
          .sweep_bytes = raise_bytes,
          .rung_bytes = raise_rung_bytes,
          .other_way =
              [](const Method&, const Estimate& told, const LayeredTarget& target, const Modes&,
                 const MethodSettings& settings) {
                return BothWays{
                    annealed_importance_sampling(target, annealing_options(settings)).estimate,
                    told};
              },
          .shares_chains = true};  // its states at b = 1 are of a run that each process makes
}

Method smc_method() {
  return {.name = "smc",
          .summary = "annealed sequential Monte Carlo with resampling",
          .source = Source::annealed,
          .run =
              [](const Target& target, const MethodSettings& settings) {
                return annealed_smc(target, {.annealing = annealing_options(settings)}).estimate;
              },
          .work = annealing_work,
          .sweep_bytes = no_bytes,
          .other_way = anneal_down};
}

}  // namespace boltzmark
